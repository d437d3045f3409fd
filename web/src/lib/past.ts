/** Versions of a memory in time: what was believed on a day, what a message brought in, how to undo it. */

import type { Json, JsonObject, Memory, Revision } from "../api/shapes";
import { changesBetween } from "./diff";
import { stepsOf, withField } from "./pointer";
import { wordsOf } from "./sentences";

const DAY_MS = 86_400_000;

/** Since when a memory is true; else when it was said, or when it was written. */
export function timeOf(memory: Pick<Memory, "valid_from" | "said_at" | "updated_at">): string {
  return memory.valid_from ?? memory.said_at ?? memory.updated_at;
}

/** Since when what a memory says now is believed: from the first of the versions in a row that say the same in the same state. */
export function believedSince(revisions: readonly Revision[]): string | undefined {
  const newestFirst = [...revisions].sort((one, other) => other.version - one.version);
  const [now] = newestFirst;
  const broken = newestFirst.findIndex((each) => each.sentence !== now?.sentence || each.state !== now.state);
  return (broken < 0 ? newestFirst[newestFirst.length - 1] : newestFirst[broken - 1])?.believed_from;
}

/** The name of the speaker to whom a document belongs, where several have one: its key is "@name". */
export function speakerOf(memory: Pick<Memory, "key">): string | undefined {
  return memory.key.startsWith("@") ? memory.key.slice(1) : undefined;
}

/** The document of the user themselves before those of other speakers. */
export const ownFirst = <M extends Pick<Memory, "key">>(memories: readonly M[]): M[] => [...memories].sort((one, other) => Number(speakerOf(one) !== undefined) - Number(speakerOf(other) !== undefined));

/** The revision that was believed at a moment, or none before the first. */
export function believedAt(revisions: readonly Revision[], moment: number): Revision | undefined {
  return revisions.find(
    (each) =>
      Date.parse(each.believed_from) <= moment &&
      (each.believed_until === null || moment < Date.parse(each.believed_until)),
  );
}

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

export interface Stretch {
  value: Json;
  label: string;
  from: number;
  until: number;
  version: number;
  isLast: boolean;
}

/** For each top-level field, the values that it had and from when to when each was believed. */
export function lanesOf(revisions: readonly Revision[], now: number): { name: string; stretches: Stretch[] }[] {
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
      else lane.push({ value, label: wordsOf(value) || "–", from, until, version: revision.version, isLast: false });
    }
  }
  for (const lane of lanes.values()) {
    for (const each of lane) each.isLast = each.until >= now;
  }
  return [...lanes].map(([name, stretches]) => ({ name, stretches }));
}

export const spanDays = (from: number, until: number): number => Math.max(1, Math.round((until - from) / DAY_MS));

export interface Brought {
  memory: Memory;
  pointers: string[];
  quotes: string[];
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

export type Undo =
  | { kind: "delete" }
  | { kind: "restore"; version: number }
  | { kind: "put"; value: JsonObject }
  | { kind: "nothing" };

/** How to take back what one message brought into a memory, from its versions. */
export function undoOf(revisions: readonly Revision[], thread: string, message: string): Undo {
  const oldestFirst = [...revisions].sort((one, other) => one.version - other.version);
  const place = oldestFirst.findIndex((each) => cites(each, thread, message));
  const brought = oldestFirst[place];
  const current = oldestFirst[oldestFirst.length - 1];
  if (!brought || !current) return { kind: "nothing" };
  const before = oldestFirst[place - 1];
  if (brought === current && before) return { kind: "restore", version: before.version };
  if (!before && Object.values(current.evidence).flat().every((each) => each.message === message)) {
    return { kind: "delete" };
  }
  const names = before
    ? new Set(changesBetween(before.value, brought.value).map((change) => stepsOf(change.pointer)[0] as string))
    : new Set(
        Object.entries(brought.evidence)
          .filter(([pointer, listed]) => pointer && listed.some((each) => each.message === message))
          .map(([pointer]) => stepsOf(pointer)[0] as string),
      );
  let value = current.value;
  for (const name of names) value = withField(value, name, before?.value);
  return Object.keys(value).length ? { kind: "put", value } : { kind: "delete" };
}

function cites(revision: Revision, thread: string, message: string): boolean {
  return Object.values(revision.evidence)
    .flat()
    .some((each) => each.thread === thread && each.message === message);
}
