import { expect, it } from "vitest";
import { placesOf } from "../src/lib/places_below";

it("counts what waits by scope, that with the most first, and leaves out the scope that is looked at", () => {
  const ada = ["users", "ada"];
  const own = [["users"], ["users"]];
  expect(placesOf([["users", "bo"], ada, ...own, ada], ["users"])).toEqual({ places: [{ scope: ada, count: 2 }, { scope: ["users", "bo"], count: 1 }], total: 3, hasMore: false });
  expect(placesOf(own, ["users"], true)).toEqual({ places: [], total: 0, hasMore: true });
});

it("tells scopes apart whose segments read alike when joined", () => {
  expect(placesOf([["a / b"], ["a", "b"]], []).places).toHaveLength(2);
});
