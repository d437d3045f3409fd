/** The page's words in each language; a value in braces is filled in, a count with its thousands apart, and `one|many` follows a count. */

import type { en } from "./en";
import type { enLate } from "./en_late";

type EarlyWord = keyof typeof en;
type LateWord = keyof typeof enLate;
export type Word = EarlyWord | LateWord;
interface Vocabulary {
  words: Record<EarlyWord, string>;
  /** The names of the usual types and fields; what is said of these comes later. */
  types: ReadonlyMap<string, string>;
}

interface LateVocabulary {
  words: Record<LateWord, string>;
  types: Vocabulary["types"];
}

/** A language: its own name, how documents are marked as being in it, and where numbers and dates are written as its readers do. */
interface Tongue {
  name: string;
  tag: string;
  locale: string;
  load: () => Promise<Vocabulary>;
  loadLate: () => Promise<LateVocabulary>;
}

/** The names of fields that a schema writes in the words of grammar. */
const PLAIN_TYPES: Vocabulary["types"] = new Map([["subject", "who or what"], ["predicate", "relation"], ["object", "whom or what"], ["object type", "kind of value"]]);

/** Each language's words are two files of their own: a reader needs those of one, and of it first what the first screens say. */
export const LANGUAGES = {
  en: {
    name: "English", tag: "en", locale: "en-GB",
    load: () => import("./en").then(({ en }) => ({ words: en, types: PLAIN_TYPES })),
    loadLate: () => import("./en_late").then(({ enLate }) => ({ words: enLate, types: new Map() })),
  },
  zh: {
    name: "简体中文", tag: "zh-Hans", locale: "zh-CN",
    load: () => Promise.all([import("./zh"), import("./zh_types")]).then(([{ zh }, { zhTypes }]) => ({ words: zh, types: zhTypes })),
    loadLate: () => Promise.all([import("./zh_late"), import("./types_zh_late")]).then(([{ zhLate }, { zhTypesLate }]) => ({ words: zhLate, types: zhTypesLate })),
  },
  "zh-hant": {
    name: "繁體中文", tag: "zh-Hant", locale: "zh-TW",
    load: () => Promise.all([import("./zh_hant"), import("./zh_hant_types")]).then(([{ zhHant }, { zhHantTypes }]) => ({ words: zhHant, types: zhHantTypes })),
    loadLate: () => Promise.all([import("./zh_hant_late"), import("./types_zh_hant_late")]).then(([{ zhHantLate }, { zhHantTypesLate }]) => ({ words: zhHantLate, types: zhHantTypesLate })),
  },
} as const satisfies Record<string, Tongue>;

export type Language = keyof typeof LANGUAGES;
export const LANGUAGE_NAMES = Object.keys(LANGUAGES) as Language[];

/** The first of a browser's languages that the page has, or else English. A region tells the script of Chinese that names none. */
export function languageOf(wanted: readonly string[]): Language {
  for (const each of wanted) {
    const tag = each.toLowerCase();
    if (/^en\b/.test(tag)) return "en";
    if (/^zh\b/.test(tag)) return /-hant\b|^zh-(tw|hk|mo)\b/.test(tag) ? "zh-hant" : "zh";
  }
  return "en";
}

const loaded = new Map<Language, Vocabulary>();
const loadedLate = new Map<Language, LateVocabulary>();
const wanted = new Set<Language>();
let isLateWanted = false;

/** Fetch the words of a language, once; those of the later screens, too, if one of these was gone to. */
export async function loadWords(language: Language): Promise<void> {
  wanted.add(language);
  const late = isLateWanted ? loadLateOf(language) : undefined;
  if (!loaded.has(language)) loaded.set(language, await LANGUAGES[language].load());
  await late;
}

/** Fetch the words of the later screens, in each language whose words were fetched. */
export async function loadLateWords(): Promise<void> {
  isLateWanted = true;
  await Promise.all([...wanted].map(loadLateOf));
}

async function loadLateOf(language: Language): Promise<void> {
  if (!loadedLate.has(language)) loadedLate.set(language, await LANGUAGES[language].loadLate());
}

/** Say something in a language whose words are loaded. */
export function translated(language: Language, word: Word, values: Record<string, string | number> = {}): string {
  const first: Partial<Record<Word, string>> | undefined = loaded.get(language)?.words;
  const later: Partial<Record<Word, string>> | undefined = loadedLate.get(language)?.words;
  const [one, many]: string[] = (first?.[word] ?? later?.[word])?.split("|") ?? [];
  const text = many !== undefined && values.count !== 1 ? many : (one ?? "");
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => written(language, name, values[name] ?? whole));
}

/** The name of a type or of a field, or what is said of it: the usual ones in the reader's language, all others as they are. */
export const usualName = (language: Language, text: string): string => loaded.get(language)?.types.get(text) ?? loadedLate.get(language)?.types.get(text) ?? OTHERWISE.get(text) ?? text;
/** A field of the built-in profile whose name says more than it means beside its value, where a language has no word of its own for it. */
const OTHERWISE: ReadonlyMap<string, string> = new Map([["user name", "name"], ["user_name", "name"]]);

/** Values that are lengths of time, in seconds. */
const SPANS: ReadonlySet<string> = new Set(["retry_after_s", "seconds"]);

function written(language: Language, name: string, value: string | number): string {
  const { locale } = LANGUAGES[language];
  if (typeof value !== "number") return value;
  if (SPANS.has(name)) return spanOf(value, locale);
  return name === "count" ? value.toLocaleString(locale) : String(value);
}

/** A length of time as people say it, never too short: "45 seconds", "6 hours". */
function spanOf(seconds: number, locale: string): string {
  const [unit, size] = seconds <= 100 ? ["second", 1] as const : seconds <= 3_540 ? ["minute", 60] as const : seconds <= 172_800 ? ["hour", 3_600] as const : ["day", 86_400] as const;
  return new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "long" }).format(Math.ceil(seconds / size));
}
