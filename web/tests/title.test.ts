import { describe, expect, it } from "vitest";
import { titleOf } from "../src/lib/title";

describe("the title of the window", () => {
  it("is what is looked at, the screen and the product", () => {
    expect(titleOf("Memories")).toBe("Memories · Recollect");
    expect(titleOf("Memories", "Mira lives in Porto")).toBe("Mira lives in Porto · Memories · Recollect");
  });

  it("is short, also of a long sentence", () => {
    expect(titleOf("记忆", "米".repeat(80))).toBe(`${"米".repeat(59)}… · 记忆 · Recollect`);
  });
});
