/** What was written on this page is told as that. */

import { beforeEach, expect, test } from "vitest";
import { forgetAllWritten, forgetWrittenIn, isWrittenHere, noteWritten } from "../src/lib/written_here";

const memory = (sentence: string) => ({ type: "Fact", key: "home", sentence });
const said = (version: number, sentence: string) => ({ version, sentence });

beforeEach(forgetAllWritten);

test("a version that was written here is, and a later one that says the same", () => {
  noteWritten(["ada"], { type: "Fact", key: "home", version: 2 });
  const versions = [said(1, "Oslo"), said(2, "Bergen"), said(3, "Bergen")];
  expect(isWrittenHere(["ada"], memory("Bergen"), versions)).toBe(true);
  expect(isWrittenHere(["ada"], memory("Oslo"), versions)).toBe(false);
  expect(isWrittenHere(["eve"], memory("Bergen"), versions)).toBe(false);
  expect(isWrittenHere(["ada"], { ...memory("Bergen"), key: "work" }, versions)).toBe(false);
});

test("an erase in the scope takes the names", () => {
  noteWritten(["ada"], { type: "Fact", key: "home", version: 1 });
  forgetWrittenIn(["eve"]);
  expect(isWrittenHere(["ada"], memory("Oslo"), [said(1, "Oslo")])).toBe(true);
  forgetWrittenIn(["ada"]);
  expect(isWrittenHere(["ada"], memory("Oslo"), [said(1, "Oslo")])).toBe(false);
});
