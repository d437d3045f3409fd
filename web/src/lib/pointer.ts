/** JSON pointers (RFC 6901), and the leaves of a document by pointer. */

import type { Json, JsonObject } from "../api/shapes";

export interface Leaf {
  pointer: string;
  value: Json;
}

const escaped = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");
const unescaped = (name: string): string => name.replaceAll("~1", "/").replaceAll("~0", "~");

export function stepsOf(pointer: string): string[] {
  return pointer === "" ? [] : pointer.slice(1).split("/").map(unescaped);
}

export function pointerOf(steps: readonly string[]): string {
  return steps.map((step) => `/${escaped(step)}`).join("");
}

/** What is read as a name: `/interests/0` is "interests", `/people/0/name` is "people › 1 › name"; *named* says a field in the reader's language. */
export function spoken(pointer: string, named: (name: string) => string = (name) => name): string {
  return stepsOf(pointer)
    .map((step) => (/^\d+$/.test(step) ? String(Number(step) + 1) : named(step.replaceAll("_", " "))))
    .join(" › ")
    .replace(/ › \d+$/, "");
}

export function valueAt(value: Json, pointer: string): Json | undefined {
  let found: Json | undefined = value;
  for (const step of stepsOf(pointer)) {
    if (Array.isArray(found)) found = found[Number(step)];
    else if (found !== null && typeof found === "object") found = found[step];
    else return undefined;
  }
  return found;
}

/** All that is no container, and empty containers, in the order of the document. */
export function leavesOf(value: Json, at = ""): Leaf[] {
  if (Array.isArray(value) && value.length) {
    return value.flatMap((each, place) => leavesOf(each, `${at}/${place}`));
  }
  if (value !== null && typeof value === "object" && !Array.isArray(value) && Object.keys(value).length) {
    return Object.entries(value).flatMap(([name, each]) => leavesOf(each, `${at}/${escaped(name)}`));
  }
  return at === "" ? [] : [{ pointer: at, value }];
}

/** A copy of the document with one top-level field put back as it was in another. */
export function withField(document: JsonObject, name: string, from: JsonObject | undefined): JsonObject {
  const copy = { ...document };
  if (from && name in from) copy[name] = from[name] as Json;
  else delete copy[name];
  return copy;
}

/** Texts in one line, parted as Chinese parts them where all of them are Chinese. */
export const joined = (texts: readonly string[]): string => texts.join(texts.every((each) => /\p{sc=Han}/u.test(each)) ? "、" : ", ");

/** How a yes or no is said, where it is not as in JSON. */
export type YesNo = (value: boolean) => string;

export function shown(value: Json | undefined, yesNo: YesNo = String): string {
  if (value === undefined) return "";
  if (typeof value === "boolean") return yesNo(value);
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((each) => each === null || typeof each !== "object")) {
    return joined(value.map(String));
  }
  return JSON.stringify(value);
}
