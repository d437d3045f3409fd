import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { foundFor, keyOf, withShortKeys } from "../src/lib/sentence_keys";
import { parameters } from "../src/words/parameters_zh";
import { SOURCE } from "./first_modules";

describe("a list of sentences", () => {
  const lists = readdirSync(join(SOURCE, "words")).filter((each) => /^(parameters|differences)_/.test(each));

  it("has one short key for each of them when it is built, and the same words", () => {
    expect(lists).toHaveLength(4);
    for (const name of lists) {
      const source = readFileSync(join(SOURCE, "words", name), "utf8");
      const built = withShortKeys(source);
      const [before = 0, after = 0] = [source, built].map((each) => each.match(/^ {2}\["/gm)?.length);
      expect([name, after, built.match(/^ {2}\["[0-9a-z]{1,4}", "/gm)?.length]).toEqual([name, before, before]);
    }
  });

  it("is read alike as it was written and as it was built", () => {
    const [sentence, words] = [...parameters][0] ?? ["", ""];
    expect([foundFor(parameters, sentence), foundFor(new Map([[keyOf(sentence), words]]), sentence)]).toEqual([words, words]);
    expect(foundFor(parameters, "something new")).toBeUndefined();
  });

  it("is not built with two sentences under one key", () => {
    expect(() => withShortKeys('  ["a", "x"],\n  ["a", "y"],\n')).toThrow(/two sentences have the key/);
  });
});
