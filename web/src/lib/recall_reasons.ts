/** Why entries of a recall stand where they do, and why one that was expected does not. */

import type { Memory, RecallAnswer, RecallEntry } from "../api/shapes";
import { endOf } from "./days";
import { shareOf, type RecallSettings } from "./recall_settings";

export interface SignalShare {
  name: string;
  part: number;
}

/** By how much one entry stands above another, what decides most, and all else together: they add up as they are shown. */
export interface WhyAbove {
  by: number;
  shares: SignalShare[];
  rest: number;
}

type Scored = Pick<RecallEntry, "score" | "signals">;

const DECIDING = 3;
/** A score that is further from the sum of its parts is none: a reranker gave it. */
const SUM_TOLERANCE = 0.02;

const rounded = (value: number): number => Math.round(value * 100);

/** The score and its parts as they are shown, in hundredths: rounded so that the parts add up to the score. */
export function shownParts({ score, signals }: Scored): { score: number; parts: number[] } {
  const whole = rounded(score);
  const parts = signals.map((each) => rounded(each.part));
  const sum = signals.reduce((total, each) => total + each.part, 0);
  if (Math.abs(sum - score) > SUM_TOLERANCE) return { score: whole, parts };
  const missing = whole - parts.reduce((total, each) => total + each, 0);
  const step = Math.sign(missing);
  // Those that lost most by the rounding get it back.
  const byLoss = signals.map((each, place) => ({ place, loss: (each.part * 100 - (parts[place] ?? 0)) * step })).sort((one, other) => other.loss - one.loss);
  for (const { place } of byLoss.slice(0, Math.abs(missing))) parts[place] = (parts[place] ?? 0) + step;
  return { score: whole, parts };
}

function partsByName(entry: Scored): Map<string, number> {
  const found = new Map<string, number>();
  shownParts(entry).parts.forEach((part, place) => {
    const name = entry.signals[place]?.name ?? "";
    found.set(name, (found.get(name) ?? 0) + part);
  });
  return found;
}

export function whyAbove(upper: Scored, lower: Scored): WhyAbove {
  const [above, below] = [partsByName(upper), partsByName(lower)];
  const differing = [...new Set([...above.keys(), ...below.keys()])]
    .map((name) => ({ name, part: (above.get(name) ?? 0) - (below.get(name) ?? 0) }))
    .filter((each) => each.part !== 0)
    .sort((one, other) => Math.abs(other.part) - Math.abs(one.part));
  const by = rounded(upper.score) - rounded(lower.score);
  const shares = differing.length === DECIDING + 1 ? differing : differing.slice(0, DECIDING);
  const rest = by - shares.reduce((total, each) => total + each.part, 0);
  return { by: by / 100, shares: shares.map((each) => ({ ...each, part: each.part / 100 })), rest: rest / 100 };
}

/** The signals that speak alike for all entries: these decide nothing. */
export function sharedSignals(entries: readonly Scored[]): ReadonlySet<string> {
  if (entries.length < 2) return new Set();
  const [first = new Map<string, number>(), ...others] = entries.map(partsByName);
  return new Set([...first.keys()].filter((name) => others.every((each) => each.get(name) === first.get(name))));
}

/** The part that each signal has in the entry in the middle, in hundredths: what an entry has beside that tells it from the others. A single entry stands beside nothing. */
export function middleParts(entries: readonly Scored[]): ReadonlyMap<string, number> {
  const all = entries.length > 1 ? entries.map(partsByName) : [];
  const middle = (name: string) => all.map((each) => each.get(name) ?? 0).sort((one, other) => one - other)[Math.floor((all.length - 1) / 2)] ?? 0;
  return new Map([...new Set(all.flatMap((each) => [...each.keys()]))].map((name) => [name, middle(name)]));
}

/** The signals of an entry that tell it from the others, in hundredths, most first; what has no part in it tells nothing. */
export function tellingParts(entry: Scored, middle: ReadonlyMap<string, number>): SignalShare[] {
  const apart = ({ name, part }: SignalShare) => Math.abs(part - (middle.get(name) ?? 0));
  const parts = [...partsByName(entry)].map(([name, part]) => ({ name, part })).filter((each) => each.part !== 0 && apart(each) > 0);
  return parts.sort((one, other) => apart(other) - apart(one)).slice(0, DECIDING);
}

const LONGEST = 2;

/** What stands below a bar: what tells the entry from the others, and the longest parts of the bar, which all may have alike. */
export function legendOf(entry: Scored, middle: ReadonlyMap<string, number>): SignalShare[] {
  const telling = tellingParts(entry, middle);
  const longest = [...partsByName(entry)].map(([name, part]) => ({ name, part })).sort((one, other) => other.part - one.part).slice(0, LONGEST);
  return [...telling, ...longest.filter((each) => each.part > 0 && !telling.some(({ name }) => name === each.name))];
}

/** How wide each part of a bar is, of the width of the best entry: what speaks for it, as long together as the score is high. What tells it from the others comes first. */
export function barOf({ score, signals }: Scored, most: number, middle: ReadonlyMap<string, number> = new Map()): { name: string; share: number }[] {
  const [length, pieces] = [Math.max(0, score) / Math.max(most, 0.001), signals.filter((each) => each.part > 0.0005)];
  const sum = pieces.reduce((total, each) => total + each.part, 0);
  const apart = ({ name, part }: SignalShare) => Math.abs(part - (middle.get(name) ?? 0) / 100);
  return [...pieces].sort((one, other) => apart(other) - apart(one)).map(({ name, part }) => ({ name, share: (part / sum) * length }));
}

/** From this relevance on an entry clearly bears on the question, with vectors and by words alone: what is below is told to no prompt if it is the best. */
export const CLEAR_FROM = { vectors: 0.025, words: 0.0125 } as const;

/** What is about oneself counts .3; a profile that has the field which is asked for is raised by more. */
const RAISED_FROM = 1;

/** Whether a profile answers a question about oneself: its other fields make it little like the question. */
const hasAskedField = ({ signals }: Pick<RecallEntry, "signals">): boolean => signals.some(({ name, part }) => name === "personal" && part >= RAISED_FROM);

/** Whether an entry clearly bears on the question, or only might: by the floor that was asked for, if there is one. */
export const isClear = (entry: Pick<RecallEntry, "relevance" | "signals">, by: keyof typeof CLEAR_FROM, floor: number): boolean =>
  floor > 0 || entry.relevance >= CLEAR_FROM[by] || hasAskedField(entry);

type Named = Pick<RecallEntry, "kind" | "id" | "type" | "key" | "thread">;

/** By which an entry is the same in two answers. */
export const entryName = (entry: Named): string => (entry.kind === "memory" ? `memory ${entry.type} ${entry.key}` : `message ${entry.thread} ${entry.id}`);

/** The place of each entry of an answer, from 1. */
export const placesIn = (answer: Pick<RecallAnswer, "entries"> | null | undefined): ReadonlyMap<string, number> => new Map((answer?.entries ?? []).map((each, place) => [entryName(each), place + 1]));

/** Places in a row as a reader writes them: "1, 3–6". */
export const placesText = (places: readonly number[]): string =>
  places.map((each, at) => (places[at - 1] !== each - 1 ? `, ${each}` : places[at + 1] === each + 1 ? "" : `–${each}`)).join("").slice(2);

/** So many entries are looked through for one that is missing. */
export const WIDE = 200;

export type Verdict =
  | { word: "here"; rank: number }
  | { word: "limit"; rank: number; limit: number }
  | { word: "budget"; tokens: number }
  | { word: "repeats" | "empty" }
  | { word: "floor"; relevance: number; floor: number }
  | { word: "waits" | "rejected" | "messages" | "far" }
  | { word: "ended" | "later" | "unknown"; at: string };

/** What became of an entry in an answer; `wide` is the same recall with nothing cut off. */
export function verdictOn(entry: Named & { content?: RecallEntry["content"]; tokens?: number }, asked: RecallSettings, answer: RecallAnswer, wide: RecallAnswer, now: number): Verdict {
  const name = entryName(entry);
  const at = (entries: readonly RecallEntry[]) => entries.findIndex((each) => entryName(each) === name);
  const rank = at(answer.entries) + 1;
  if (rank) return { word: "here", rank };
  const wideRank = at(wide.entries) + 1;
  const wideEntry = wide.entries[wideRank - 1];
  const floor = shareOf(asked.floor);
  const dropped = answer.dropped[at(answer.dropped)];
  if (dropped?.reason === "budget") return { word: "budget", tokens: dropped.tokens };
  const left = [dropped?.reason, wideEntry ? undefined : wide.dropped[at(wide.dropped)]?.reason];
  for (const word of ["repeats", "empty"] as const) if (left.includes(word)) return { word };
  if (dropped?.reason === "score" || (wideEntry && wideEntry.relevance < floor)) return { word: "floor", relevance: (dropped ?? wideEntry)?.relevance ?? 0, floor };
  if (wideRank) return { word: "limit", rank: wideRank, limit: Number(asked.limit) };
  return entry.kind === "message" ? { word: asked.among === "memories" ? "messages" : "far" } : hiddenBecause(entry.content as Memory | null | undefined, asked, now);
}

/** Why a memory cannot be found at all, or only far down. */
function hiddenBecause(memory: Memory | null | undefined, { on, known }: RecallSettings, now: number): Verdict {
  if (!memory) return { word: "far" };
  if (memory.state === "quarantined") return { word: "waits" };
  if (memory.state === "rejected") return { word: "rejected" };
  if (known && Date.parse(memory.created_at) > Date.parse(endOf(known))) return { word: "unknown", at: memory.created_at };
  const moment = on ? Date.parse(endOf(on)) : now;
  if (memory.valid_until && Date.parse(memory.valid_until) <= moment) return { word: "ended", at: memory.valid_until };
  if (memory.valid_from && Date.parse(memory.valid_from) > moment) return { word: "later", at: memory.valid_from };
  return { word: "far" };
}
