import { describe, expect, it } from "vitest";
import { blocksOf, inlinesOf, plainOf } from "../src/lib/rich_text";

const kinds = (parts: readonly { kind: string; text: string }[]) => parts.map((each) => [each.kind, each.text]);

describe("a title of what somebody wrote", () => {
  it("has the words in one line, without the marks", () => {
    expect(plainOf("Here is **code**:\n\n```python\nprint(1)\n```\nand `a`")).toBe("Here is code: print(1) and a");
    expect(plainOf("2 ** 3 is 8")).toBe("2 ** 3 is 8");
  });
});

describe("an answer of a model", () => {
  it("is shown with its blocks of code apart", () => {
    expect(kinds(blocksOf("Try this:\n```python\nprint(1)\n\nprint(2)\n```\nDone."))).toEqual([["text", "Try this:"], ["code", "print(1)\n\nprint(2)"], ["text", "Done."]]);
    expect(kinds(blocksOf("```\na\n```\n```\nb\n```"))).toEqual([["code", "a"], ["code", "b"]]);
  });

  it("has a block that goes to the end while it is on its way", () => {
    expect(kinds(blocksOf("Look:\n```js\nlet x"))).toEqual([["text", "Look:"], ["code", "let x"]]);
  });

  it("stays as it is without marks", () => {
    expect(kinds(blocksOf("a\n\nb ``` c"))).toEqual([["text", "a\n\nb ``` c"]]);
    expect(kinds(blocksOf(""))).toEqual([["text", ""]]);
    expect(kinds(inlinesOf("2 * 3 ** 4 ** 5, ** no ** and `"))).toEqual([["text", "2 * 3 ** 4 ** 5, ** no ** and `"]]);
  });

  it("has code and strong words in a line", () => {
    expect(kinds(inlinesOf("Use **two** `**spaces**`."))).toEqual([["text", "Use "], ["strong", "two"], ["text", " "], ["code", "**spaces**"], ["text", "."]]);
  });
});
