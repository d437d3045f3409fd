import { describe, expect, it, test } from "vitest";
import type { Formation } from "../src/api/shapes";
import { changeAsked } from "../src/lib/proposal_question";
import { doubtOf, isProposal, proposedFor, refusedField, saidFor, saidOf, tellDecided, waitsAs, watchDecided } from "../src/lib/waiting";

const waiting = (key: string, valid_until: string | null = null) => ({ key, valid_until, state: "quarantined" as const, sentence: "Mira lives in Porto" });
const t = (_: string, { what }: { what: string }) => `End ${what}?`;
const DAY = "2026-05-03T10:00:00Z";

describe("what waits", () => {
  it("is about the memory whose key and version its own key has", () => {
    expect(proposedFor("User~3~5f1c")).toEqual({ key: "User", version: 3 });
    expect(proposedFor("a~b~2~5f1c")).toEqual({ key: "a~b", version: 2 });
    for (const key of ["User", "User~3~", "User~x~5f1c", "User~0~5f1c"]) expect(proposedFor(key)).toBeUndefined();
  });

  it("is new, or changes what stands, or ends it on a day", () => {
    expect(waitsAs(waiting("5f1c"))).toBe("new");
    expect(waitsAs(waiting("5f1c", DAY))).toBe("new");
    expect(waitsAs(waiting("User~3~5f1c"))).toBe("change");
    expect(waitsAs(waiting("home~1~5f1c", DAY))).toBe("end");
    expect(waitsAs({ ...waiting("home~1~5f1c", DAY), state: "active" })).toBe("new");
  });

  it("is asked about in a list where it is an end, which says what stands", () => {
    expect(saidOf(waiting("home~1~5f1c", DAY), t)).toBe("End Mira lives in Porto?");
    expect(saidOf(waiting("home"), t)).toBe("Mira lives in Porto");
  });

  it("has the messages for which it was asked in the receipt of its formation", () => {
    const said = [{ thread: "talk", message: "2" }];
    const outcomes = [{ action: "ended", type: "Fact", key: "home~1~5f1c", because: [] }, { action: "quarantined", type: "Fact", key: "home~1~5f1c", because: said }];
    const formations = [{ receipt: {} }, { receipt: { outcomes } }] as unknown as Formation[];
    expect(saidFor(formations, { type: "Fact", key: "home~1~5f1c" })).toEqual(said);
    expect(saidFor(formations, { type: "Note", key: "home~1~5f1c" })).toEqual([]);
  });
});

describe("why it waits", () => {
  const version = (version: number, cause: string, state: "active" | "rejected" | "quarantined" = "quarantined") => ({ version, cause, state });
  const formed = version(1, "more trusted words say otherwise");

  it("is still its first reason after a decision that was undone, and undone again", () => {
    const decided = [version(5, "undone"), version(4, "rejected", "rejected"), version(3, "undone"), version(2, "approved", "active"), formed];
    expect(doubtOf(decided, 5)).toBe(formed.cause);
    expect(doubtOf(decided, 3)).toBe(formed.cause);
  });

  it("is the newest one, where it was formed again with another doubt", () => {
    const again = [version(2, "the name Bea was not said"), formed];
    expect(doubtOf(again, 2)).toBe("the name Bea was not said");
    expect(doubtOf(again, 1)).toBe(formed.cause);
    expect(doubtOf([], 1)).toBeUndefined();
  });
});

describe("who counts what waits", () => {
  it("is told of each decision, until they leave", () => {
    const told: number[] = [];
    const leave = watchDecided((fewer) => told.push(fewer));
    tellDecided(1);
    leave();
    tellDecided(1);
    expect(told).toEqual([1]);
  });
});

describe("a change of a document", () => {
  const say = (word: string, values: Record<string, string>) => `${word.slice("review.".length)}(${Object.values(values).join("|")})`;
  const user = (value: Record<string, string>) => ({ type: "User", value, sentence: Object.entries(value).map((each) => each.join(": ")).join("; ") });
  const named = (name: string) => name.toUpperCase();

  it("is asked as the one field that it changes, and not as the whole document", () => {
    expect(changeAsked(user({ name: "Mira", home: "Oslo" }), user({ name: "Mira", home: "Stavanger" }), say, named)).toBe("change_field(HOME|Oslo|Stavanger)");
  });

  it("names each of several fields, and what is new or goes", () => {
    expect(changeAsked(user({ home: "Oslo", pet: "a cat" }), user({ home: "Bergen", job: "cook" }), say, named)).toBe("change_of(USER – HOME Oslo → Bergen; PET – a cat; JOB + cook)");
  });

  it("is asked as two sentences of what is a sentence", () => {
    const fact = (sentence: string) => ({ type: "Fact", value: { subject: sentence }, sentence });
    expect(changeAsked(fact("A."), fact("B."), say, named)).toBe("change(A.|B.)");
  });
});

test("what waits or was rejected as a change of another memory is told as that", () => {
  const proposal = { key: "User~3~5f1c", state: "rejected", valid_until: null } as const;
  expect(isProposal(proposal)).toBe(true);
  expect(isProposal({ ...proposal, state: "active" })).toBe(false);
  expect(isProposal({ ...proposal, valid_until: "2026-01-01T00:00:00Z" })).toBe(false);
  expect(isProposal({ ...proposal, key: "User" })).toBe(false);
});

test("a rejected field is told by its name and its value", () => {
  expect(refusedField({ state: "rejected", value: { pointer: "/interests/0", value: "fishing" } })).toEqual({ name: "interests", value: "fishing" });
  expect(refusedField({ state: "active", value: { pointer: "/interests/0", value: "fishing" } })).toBeUndefined();
  expect(refusedField({ state: "rejected", value: { note: "x" } })).toBeUndefined();
});
