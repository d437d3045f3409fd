import { expect, it } from "vitest";
import { LINES_MAX, mayBeFolded } from "../src/lib/long_text";

it("is long by its lines, by its words, and with fewer characters in Chinese", () => {
  expect(mayBeFolded(Array.from({ length: LINES_MAX }, () => "tea").join("\n"))).toBe(false);
  expect(mayBeFolded(Array.from({ length: LINES_MAX + 1 }, () => "").join("\n"))).toBe(true);
  expect(mayBeFolded("rowing ".repeat(60))).toBe(false);
  expect(mayBeFolded("rowing ".repeat(90))).toBe(true);
  expect(mayBeFolded("我住在奥斯陆。".repeat(36))).toBe(false);
  expect(mayBeFolded("我住在奥斯陆。".repeat(45))).toBe(true);
});
