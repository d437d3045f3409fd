import { describe, expect, it } from "vitest";
import { refusalsOf } from "../src/lib/refusals";

describe("what an import refused", () => {
  it("is each reason once, in the order of the file, with all its places", () => {
    const rows = [{ place: "line 2", reason: "no JSON" }, { place: "line 3", reason: "no text" }, { place: "line 4", reason: "no JSON" }];
    expect(refusalsOf(rows)).toEqual([{ reason: "no JSON", places: ["line 2", "line 4"] }, { reason: "no text", places: ["line 3"] }]);
    expect(refusalsOf([])).toEqual([]);
  });
});
