import { describe, expect, it } from "vitest";
import { nameDigest, referencesIn, sourcesOf } from "../src/lib/answer_sources";

const HOME = { type: "Fact", key: "home", sentence: "Mira lives in Porto", text: "" };
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
      { entry: { kind: "memory", ...HOME }, isQuoted: true },
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
