import { expect, it } from "vitest";
import type { Message } from "../src/api/shapes";
import { keptTalks } from "../src/lib/kept_talks";

const said = (position: number) => ({ id: `m${position}`, position }) as Message;

it("knows a whole thread only as long as nothing was said or erased in it since", () => {
  keptTalks.keep("kitchen", [said(1), said(2)]);
  expect(keptTalks.wholeOf("kitchen", { count: 2, last: 2 })?.map((each) => each.id)).toEqual(["m1", "m2"]);
  expect(keptTalks.wholeOf("kitchen", { count: 3, last: 3 })).toBeUndefined();
  // The first was erased.
  expect(keptTalks.wholeOf("kitchen", { count: 1, last: 2 })).toBeUndefined();
  // The first was erased, and another was said.
  expect(keptTalks.wholeOf("kitchen", { count: 2, last: 3 })).toBeUndefined();
  expect(keptTalks.wholeOf("garden", { count: 0, last: 0 })).toBeUndefined();
});
