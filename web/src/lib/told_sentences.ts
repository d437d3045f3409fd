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
