/** The messages of a thread as the page knows them, and what on its way to the service has become of it. */

import type { Message } from "../api/shapes";
import type { Unsent } from "./outbox";

type Placed = Pick<Message, "id" | "position">;

/**
 * The known messages with the newest ones as the service has them now.
 *
 * What stands before the newest ones stays, unless messages between the two may be missing or the newest are all
 * there are: what was before them then has been erased.
 */
export function withNewest<M extends Placed>(known: readonly M[], newest: readonly M[], isAll = false): M[] {
  const first = newest[0];
  if (!first) return [];
  const isJoined = !isAll && known.some((each) => each.position >= first.position);
  return isJoined ? [...known.filter((each) => each.position < first.position), ...newest] : [...newest];
}

/** The known messages with earlier ones before them. */
export function withEarlier<M extends Placed>(known: readonly M[], earlier: readonly M[]): M[] {
  const first = known[0]?.position ?? Infinity;
  return [...earlier.filter((each) => each.position < first), ...known];
}

/** The known messages with one that was just kept. */
export function withKept<M extends Placed>(known: readonly M[], kept: M): M[] {
  return [...known.filter((each) => each.position < kept.position), kept, ...known.filter((each) => each.position > kept.position)];
}

/** What is known of a message on its way, once these messages of its place are known; null if no more than before. */
export function settled(entry: Unsent, known: readonly Pick<Message, "id" | "position" | "role" | "text">[]): "answered" | { message: string } | null {
  if (entry.state === "sending") return null;
  const kept = known.find((each) => (entry.message ? each.id === entry.message : isIt(entry, each)));
  if (!kept) return null;
  const next = known.find((each) => each.position > kept.position);
  if (next?.role === "assistant") return "answered";
  return entry.message ? null : { message: kept.id };
}

/** A message that was not acknowledged is the one that came after it was said, with its words. */
const isIt = (entry: Unsent, message: Pick<Message, "position" | "role" | "text">): boolean =>
  entry.isUnsure && message.role === "user" && message.position > entry.after && message.text === entry.text;

/**
 * How many messages are gone before each one that is shown, by its id: a position is given once, so that an erase leaves a gap.
 *
 * `lost` is how many are gone of the whole thread: those after the last message are told before what is on its way, or under "".
 * What was not read, before the first message or after the one at `between`, is not gone.
 */
export function gapsIn(shown: readonly { id: string; position: number | null }[], lost: number, isWhole: boolean, between?: number): ReadonlyMap<string, number> {
  const gaps = new Map<string, number>();
  if (lost <= 0) return gaps;
  let left = lost;
  let before = isWhole ? 0 : between;
  for (const { id, position } of shown) {
    if (position === null) break;
    const gap = before === undefined || before === between ? 0 : position - before - 1;
    if (gap > 0) gaps.set(id, gap);
    left -= gap;
    before = position;
  }
  if (isWhole && between === undefined && left > 0) gaps.set(shown.find((each) => each.position === null)?.id ?? "", left);
  return gaps;
}
