import { describe, expect, it } from "vitest";
import type { Revision } from "../src/api/shapes";
import { isWrittenSince, nameDigest, referencesIn, saidThen, sourcesOf, wordsUsed } from "../src/lib/answer_sources";

const HOME = { type: "Fact", key: "home", value: { object: "Porto" }, sentence: "Mira lives in Porto", version: 2, updated_at: "2026-01-05T10:00:00Z" };
const reference = { type: "Fact", key: nameDigest("home"), quoted: true };

describe("what an answer refers to", () => {
  it("is named by the digest that the service makes", () => {
    expect(nameDigest("Fact/home")).toBe("a44987c40a274fa7");
    expect(nameDigest("早上")).toBe("f6418dcb9af45425");
  });

  it("is found among what is there, and nothing else is", () => {
    const known = { memories: [HOME], threads: ["kitchen"] };
    const references = [reference, { type: "Note", key: nameDigest("home") }, { type: "Fact", key: nameDigest("work") }, { thread: nameDigest("kitchen"), position: 3 }, { thread: nameDigest("gone"), position: 1 }];
    expect(sourcesOf(references, known)).toEqual([
      { entry: { kind: "memory", type: "Fact", key: "home" }, memory: HOME, isQuoted: true },
      { entry: { kind: "message", thread: "kitchen" }, isQuoted: false, position: 3 },
    ]);
    expect(sourcesOf(references, { memories: [], threads: [] })).toEqual([]);
  });

  it("is read from metadata of any form", () => {
    expect(referencesIn({ used: [reference, null, "x", []] })).toEqual([reference]);
    expect(referencesIn({ used: "x" })).toEqual([]);
    expect(referencesIn(undefined)).toEqual([]);
  });
});

describe("the words that an answer used", () => {
  const version = (number: number, sentence: string, believed_from: string, believed_until: string | null) => ({ version: number, value: {}, sentence, believed_from, believed_until }) as unknown as Revision;
  const revisions = [version(1, "Mira lives in Coimbra", "2026-01-01T10:00:00Z", HOME.updated_at), version(2, HOME.sentence, HOME.updated_at, null)];
  const named = (name: string) => name;

  it("are those of the version of that time, where it was changed since", () => {
    const given = "2026-01-05T09:59:59Z";
    expect([isWrittenSince(HOME, given), isWrittenSince(HOME, HOME.updated_at), isWrittenSince(HOME, null)]).toEqual([true, false, false]);
    expect(saidThen(HOME, revisions, given)).toEqual({ then: revisions[0], now: HOME });
    expect(saidThen(HOME, revisions, HOME.updated_at)).toEqual({ then: HOME });
  });

  it("are those of today, where that version is gone", () => {
    expect(saidThen(HOME, [], "2026-01-05T09:59:59Z")).toEqual({ then: HOME });
  });

  it("are of a document the fields that stand in the answer, by name", () => {
    const profile = { value: { allergy: "shrimp only", home: "Faro", user_name: "Mira" }, sentence: "allergy: shrimp only; home: Faro" };
    expect(wordsUsed(profile, "Until now, Mira, I remembered faro.", named)).toBe("home Faro");
    expect(wordsUsed(profile, "Nothing of it.", named)).toBe("allergy shrimp only, home Faro, user name Mira");
    expect(wordsUsed(HOME, "", named)).toBe("Mira lives in Porto");
    const liking = { value: { home: "上海", interests: ["爬山", "游泳"] }, sentence: "home: 上海; interests: 爬山, 游泳" };
    for (const answer of ["兴趣：爬山、游泳", "interests: 爬山, 游泳"]) expect(wordsUsed(liking, answer, named)).toBe("interests 爬山、游泳");
  });
});
