/** A long text that was recalled is shown from where it bears on the query. */

import { expect, test } from "vitest";
import { fromPassage } from "../src/lib/passages";

const LONG = "The weather was fine and we walked along the river until noon. ".repeat(6);

test("it begins with the sentence that has the words of the query", () => {
  expect(fromPassage(`${LONG}The spare key lies under the blue pot. Bring bread.`, "Where is the spare key?")).toBe("… The spare key lies under the blue pot. Bring bread.");
  expect(fromPassage(`${"今天天气很好，我们沿着河走到中午。".repeat(20)}备用钥匙在蓝色花盆下面。`, "备用钥匙在哪里？")).toBe("… 备用钥匙在蓝色花盆下面。");
});

test("rare words count more than those that stand everywhere", () => {
  expect(fromPassage(`${LONG}Rui lost his umbrella.`, "was the umbrella fine along the river?")).toBe("… Rui lost his umbrella.");
});

test("what is near its beginning, or nowhere, is shown from the beginning", () => {
  const found = `The spare key lies under the blue pot. ${LONG}`;
  expect(fromPassage(found, "spare key")).toBe(found);
  expect(fromPassage(LONG, "zzz")).toBe(LONG);
  expect(fromPassage("", "key")).toBe("");
});
