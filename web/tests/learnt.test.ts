/** A message is told with what was learnt from it, whatever the memory says since. */

import { expect, test, vi } from "vitest";

vi.hoisted(() => vi.stubGlobal("document", { baseURI: "http://page.test/" }));

import { api } from "../src/api/client";
import type { Revision } from "../src/api/shapes";
import { learntFrom, versionsOf } from "../src/lib/learnt";

const version = (number: number, value: Revision["value"], cited: Record<string, string[]>) => ({
  version: number, value, sentence: `sentence ${number}`,
  evidence: Object.fromEntries(Object.entries(cited).map(([pointer, messages]) => [pointer, messages.map((message) => ({ thread: "t", message, quote: "" }))])),
}) as unknown as Revision;

const VERSIONS = [
  version(3, { home: "Porto", pet: "Pixel", job: "editor" }, { "/home": ["m1", "m3"], "/pet": ["m2"] }),
  version(2, { home: "Utrecht", pet: "Pixel" }, { "/home": ["m1"], "/pet": ["m2"] }),
  version(1, { home: "Utrecht" }, { "/home": ["m1"] }),
];

test("it is the first version that rests on the message, in the places that do", () => {
  expect(learntFrom(VERSIONS, "t", "m1")).toEqual({ value: { home: "Utrecht" }, sentence: "sentence 1", pointers: ["/home"] });
  expect(learntFrom(VERSIONS, "t", "m2")).toMatchObject({ sentence: "sentence 2", pointers: ["/pet"] });
  expect(learntFrom(VERSIONS, "t", "m3")).toMatchObject({ value: { home: "Porto" }, pointers: ["/home"] });
});

test("of a message on which nothing rests it is not known", () => {
  expect(learntFrom(VERSIONS, "t", "m9")).toBeUndefined();
  expect(learntFrom(VERSIONS, "other", "m1")).toBeUndefined();
});

test("the versions are asked for once where they stand beside several messages, and anew later", async () => {
  const history = vi.spyOn(api, "history").mockResolvedValue({ revisions: VERSIONS });
  await Promise.all([versionsOf([], { type: "User", key: "User" }), versionsOf([], { type: "User", key: "User" })]);
  expect(history).toHaveBeenCalledTimes(1);
  await versionsOf([], { type: "User", key: "User" });
  expect(history).toHaveBeenCalledTimes(2);
});
