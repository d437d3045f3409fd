/** What a formation did, in as few words as its receipt allows. */

import type { Formation, FormAnswer, Outcome } from "../api/shapes";

const ACTIONS = ["stored", "changed", "merged", "ended", "dropped", "unchanged", "quarantined", "refused"] as const;
export type Action = (typeof ACTIONS)[number];
const WRITES: ReadonlySet<string> = new Set(["stored", "changed", "merged", "ended", "quarantined"]);

export interface Summary {
  /** How often each thing was done, in the order of `ACTIONS`. */
  counts: [Action, number][];
  /** What stands in the place of counts where there are none, or why they are not all. */
  word: "erased" | "nothing" | "nothing_to_merge" | null;
  reason: string | null;
}

/** What one formation did: counts, a reason, or why neither is there. */
export function summaryOf(formation: Formation): Summary {
  const { receipt, status } = formation;
  const counts = countsOf(formation);
  const reason = receipt.reason?.trim() || null;
  if (counts.length || reason) return { counts, word: null, reason };
  if (isBlank(receipt)) return { counts, word: "erased", reason };
  return { counts, word: status === "consolidated" ? "nothing_to_merge" : "nothing", reason };
}

/** Whether a formation did nothing, and that is all that there is to say of it. */
export const isIdle = (formation: Formation): boolean => {
  const { word } = summaryOf(formation);
  return (formation.status === "formed" || formation.status === "consolidated") && (word === "nothing" || word === "nothing_to_merge");
};

/** So many in a row that did nothing are folded into one. */
const FOLDED_FROM = 3;

/** Formations in their order, those in a row that did nothing together. */
export function folded(formations: readonly Formation[]): Formation[][] {
  const runs: Formation[][] = [];
  for (const each of formations) {
    const last = runs.at(-1);
    if (last?.[0] && isIdle(last[0]) && isIdle(each)) last.push(each);
    else runs.push([each]);
  }
  return runs.flatMap((each) => (each.length < FOLDED_FROM ? each.map((one) => [one]) : [each]));
}

/** An erase in the scope takes what receipts say; counts may be left. */
export const isBlank = (receipt: Formation["receipt"]): boolean => receipt.erased === true || (receipt.outcomes === undefined && receipt.reason === undefined);

/** Counts as the receipt has them, or else of its outcomes; what the model's faults were is counted as refused. */
function countsOf({ receipt }: Formation): [Action, number][] {
  const { counts, outcomes = [], refused = [], refused_left_out = 0 } = receipt;
  const faults = refused.length + refused_left_out;
  return ACTIONS.flatMap((action): [Action, number][] => {
    const done = counts ? (counts[action] ?? 0) : outcomes.filter((each: Outcome) => each.action === action).length;
    const count = action === "refused" ? done + faults : done;
    return count > 0 ? [[action, count]] : [];
  });
}

export interface Formed {
  /** Why something was not formed; empty where that is not for everybody to know, null if all was. */
  failure: string | null;
  isAny: boolean;
  /** How many memories were written. */
  written: number;
  waiting: number;
  refused: number;
}

/** What came of asking to form now. */
export function formedBy({ formations, results }: FormAnswer): Formed {
  const sum = (wanted: (action: Action) => boolean) =>
    formations.flatMap((each) => summaryOf(each).counts).reduce((total, [action, count]) => total + (wanted(action) ? count : 0), 0);
  const failed = results.filter((each) => each.end !== "formed" && each.end !== "lost");
  return {
    failure: failed.length ? (failed.find((each) => each.reason)?.reason ?? "") : null,
    isAny: results.some((each) => each.end === "formed"),
    written: sum((action) => WRITES.has(action) && action !== "quarantined"),
    waiting: sum((action) => action === "quarantined"),
    refused: sum((action) => action === "refused"),
  };
}

export const actionOf = (action: string): Action | null => ACTIONS.find((each) => each === action) ?? null;

/** The threads that it was about: those that were given up, or formed; of one that failed, and is tried again, those that it read. */
export const threadsOf = ({ failed, watermarks, receipt: { read = {} } }: Pick<Formation, "failed" | "watermarks" | "receipt">): string[] =>
  [failed, watermarks, read].map(Object.keys).find((each) => each.length) ?? [];
