/** The page's words in each language; a value in braces is filled in, a count with its thousands apart, and `one|many` follows a count. */

import { en } from "./en";
import { zh } from "./zh";

export type Language = "en" | "zh";
export type Word = keyof typeof en;

const WORDS: Record<Language, Record<Word, string>> = { en, zh };

export function translated(language: Language, word: Word, values: Record<string, string | number> = {}): string {
  const [one, many]: string[] = WORDS[language][word].split("|");
  const text = many !== undefined && values.count !== 1 ? many : (one ?? "");
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => written(language, name, values[name] ?? whole));
}

const COUNTS: ReadonlySet<string> = new Set(["count", "nodes", "edges"]);
const written = (language: Language, name: string, value: string | number): string => (typeof value === "number" && COUNTS.has(name) ? value.toLocaleString(language) : String(value));
