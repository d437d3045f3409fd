/** How many memories there are, counted in one way everywhere: those in force, and apart from them what has ended, waits or was rejected. */

import type { MemoryCounts } from "../api/shapes";

/** Memories that are in force by type, most first, and how many others have ended. */
export interface InForce {
  total: number;
  ended: number;
  types: { type: string; count: number }[];
}

type Counted = Pick<MemoryCounts, "total" | "types">;

export const NO_COUNTS: InForce = { total: 0, ended: 0, types: [] };
export const NOTHING: MemoryCounts = { total: 0, types: {}, states: {}, recalls: null };

/** Of the counts of those in force, and of all that are neither rejected nor waiting. */
export function inForceOf(inForce: Counted, all: Counted): InForce {
  const types = Object.entries(inForce.types).filter(([, count]) => count > 0).map(([type, count]) => ({ type, count }));
  return { total: inForce.total, ended: Math.max(0, all.total - inForce.total), types: types.sort((one, other) => other.count - one.count) };
}

type CountWord = "memories.total" | "overview.ended_count" | "memories.waiting_count" | "memories.rejected_count";

/** The rows of a listing in these words, of which so many are in force; `state` is the one that it is limited to. */
export function countedOf({ total, states }: Pick<MemoryCounts, "total" | "states">, state: string, inForce: number): [CountWord, number][] {
  const has = (each: string) => !state || state === each;
  const [waiting, rejected] = [has("quarantined") ? (states.quarantined ?? 0) : 0, has("rejected") ? (states.rejected ?? 0) : 0];
  const active = has("active") ? inForce : 0;
  const counts: [CountWord, number][] = [["memories.total", active], ["overview.ended_count", Math.max(0, total - active - waiting - rejected)], ["memories.waiting_count", waiting], ["memories.rejected_count", rejected]];
  const some = counts.filter(([, count]) => count > 0);
  return some.length ? some : counts.slice(0, 1);
}
