/** Why entries of a recall stand where they do, and why one that was expected does not. */

import type { Memory, RecallAnswer, RecallEntry } from "../api/shapes";
import { endOf } from "./days";
import { shareOf, type RecallSettings } from "./recall_settings";

export interface SignalShare {
  name: string;
  part: number;
}

/** By how much one entry stands above another, what speaks most for it, and what for the other. */
export interface WhyAbove {
  by: number;
  leads: SignalShare[];
  against: SignalShare[];
}

const SHARE_MIN = 0.005;
const LEADS = 2;

export function whyAbove(upper: Pick<RecallEntry, "score" | "signals">, lower: Pick<RecallEntry, "score" | "signals">): WhyAbove {
  const parts = new Map<string, number>();
  for (const each of upper.signals) parts.set(each.name, (parts.get(each.name) ?? 0) + each.part);
  for (const each of lower.signals) parts.set(each.name, (parts.get(each.name) ?? 0) - each.part);
  const shares = [...parts].map(([name, part]) => ({ name, part })).filter((each) => Math.abs(each.part) >= SHARE_MIN).sort((one, other) => Math.abs(other.part) - Math.abs(one.part));
  return { by: upper.score - lower.score, leads: shares.filter((each) => each.part > 0).slice(0, LEADS), against: shares.filter((each) => each.part < 0).slice(0, 1) };
}

type Named = Pick<RecallEntry, "kind" | "id" | "type" | "key" | "thread">;

/** By which an entry is the same in two answers. */
export const entryName = (entry: Named): string => (entry.kind === "memory" ? `memory ${entry.type} ${entry.key}` : `message ${entry.thread} ${entry.id}`);

/** The place of each entry of an answer, from 1. */
export const placesIn = (answer: Pick<RecallAnswer, "entries"> | null | undefined): ReadonlyMap<string, number> => new Map((answer?.entries ?? []).map((each, place) => [entryName(each), place + 1]));

/** So many entries are looked through for one that is missing. */
export const WIDE = 200;

export type Verdict =
  | { word: "here"; rank: number }
  | { word: "limit"; rank: number; limit: number }
  | { word: "budget"; tokens: number }
  | { word: "repeats" }
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
  if (dropped?.reason === "repeats" || (!wideEntry && wide.dropped[at(wide.dropped)]?.reason === "repeats")) return { word: "repeats" };
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
