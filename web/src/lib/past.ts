/** Versions of a memory in time: what was believed on a day, what a message brought in, how to undo it. */

import type { Formation, Json, Memory, Revision } from "../api/shapes";
import { isOrigin } from "./evidence";
import { inOrder } from "./field_order";
import type { YesNo } from "./pointer";
import { isDocument, pairsOf, wordsOf } from "./sentences";

const DAY_MS = 86_400_000;

type Dated = Pick<Memory, "valid_from" | "said_at" | "updated_at">;

/** Whether it is over, and no longer true. */
export const isEnded = ({ valid_until }: Pick<Memory, "valid_until">, now = Date.now()): boolean => valid_until !== null && Date.parse(valid_until) <= now;

/** The clocks of the service and of the browser may be so far apart. */
const CLOCKS_MS = 60_000;

/** Whether it begins to be true only after a moment. */
export const isLater = ({ valid_from }: Pick<Memory, "valid_from">, now = Date.now()): boolean => valid_from !== null && Date.parse(valid_from) > now + CLOCKS_MS;

/** The time by which the service lists a memory. */
export const listedAt = ({ valid_from, said_at, updated_at }: Dated): string => valid_from ?? said_at ?? updated_at;

/** Since when a memory is true; else when it was said, or when it was written. A document that was corrected by hand since says more than what was said. */
export function timeOf(memory: Dated & Partial<Memory>): string {
  return memory.valid_from === null && isPartlyUncited(memory) ? memory.updated_at : listedAt(memory);
}

const HOUR_MS = 3_600_000;

/** When a document was changed by hand, if that is long after the time by which it is listed. */
export function changedSince(memory: Dated & Partial<Memory>): string | undefined {
  const at = timeOf(memory);
  return Date.parse(at) - Date.parse(listedAt(memory)) > HOUR_MS ? at : undefined;
}

/** Whether some fields of a document rest on words and others on none: a correction takes the words of its field away. */
function isPartlyUncited({ value = {}, evidence = {}, sentence = "" }: Partial<Memory>): boolean {
  const cited = Object.entries(evidence).flatMap(([pointer, found]) => (found.every(isOrigin) ? [] : [pointer]));
  return cited.length > 0 && !cited.includes("") && isDocument({ value, sentence }) && pairsOf(value).some(({ pointer }) => !cited.some((at) => `${at}/`.startsWith(`${pointer}/`)));
}

/** Since when what a memory says now is believed: from the first of the versions in a row that say the same in the same state. */
export function believedSince(revisions: readonly Revision[]): string | undefined {
  const newestFirst = [...revisions].sort((one, other) => other.version - one.version);
  const [now] = newestFirst;
  const isSame = (each: Revision | undefined) => each !== undefined && each.sentence === now?.sentence && each.state === now.state;
  let at = 0;
  for (;;) {
    // An undo and what it took back are as if neither had been.
    const step = newestFirst[at]?.cause === "undone" && isSame(newestFirst[at + 2]) ? 2 : 1;
    if (!isSame(newestFirst[at + step])) return newestFirst[at]?.believed_from;
    at += step;
  }
}

/** Since when it was believed first, of what a restore put in force again. */
export function believedFirst(revisions: readonly Revision[]): string | undefined {
  const again = believedSince(revisions);
  const [, version = 0] = /^restored (\d+)$/.exec(revisions.find((each) => each.believed_from === again)?.cause ?? "") ?? [];
  return version ? believedSince(revisions.filter((each) => each.version <= Number(version))) : undefined;
}

/** The name of the speaker to whom a document belongs, where several have one: its key is "@name". */
export function speakerOf(memory: Pick<Memory, "key">): string | undefined {
  return memory.key.startsWith("@") ? memory.key.slice(1) : undefined;
}

/** The document of the user themselves before those of other speakers. */
export const ownFirst = <M extends Pick<Memory, "key">>(memories: readonly M[]): M[] => [...memories].sort((one, other) => Number(speakerOf(one) !== undefined) - Number(speakerOf(other) !== undefined));

/** Memories by when they were written, the newest first. */
export const newestFirst = <M extends Pick<Memory, "updated_at">>(memories: readonly M[]): M[] => [...memories].sort((one, other) => Date.parse(other.updated_at) - Date.parse(one.updated_at));

/** The revision that was believed at a moment, or none before the first. */
export function believedAt(revisions: readonly Revision[], moment: number): Revision | undefined {
  return revisions.find(
    (each) =>
      Date.parse(each.believed_from) <= moment &&
      (each.believed_until === null || moment < Date.parse(each.believed_until)),
  );
}

/** Whether a version has nothing to show: there was none, or its fields are all gone. */
export const saysNothing = (revision: Pick<Revision, "value"> | undefined): boolean => !revision || pairsOf(revision.value).length === 0;

/** The first later version with another state, and when it came; none came: it stands as it did. */
export function sinceThen(revisions: readonly Revision[], version: number): { state: Revision["state"]; at: string } | undefined {
  const oldestFirst = [...revisions].sort((one, other) => one.version - other.version);
  const then = oldestFirst.find((each) => each.version === version);
  if (!then) return undefined;
  const next = oldestFirst.find((each) => each.version > version && each.state !== then.state) ?? then;
  return { state: next.state, at: next.believed_from };
}

/** The ends of the days from the first revision to now, oldest first; the last one is *now* itself. */
export function daysOf(revisions: readonly Revision[], now: number): number[] {
  const first = Math.min(...revisions.map((each) => Date.parse(each.believed_from)), now);
  const days: number[] = [];
  const day = new Date(first);
  day.setHours(23, 59, 59, 999);
  for (let end = day.getTime(); end < now; end = day.setDate(day.getDate() + 1)) days.push(end);
  days.push(now);
  return days;
}

/** How much of a scale is left to the time after the last change. */
const REST = 0.3;

/** Where the scale of the versions ends: today, or some while after the last change where that is long ago. */
export function scaleEnd(revisions: readonly Revision[], now: number): number {
  const changes = revisions.map((each) => Date.parse(each.believed_from));
  const [first, last] = [Math.min(...changes, now), Math.max(...changes)];
  return Math.min(now, last + Math.max((last - first) * REST, 3 * DAY_MS));
}

/** So much of the scale has each stretch between two changes, however short it is beside the others: words fit in. */
const LEAST = 0.12;

/** Places on a scale, from 0 to 1, of moments: from the first change to `end`. */
export function scaleOf(changes: readonly number[], end: number): (at: number) => number {
  const marks = [...new Set([...changes.filter((each) => each < end), end])].sort((one, other) => one - other);
  const [first = end] = marks;
  const stretches = Math.max(1, marks.length - 1);
  const least = Math.min(LEAST, 0.6 / stretches);
  const place = (at: number) => {
    const before = marks.filter((each) => each <= at).length - 1;
    const [from = end, until = end] = marks.slice(before);
    const within = until > from ? (at - from) / (until - from) : 0;
    return least * (before + within) + (1 - least * stretches) * ((at - first) / Math.max(1, end - first));
  };
  return (at) => (at <= first ? 0 : at >= end ? 1 : place(at));
}

export interface Stretch {
  value: Json;
  label: string;
  from: number;
  until: number;
  version: number;
  isLast: boolean;
}

/** For each top-level field, the values that it had and from when to when each was believed. */
export function lanesOf(revisions: readonly Revision[], now: number, yesNo?: YesNo): { name: string; stretches: Stretch[] }[] {
  const lanes = new Map<string, Stretch[]>();
  const oldestFirst = [...revisions].sort((one, other) => one.version - other.version);
  for (const revision of oldestFirst) {
    const from = Date.parse(revision.believed_from);
    const until = revision.believed_until === null ? now : Date.parse(revision.believed_until);
    for (const [name, value] of Object.entries(revision.value)) {
      const lane = lanes.get(name) ?? [];
      lanes.set(name, lane);
      const last = lane[lane.length - 1];
      if (last && last.until === from && JSON.stringify(last.value) === JSON.stringify(value)) last.until = until;
      else lane.push({ value, label: wordsOf(value, yesNo) || "–", from, until, version: revision.version, isLast: false });
    }
  }
  for (const lane of lanes.values()) {
    for (const each of lane) each.isLast = each.until >= now;
  }
  return inOrder([...lanes]).map(([name, stretches]) => ({ name, stretches }));
}

export const spanDays = (from: number, until: number): number => Math.max(1, Math.round((until - from) / DAY_MS));

export interface Brought {
  memory: Memory;
  pointers: string[];
  quotes: string[];
  /** It does not rest on the message, but was ended because of it. */
  isEnded?: boolean;
}

/** For each message of a thread, the memories that rest on it: by message id. */
export function broughtBy(memories: readonly Memory[], thread: string): Map<string, Brought[]> {
  const found = new Map<string, Brought[]>();
  for (const memory of memories) {
    for (const [pointer, evidence] of Object.entries(memory.evidence ?? {})) {
      for (const each of evidence) {
        if (each.thread !== thread) continue;
        const listed = found.get(each.message) ?? [];
        found.set(each.message, listed);
        let brought = listed.find((other) => other.memory === memory);
        if (!brought) listed.push((brought = { memory, pointers: [], quotes: [] }));
        if (!brought.pointers.includes(pointer)) brought.pointers.push(pointer);
        if (each.quote && !brought.quotes.includes(each.quote)) brought.quotes.push(each.quote);
      }
    }
  }
  return found;
}

/** A memory that a formation ended because of a message, as the receipt names it. */
export interface Ended {
  type: string;
  key: string;
  /** The time of the formation: a memory that was written since is no longer as it left it. */
  at: string;
  messages: string[];
}

/** The memories that formations ended because of messages of a thread. */
export function endedIn(formations: readonly Formation[], thread: string): Ended[] {
  return formations.flatMap(({ at, receipt }) =>
    (receipt.outcomes ?? []).flatMap(({ action, type, key, because = [] }) => {
      const messages = because.filter((each) => each.thread === thread).map((each) => each.message);
      return action === "ended" && messages.length ? [{ type, key, at, messages }] : [];
    }),
  );
}

/** What messages brought, and after it what they ended, as far as it still is as they left it. */
export function withEnded(brought: ReadonlyMap<string, Brought[]>, ended: readonly Ended[], memories: readonly Memory[]): ReadonlyMap<string, Brought[]> {
  const found = new Map(brought);
  for (const { type, key, at, messages } of ended) {
    const memory = memories.find((each) => each.type === type && each.key === key && each.updated_at === at);
    if (!memory) continue;
    for (const message of messages) found.set(message, [...(found.get(message) ?? []), { memory, pointers: [], quotes: [], isEnded: true }]);
  }
  return found;
}
