import { describe, expect, it } from "vitest";
import { sameTitled } from "../src/lib/told_apart";

describe("rows of the same title", () => {
  it("are all of them, and no others", () => {
    const rows = [{ id: "a", title: "Where do I live?" }, { id: "b", title: "I moved" }, { id: "c", title: "Where do I live?" }];
    expect([...sameTitled(rows)]).toEqual(["a", "c"]);
    expect([...sameTitled([])]).toEqual([]);
  });
});
