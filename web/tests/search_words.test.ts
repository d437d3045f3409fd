import { describe, expect, it } from "vitest";
import { hasWordsOf } from "../src/lib/search_words";

describe("the words of a search", () => {
  it("are found in a text whatever their case and ending", () => {
    expect(hasWordsOf("Mira lives in Porto", "PORTO")).toBe(true);
    expect(hasWordsOf("Mira plans to move", "planning a trip")).toBe(true);
    expect(hasWordsOf("Mira lives in Porto", "zzzzqqq")).toBe(false);
  });

  it("are two characters in Chinese, not one that stands in anything", () => {
    expect(hasWordsOf("她住在波尔图", "波尔图的天气")).toBe(true);
    expect(hasWordsOf("她住在波尔图", "在家")).toBe(false);
  });
});
