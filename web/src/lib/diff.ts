/** What changed between two versions of a document, and between two texts. */

import type { Json } from "../api/shapes";
import { leavesOf } from "./pointer";

export type Change =
  | { kind: "added"; pointer: string; after: Json }
  | { kind: "removed"; pointer: string; before: Json }
  | { kind: "changed"; pointer: string; before: Json; after: Json };

export interface Piece {
  kind: "same" | "added" | "removed";
  text: string;
}

const WORDS_MAX = 400;
/** Of texts that share less than this, crumbs in common would only make both hard to read. */
const SHARED_MIN = 0.4;

/** The leaves that differ; elements of a list are compared by value, so that a removal moves none. */
export function changesBetween(before: Json, after: Json): Change[] {
  return between(before, after, "");
}

function isObject(value: Json): value is { [name: string]: Json } {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function between(before: Json, after: Json, at: string): Change[] {
  if (isObject(before) && isObject(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) => {
      const pointer = `${at}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      if (!(name in before)) return added(after[name] as Json, pointer);
      if (!(name in after)) return removed(before[name] as Json, pointer);
      return between(before[name] as Json, after[name] as Json, pointer);
    });
  }
  if (Array.isArray(before) && Array.isArray(after)) return betweenLists(before, after, at);
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  return [{ kind: "changed", pointer: at, before, after }];
}

function betweenLists(before: Json[], after: Json[], at: string): Change[] {
  const old = before.map((each) => JSON.stringify(each));
  const now = after.map((each) => JSON.stringify(each));
  const gone = before.flatMap((each, place) =>
    taken(now, old[place] as string) ? [] : removed(each, `${at}/${place}`),
  );
  const left = before.map((each) => JSON.stringify(each));
  const fresh = after.flatMap((each, place) =>
    taken(left, JSON.stringify(each)) ? [] : added(each, `${at}/${place}`),
  );
  return [...gone, ...fresh];
}

function taken(from: string[], wanted: string): boolean {
  const place = from.indexOf(wanted);
  if (place >= 0) from.splice(place, 1);
  return place >= 0;
}

function added(value: Json, at: string): Change[] {
  const leaves = leavesOf(value, at);
  return (leaves.length ? leaves : [{ pointer: at, value }]).map((leaf) => ({
    kind: "added", pointer: leaf.pointer, after: leaf.value,
  }));
}

function removed(value: Json, at: string): Change[] {
  const leaves = leavesOf(value, at);
  return (leaves.length ? leaves : [{ pointer: at, value }]).map((leaf) => ({
    kind: "removed", pointer: leaf.pointer, before: leaf.value,
  }));
}

/** Words, spaces, and single characters of scripts that are written without spaces. */
export function wordsOf(text: string): string[] {
  return text.match(/[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\s+|[^\s\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+/g) ?? [];
}

/** The words in common, and what was added and removed between them; texts that have little in common whole. */
export function textDiff(before: string, after: string): Piece[] {
  const old = wordsOf(before);
  const now = wordsOf(after);
  const whole: Piece[] = [{ kind: "removed", text: before }, { kind: "added", text: after }].filter((each): each is Piece => each.text !== "");
  if (old.length > WORDS_MAX || now.length > WORDS_MAX) return whole;
  const length = lengths(old, now);
  const pieces: Piece[] = [];
  let i = 0;
  let j = 0;
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      push(pieces, "same", old[i++] as string);
      j++;
    } else if (i < old.length && (j >= now.length || cell(length, i + 1, j) >= cell(length, i, j + 1))) {
      push(pieces, "removed", old[i++] as string);
    } else {
      push(pieces, "added", now[j++] as string);
    }
  }
  const isSpace = (text: string) => !text.trim();
  const shared = pieces.filter((each) => each.kind === "same").flatMap((each) => wordsOf(each.text)).filter((each) => !isSpace(each)).length;
  const fewer = Math.min(...[old, now].map((words) => words.filter((each) => !isSpace(each)).length));
  return shared < SHARED_MIN * fewer ? whole : inPhrases(pieces);
}

/** Pieces with changes between which only a space is the same joined: one phrase out, and one in, rather than word by word. */
function inPhrases(pieces: readonly Piece[]): Piece[] {
  const found: Piece[] = [];
  for (let start = 0; start < pieces.length; ) {
    let end = start;
    while (pieces[end] && (pieces[end]?.kind !== "same" || (end > start && pieces[end + 1] && !pieces[end]?.text.trim()))) end++;
    const joined = (kind: Piece["kind"]) => pieces.slice(start, end).filter((each) => each.kind !== kind).map((each) => each.text).join("");
    const [removed, added] = [joined("added"), joined("removed")];
    if (removed.trim()) found.push({ kind: "removed", text: removed });
    if (added.trim()) found.push({ kind: "added", text: added });
    const same = pieces[end];
    if (same) found.push(same);
    start = end + 1;
  }
  return found;
}

function lengths(old: string[], now: string[]): number[][] {
  const table = Array.from({ length: old.length + 1 }, () => new Array<number>(now.length + 1).fill(0));
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      const row = table[i] as number[];
      row[j] = old[i] === now[j] ? cell(table, i + 1, j + 1) + 1 : Math.max(cell(table, i + 1, j), cell(table, i, j + 1));
    }
  }
  return table;
}

function cell(table: number[][], i: number, j: number): number {
  return table[i]?.[j] ?? 0;
}

function push(pieces: Piece[], kind: Piece["kind"], text: string): void {
  const last = pieces[pieces.length - 1];
  if (last && last.kind === kind) last.text += text;
  else pieces.push({ kind, text });
}
