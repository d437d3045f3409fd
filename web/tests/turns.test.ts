import { describe, expect, it } from "vitest";
import { turnShelf, usedFirst } from "../src/lib/turns";

const use = (text: string) => ({ recalled: [{ text }], prompt: null });

describe("what an answer was given", () => {
  it("is known by its place and message, until it is forgotten", () => {
    const shelf = turnShelf();
    shelf.note("a", "1", use("x"));
    expect(shelf.of("a", "1")).toEqual(use("x"));
    expect(shelf.of("b", "1")).toBeUndefined();
    shelf.forget();
    expect(shelf.of("a", "1")).toBeUndefined();
  });

  it("is kept of so many answers, the newest", () => {
    const shelf = turnShelf(2);
    for (const id of ["1", "2", "3"]) shelf.note("a", id, use(id));
    expect([shelf.of("a", "1"), shelf.of("a", "2"), shelf.of("a", "3")]).toEqual([undefined, use("2"), use("3")]);
  });
});

describe("what an answer used", () => {
  it("is first what the answer says, then what scored best", () => {
    const given = [{ sentence: "name: Mira", score: 0 }, { sentence: "Mira likes tea", score: 3 }, { sentence: "Mira lives in Porto.", text: "x", score: 1 }, { text: "ab", score: 0.5 }];
    const found = usedFirst(given, "I remember: mira lives in Porto! Grab it.");
    expect(found.map((each) => each.isQuoted)).toEqual([true, false, false, false]);
    expect(found.map((each) => each.entry.score)).toEqual([1, 3, 0.5, 0]);
  });
});
