/** The page's words in each language; a value in braces is filled in, and `one|many` follows a count. */

import { en } from "./en";
import { zh } from "./zh";

export type Language = "en" | "zh";
export type Word = keyof typeof en;

const WORDS: Record<Language, Record<Word, string>> = { en, zh };

export function translated(language: Language, word: Word, values: Record<string, string | number> = {}): string {
  const [one, many]: string[] = WORDS[language][word].split("|");
  const text = many !== undefined && values.count !== 1 ? many : (one ?? "");
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
