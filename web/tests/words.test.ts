import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { en } from "../src/words/en";
import { zh } from "../src/words/zh";

const SOURCE = join(import.meta.dirname, "..", "src");
/** What is written alike in both languages: names, and a value that is filled in. */
const ALIKE = new Set(["Recollect", "JSON", "English", "openapi.json", "curl"]);
const LETTERS = /[A-Za-z]{2,}/;

/** Texts that a source shows without asking for their translation: between tags, and in attributes that are read out. */
export function untranslated(source: string): string[] {
  const found: string[] = [];
  for (const [, text = ""] of source.matchAll(/<(?:h[1-6]|p|span|button|a|li|dt|dd|th|td|strong|label|summary|option|title)(?:\s[^<>{}]*(?:\{[^{}]*\}[^<>{}]*)*)?>([^<>{}]+)</g)) found.push(text);
  for (const [, text = ""] of source.matchAll(/\}\s*([A-Za-z][^<>{}()=;:]*)<\//g)) found.push(text);
  for (const [, text = ""] of source.matchAll(/\s(?:aria-label|title|placeholder|alt|label)="([^"]*)"/g)) found.push(text);
  return found.map((each) => each.trim()).filter((each) => LETTERS.test(each) && !ALIKE.has(each));
}

const sources = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter((each) => each.endsWith(".tsx"));

describe("the words of the page", () => {
  it.each(sources)("%s shows none that is not translated", (name) => {
    expect(untranslated(readFileSync(join(SOURCE, name), "utf8"))).toEqual([]);
  });

  it("are found where they are not translated", () => {
    expect(untranslated("<p>Nothing here</p>")).toEqual(["Nothing here"]);
    expect(untranslated('<p className="a">Nothing here</p>')).toEqual(["Nothing here"]);
    expect(untranslated("<p>{count} entries</p>")).toEqual(["entries"]);
    expect(untranslated('<input aria-label="Search it" />')).toEqual(["Search it"]);
    expect(untranslated('<p>{t("loading")}</p>')).toEqual([]);
  });

  it("are Chinese in Chinese, with the values that the English has", () => {
    const values = (text: string) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort();
    for (const name of Object.keys(en) as (keyof typeof en)[]) {
      if (LETTERS.test(en[name].replace(/\{\w+\}/g, ""))) expect(zh[name], name).toMatch(/[\u4e00-\u9fff]|^Recollect|ms/);
      expect(values(zh[name]), name).toEqual(values(en[name]));
    }
  });

  it("are all used", () => {
    const all = sources.concat(readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter((each) => each.endsWith(".ts") && !each.startsWith("words"))).map((each) => readFileSync(join(SOURCE, each), "utf8")).join("\n");
    const built = [...all.matchAll(/`([a-z_.]+\.)\$\{/g)].map((each) => each[1] ?? "");
    expect(Object.keys(en).filter((name) => !all.includes(`"${name}"`) && !built.some((each) => name.startsWith(each)))).toEqual([]);
  });
});
