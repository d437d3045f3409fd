/** The page's words in each language; a value in braces is filled in, a count with its thousands apart, and `one|many` follows a count. */

import type { en } from "./en";

export type Language = "en" | "zh";
export type Word = keyof typeof en;

type Words = Record<Word, string>;
const loaded = new Map<Language, Words>();
let zhTypes: ReadonlyMap<string, string> = new Map();

/** Fetch the words of a language: a reader needs one of them. */
export async function loadWords(language: Language): Promise<void> {
  if (language === "zh" && !zhTypes.size) zhTypes = (await import("./zh_types")).zhTypes;
  if (!loaded.has(language)) loaded.set(language, language === "zh" ? (await import("./zh")).zh : (await import("./en")).en);
}

/** Say something in a language whose words are loaded. */
export function translated(language: Language, word: Word, values: Record<string, string | number> = {}): string {
  const [one, many]: string[] = loaded.get(language)?.[word].split("|") ?? [];
  const text = many !== undefined && values.count !== 1 ? many : (one ?? "");
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => written(language, name, values[name] ?? whole));
}

/** The name of a type or of a field, or what is said of it: the usual ones in the reader's language, all others as they are. */
export const usualName = (language: Language, text: string): string => (language === "zh" ? (zhTypes.get(text) ?? text) : text);

const COUNTS: ReadonlySet<string> = new Set(["count", "nodes", "edges"]);
const written = (language: Language, name: string, value: string | number): string => (typeof value === "number" && COUNTS.has(name) ? value.toLocaleString(language) : String(value));
