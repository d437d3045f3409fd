/** A change is made with a way back, or for good with consent. */

import { expect, test, vi } from "vitest";

vi.hoisted(() => vi.stubGlobal("document", { baseURI: "http://page.test/" }));

import { Problem } from "../src/api/problem";
import { undoable, wayBack } from "../src/lib/undo";

const tooLarge = new Problem(422, "limit", "", "bytes of what would undo it: 9; the limit UNDO_BYTES_MAX is 8");

test("a change is made with a way back, and nobody is asked", async () => {
  const change = vi.fn(async (undo: boolean) => undo);
  const agrees = vi.fn(() => true);

  expect(await undoable(change, agrees)).toBe(true);
  expect(agrees).not.toHaveBeenCalled();
});

test("what is too large to be taken back is made for good, if the person agrees", async () => {
  const change = vi.fn(async (undo: boolean) => {
    if (undo) throw tooLarge;
    return "made";
  });

  expect(await undoable(change, () => false)).toBeNull();
  expect(change).toHaveBeenCalledTimes(1);
  expect(await undoable(change, () => true)).toBe("made");
});

test("any other failure is one, and nothing is tried again", async () => {
  const change = vi.fn(() => Promise.reject(new Problem(422, "limit", "", "bytes of a value: 9; the limit is 8")));

  await expect(undoable(change, () => true)).rejects.toBeInstanceOf(Problem);
  expect(change).toHaveBeenCalledTimes(1);
});

test("without a token there is no way back", () => {
  expect(wayBack(["ada"], { undo: null }, () => undefined)).toBeUndefined();
  expect(wayBack(["ada"], undefined, () => undefined)).toBeUndefined();
  expect(wayBack(["ada"], { undo: "token" }, () => undefined)).toBeTypeOf("function");
});
