/** A thread is named alike everywhere: by what the user said first in it. */

import { beforeEach, expect, test, vi } from "vitest";

vi.hoisted(() => vi.stubGlobal("document", { baseURI: "http://page.test/" }));

import { api } from "../src/api/client";
import type { Message } from "../src/api/shapes";
import { firstWords } from "../src/lib/first_words";

const talk = [{ role: "system", text: "Be kind." }, { role: "user", text: "Where is the boat?" }] as Message[];
let asked = vi.spyOn(api, "messages");

beforeEach(() => {
  asked.mockRestore();
  asked = vi.spyOn(api, "messages").mockImplementation((_, thread, query) => Promise.resolve({ messages: thread === "plain" ? talk.slice(1) : talk.slice(0, query?.limit), cursor: null }));
});

test("what the user said is looked for behind a system prompt", async () => {
  expect([await firstWords([], "plain"), await firstWords([], "prompted")]).toEqual(["Where is the boat?", "Where is the boat?"]);
  expect(asked).toHaveBeenCalledTimes(3);
});

test("several places that name one thread ask once, and a later one again: it may be erased by then", async () => {
  await Promise.all([firstWords(["ada"], "plain"), firstWords(["ada"], "plain"), firstWords(["bob"], "plain")]);
  expect(asked).toHaveBeenCalledTimes(2);
  await firstWords(["ada"], "plain");
  expect(asked).toHaveBeenCalledTimes(3);
});
