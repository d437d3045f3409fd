import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { firstModules, SOURCE } from "./first_modules";

const sheet = (name: string): string => readFileSync(join(SOURCE, name), "utf8").replaceAll(/\/\*.*?\*\//gs, "");
const selectorsOf = (css: string): string[] => css.split(/[{}]/).filter((_, at, all) => at < all.length - 1).filter((each) => /^\s*[^@\s;]/.test(each) && !each.includes(";"));
const classesOf = (selector: string): string[] => [...selector.matchAll(/\.([a-z][\w-]*)/g)].map(([, name = ""]) => name);

/** The classes that a source gives to what it shows. */
function shownBy(source: string): Set<string> {
  const texts = [...source.matchAll(/className=(?:"([^"]*)"|\{([^\n]*))/g)].map(([, text, made]) => text ?? [...(made ?? "").matchAll(/["`]([^"`]*)["`]/g)].map(([, part]) => part).join(" "));
  return new Set(texts.join(" ").split(/[^\w-]+/));
}

describe("the styles of the later screens", () => {
  it("are of nothing that the first screens show before they come", () => {
    const shown = shownBy([...firstModules()].map((each) => readFileSync(join(SOURCE, each), "utf8")).join("\n"));
    expect(["turn", "row", "overview-head", "unseen"].filter((each) => !shown.has(each))).toEqual([]);
    const selectors = selectorsOf(sheet("late.css")).flatMap((each) => each.split(","));
    expect(selectors.length).toBeGreaterThan(200);
    expect(selectors.filter((each) => classesOf(each).length > 0 && classesOf(each).every((name) => shown.has(name)))).toEqual([]);
  });
});
