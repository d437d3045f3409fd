import { describe, expect, it } from "vitest";
import { edgesOf, placeAt } from "../src/lib/row_places";

describe("the rows of a long list", () => {
  it("stand one below the other, each as high as it is", () => {
    expect([...edgesOf(4, 20, new Map([[1, 30], [0, 10]]))]).toEqual([0, 10, 40, 60, 80]);
    expect([...edgesOf(2, 66, new Map([[2, 30], [7, 10]]))]).toEqual([0, 66, 132]);
    expect([...edgesOf(0, 66, new Map())]).toEqual([0]);
  });

  it("are found by the distance from the upper edge, which belongs to the lower one of two", () => {
    const edges = edgesOf(4, 66, new Map([[0, 10], [1, 30], [2, 20]]));
    expect([0, 9.5, 10, 39, 40, 59, 60, 125].map((px) => placeAt(edges, px))).toEqual([0, 0, 1, 1, 2, 2, 3, 3]);
  });

  it("end where the list ends", () => {
    const edges = edgesOf(100_000, 66, new Map());
    expect([-50, 66 * 99_999, 1e9].map((px) => placeAt(edges, px))).toEqual([0, 99_999, 99_999]);
    expect(placeAt(edgesOf(0, 66, new Map()), 12)).toBe(0);
  });
});
