/** One change to many memories: in parts that the service makes whole or not at all, and one way back. */

import { isConflict, isGone, mayBeDone, Problem } from "../api/problem";
import type { Chosen } from "./chosen";
import type { Token } from "./undo_tokens";

/** So many are changed by a request. */
export const AT_ONCE = 100;
/** So many at most are chosen. */
export const CHOSEN_MAX = 5_000;

export type BulkAct = "delete" | "end" | "approve" | "reject";

export interface BulkResult {
  changed: number;
  /** Those that were left as they are, and why. */
  refused: { memory: Chosen; error: unknown }[];
  tokens: Token[];
  /** Those that it did not come to. */
  left: Chosen[];
  /** Why it was not gone on with, if it was not. */
  stopped: unknown;
}

/** Which of those chosen an act is for: only what waits can be approved, and only what is not refused be rejected. */
export function meantBy(act: BulkAct, chosen: readonly Chosen[]): Chosen[] {
  if (act === "approve") return chosen.filter((each) => each.state === "quarantined");
  if (act === "reject") return chosen.filter((each) => each.state !== "rejected");
  return [...chosen];
}

/** The chosen of each scope, in parts for a request. */
export function partsIn(chosen: readonly Chosen[], size = AT_ONCE): Chosen[][] {
  const byScope = new Map<string, Chosen[]>();
  for (const each of chosen) {
    const place = JSON.stringify(each.scope);
    const all = byScope.get(place);
    if (all) all.push(each);
    else byScope.set(place, [each]);
  }
  return [...byScope.values()].flatMap((all) => Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size)));
}

/** Whether a smaller part may go well: one of it was changed since, or all of it is too much to be taken back. */
const isOfPart = (error: unknown): boolean => isConflict(error) || isGone(error) || (error instanceof Problem && error.status === 422);

/**
 * Change the chosen, part by part; a part that is refused is halved until the one is found that refuses.
 *
 * Any other failure, and `stop`, ends it: what was changed until then is told, with its way back.
 */
export async function changeAll(
  parts: readonly (readonly Chosen[])[],
  send: (part: readonly Chosen[]) => Promise<{ changed: number; undo?: string | null }>,
  progress: (done: number) => void,
  stop?: AbortSignal,
): Promise<BulkResult> {
  const result: BulkResult = { changed: 0, refused: [], tokens: [], left: [], stopped: undefined };
  const rest = parts.map((each) => [...each]).reverse();
  while (rest.length && !stop?.aborted) {
    const part = rest.pop() as Chosen[];
    try {
      const { changed, undo } = await send(part);
      result.changed += changed;
      if (undo) result.tokens.push({ scope: part[0]?.scope ?? [], undo });
    } catch (error) {
      if (!isOfPart(error)) {
        result.stopped = error;
        rest.push(part);
        break;
      }
      const middle = Math.ceil(part.length / 2);
      if (part.length > 1) rest.push(part.slice(middle), part.slice(0, middle));
      else result.refused.push({ memory: part[0] as Chosen, error });
    }
    progress(result.changed + result.refused.length);
  }
  result.left = rest.reverse().flat();
  return result;
}

/** Make a request; where its answer was lost, once more under the same key, so that it is carried out once. */
export async function sentOnce<T>(send: (key: string) => Promise<T>): Promise<T> {
  const key = crypto.randomUUID();
  try {
    return await send(key);
  } catch (error) {
    if (!mayBeDone(error)) throw error;
    return send(key);
  }
}
