/** Whether a memory, as it stands now, is what a request would have made of it: for requests whose answer was lost. */

import type { Json, JsonObject, Memory, Revision } from "../api/shapes";
import { valueAt } from "./pointer";

const isNext = (before: Memory, now: Memory): boolean => now.version === before.version + 1;

export function isRejected(before: Memory, now: Memory, pointer: string): boolean {
  if (!isNext(before, now)) return false;
  return pointer ? valueAt(now.value, pointer) === undefined && valueAt(before.value, pointer) !== undefined : now.state === "rejected";
}

export function isRestored(before: Memory, revisions: readonly Revision[], version: number): boolean {
  const newest = revisions.find((each) => each.version === before.version + 1);
  return newest?.cause === `restored ${version}` && !revisions.some((each) => each.version > newest.version);
}

export const isEnded = (before: Memory, now: Memory, moment: string): boolean =>
  isNext(before, now) && now.valid_until !== null && Date.parse(now.valid_until) === Date.parse(moment);

export const isEdited = (before: Memory, now: Memory, value: JsonObject): boolean => isNext(before, now) && isSame(now.value, value);

/** Whether two values are the same, in whatever order their names stand. */
export function isSame(one: Json, other: Json): boolean {
  if (one === null || other === null || typeof one !== "object" || typeof other !== "object") return one === other;
  if (Array.isArray(one) || Array.isArray(other)) {
    return Array.isArray(one) && Array.isArray(other) && one.length === other.length && one.every((each, place) => isSame(each, other[place] as Json));
  }
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => name in other && isSame(one[name] as Json, other[name] as Json));
}
