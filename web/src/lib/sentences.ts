/** Memories as people read them: a sentence of the service's, or the fields of a document by name. */

import type { Json, JsonObject, Memory, RecallEntry } from "../api/shapes";
import { inOrder } from "./field_order";
import { joined, pointerOf, shown, spoken, valueAt, type YesNo } from "./pointer";

export interface Pair {
  name: string;
  text: string;
  pointer: string;
}

/** Whether a sentence only lists fields by name: then they are better shown as names and values. */
export function isDocument({ value, sentence }: Pick<Memory, "value" | "sentence">): boolean {
  return Object.keys(value).some((name) => sentence.startsWith(`${name}: `));
}

/** A recalled entry in words: the fields of a document by their names in the reader's language, all else as it is. */
export function entryWords({ kind, text, sentence = text }: Pick<RecallEntry, "kind" | "text" | "sentence">, named: (name: string) => string, colon: string): string {
  if (kind !== "memory" || !/^[a-z_]+: /.test(sentence)) return sentence;
  return sentence.replace(/(^|; )([a-z_]+): /g, (_, between: string, field: string) => `${colon === ": " ? between : between && "；"}${named(field.replaceAll("_", " "))}${colon}`);
}

/** The fields of a document that say something, as names and texts. */
export function pairsOf(value: JsonObject, yesNo?: YesNo): Pair[] {
  return inOrder(Object.entries(value))
    .map(([name, each]) => ({ name: name.replaceAll("_", " "), text: wordsOf(each, yesNo), pointer: pointerOf([name]) }))
    .filter((each) => each.text !== "");
}

const LONG = 160;

/** Whether a text is a paragraph rather than a line: bold letters would make it hard to read. */
export const isLong = (text: string): boolean => [...text].length > LONG;

/** Texts as one: those that are sentences, or hold a comma, are not parted by another comma. */
function listed(texts: readonly string[]): string {
  if (texts.every((each) => /[.!?。！？]$/u.test(each))) return texts.join(" ");
  return texts.some((each) => /[,，;；]|[.。]$/u.test(each)) ? texts.map((each) => each.replace(/[.。]$/u, "")).join("; ") : joined(texts);
}

/** A value in words, without braces and brackets. */
export function wordsOf(value: Json, yesNo?: YesNo): string {
  if (value === null) return "";
  if (Array.isArray(value)) return listed(value.map((each) => wordsOf(each, yesNo)).filter(Boolean));
  if (typeof value === "object") return joined(pairsOf(value, yesNo).map((each) => `${each.name} ${each.text}`));
  return typeof value === "number" ? String(value) : shown(value, yesNo);
}

const NAMES = ["name", "user_name", "preferred_name", "full_name", "姓名", "名字"];

/** What the person is called whose profiles these are. */
export function personIn(profiles: readonly Pick<Memory, "value">[]): string | undefined {
  for (const name of NAMES) {
    for (const { value } of profiles) {
      const called = value[name];
      if (typeof called === "string" && called) return called;
    }
  }
  return undefined;
}

/** What a memory is called that lists its fields, and is one of many of its type: the first that is a text. */
export function firstText({ type, key, value }: Pick<Memory, "type" | "key" | "value">): string | undefined {
  if (key === type || key.startsWith("@")) return undefined;
  return inOrder(Object.entries(value)).map(([, each]) => each).find((each): each is string => typeof each === "string" && each !== "");
}

/** What places in a document say: "home Porto, name Mira"; "" for the whole of it. */
export function placesSaid(value: JsonObject, pointers: readonly string[], named?: (name: string) => string, yesNo?: YesNo): string {
  return joined(pointers.filter(Boolean).map((each) => `${spoken(each, named)} ${wordsOf(valueAt(value, each) ?? null, yesNo)}`.trim()));
}

const TOLD_MAX = 48;

/** A text short enough for a notice, cut between words where it has any. */
export function shortened(text: string, most = TOLD_MAX): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most);
  const space = cut.lastIndexOf(" ");
  return `${(space > most / 2 ? cut.slice(0, space) : cut.slice(0, -1)).trimEnd()}…`;
}
