import { describe, expect, it } from "vitest";
import type { Formation } from "../src/api/shapes";
import { proposedFor, saidFor, saidOf, tellDecided, waitsAs, watchDecided } from "../src/lib/waiting";

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
