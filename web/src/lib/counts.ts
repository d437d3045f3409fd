/** How many memories there are, counted in one way everywhere: those in force, and apart from them what has ended, begins later, waits or was rejected. */

import type { MemoryCounts } from "../api/shapes";

/** Memories that are in force by type, most first, and how many others have ended, or begin later. */
export interface InForce {
  total: number;
  ended: number;
  later: number;
  types: { type: string; count: number }[];
}

type Counted = Pick<MemoryCounts, "total" | "types">;

export const NO_COUNTS: InForce = { total: 0, ended: 0, later: 0, types: [] };
export const NOTHING: MemoryCounts = { total: 0, types: {}, states: {}, recalls: null };

/** Of the counts of those in force, and of all that are neither rejected nor waiting, of which so many begin later. */
export function inForceOf(inForce: Counted, all: Counted, later = 0): InForce {
  const types = Object.entries(inForce.types).filter(([, count]) => count > 0).map(([type, count]) => ({ type, count }));
  return { total: inForce.total, ended: Math.max(0, all.total - inForce.total - later), later, types: types.sort((one, other) => other.count - one.count) };
}

type CountWord = "memories.total" | "overview.ended_count" | "memories.later_count" | "memories.waiting_count" | "memories.rejected_count";

/** The rows of a listing in these words, of which so many are in force, and so many begin later; `state` is the one that it is limited to. */
export function countedOf({ total, states }: Pick<MemoryCounts, "total" | "states">, state: string, inForce: number, beginLater = 0): [CountWord, number][] {
  const has = (each: string) => !state || state === each;
  const [waiting, rejected] = [has("quarantined") ? (states.quarantined ?? 0) : 0, has("rejected") ? (states.rejected ?? 0) : 0];
  const [active, later] = has("active") ? [inForce, beginLater] : [0, 0];
  const counts: [CountWord, number][] = [["memories.total", active], ["overview.ended_count", Math.max(0, total - active - later - waiting - rejected)], ["memories.later_count", later], ["memories.waiting_count", waiting], ["memories.rejected_count", rejected]];
  const some = counts.filter(([, count]) => count > 0);
  return some.length ? some : counts.slice(0, 1);
}
