/** What a thread is called, and for how long: the words may be erased. */

import { describe, expect, it } from "vitest";
import { ThreadTitles, wordsOf } from "../src/lib/thread_titles";

const said = (role: string, text: string) => ({ role, text });

describe("what a thread begins with", () => {
  it("is what the user said first", () => {
    expect(wordsOf([said("system", "Be kind."), said("assistant", "Hello!"), said("user", "Soup?")])).toBe("Soup?");
  });

  it("is else what anyone said, the instructions last", () => {
    expect(wordsOf([said("system", "Be kind."), said("assistant", "Hello!")])).toBe("Hello!");
    expect(wordsOf([said("system", "Be kind.")])).toBe("Be kind.");
    expect(wordsOf([])).toBe("");
  });
});

describe("the title of a thread", () => {
  const titles = new ThreadTitles();

  it("holds while more is said in it", () => {
    titles.note("talk", "The code is 5519-XQ.", { count: 2, last: 2 });
    expect(titles.of("talk", { count: 8, last: 8 })).toBe("The code is 5519-XQ.");
    expect(titles.of("other", { count: 8, last: 8 })).toBeUndefined();
  });

  it("holds no longer once a message of it is gone", () => {
    titles.note("talk", "The code is 5519-XQ.", { count: 2, last: 2 });
    expect(titles.of("talk", { count: 7, last: 8 })).toBeUndefined();
    titles.note("talk", "What shall I cook?", { count: 7, last: 8 });
    expect(titles.of("talk", { count: 9, last: 10 })).toBe("What shall I cook?");
  });

  it("is short", () => {
    titles.note("talk", "soup ".repeat(50), { count: 1, last: 1 });
    expect(titles.of("talk", { count: 1, last: 1 })).toHaveLength(80);
  });
});
