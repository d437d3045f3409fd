import { describe, expect, it } from "vitest";
import { turnShelf } from "../src/lib/turns";

const use = (text: string) => ({ prompt: { system: text, turns: [], tokens: 1 } });

describe("the prompt of an answer", () => {
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
