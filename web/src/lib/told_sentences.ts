/** Sentences that the service writes in English and sends without a code, in the reader's language: by the sentence itself. */

import type { Language } from "../words";

type Sentences = ReadonlyMap<string, string>;

const AS_TOLD: Sentences = new Map();

const DIFFERENCES: Partial<Record<Language, () => Promise<Sentences>>> = {
  zh: () => import("../words/differences_zh").then(({ differences }) => differences),
  "zh-hant": () => import("../words/differences_zh_hant").then(({ differences }) => differences),
};

/** How an import keeps things otherwise than a file has them. One that is newer than the page stays as it is told. */
export const loadDifferences = (language: Language): Promise<Sentences> => DIFFERENCES[language]?.() ?? Promise.resolve(AS_TOLD);

const COMPLAINTS: Partial<Record<Language, () => Promise<Sentences>>> = {
  zh: () => import("../words/complaints_zh").then(({ complaints }) => complaints),
  "zh-hant": () => import("../words/complaints_zh_hant").then(({ complaints }) => complaints),
};

/** What is wrong with a type or a value: sentences with their values in braces. */
export const loadComplaints = (language: Language): Promise<Sentences> => COMPLAINTS[language]?.() ?? Promise.resolve(AS_TOLD);

const PARAMETERS: Partial<Record<Language, () => Promise<Sentences>>> = {
  zh: () => import("../words/parameters_zh").then(({ parameters }) => parameters),
  "zh-hant": () => import("../words/parameters_zh_hant").then(({ parameters }) => parameters),
};

/** What the parameters and answers of the routes mean. */
export const loadParameters = (language: Language): Promise<Sentences> => PARAMETERS[language]?.() ?? Promise.resolve(AS_TOLD);

/** What stands in a sentence as another one, or as kinds of values with "or" between them. */
const INNER: ReadonlySet<string> = new Set(["reason", "what", "other", "kind"]);

/** A sentence in the reader's language, with its values; one that none of `sentences` is stays as it is told. */
export function retold(told: string, sentences: Sentences): string {
  for (const [sentence, said] of sentences) {
    const values = patternOf(sentence).exec(told)?.groups ?? (sentence === told ? {} : undefined);
    if (values) return said.replace(/\{(\w+)\}/g, (_, name: string) => (INNER.has(name) ? (values[name] ?? "").split(" or ").map((each) => retold(each, sentences)).join("或") : (values[name] ?? "")));
  }
  return told;
}

const patterns = new Map<string, RegExp>();

function patternOf(sentence: string): RegExp {
  const known = patterns.get(sentence) ?? new RegExp(`^${sentence.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{(\w+)\}/g, "(?<$1>.+?)")}$`, "su");
  patterns.set(sentence, known);
  return known;
}
