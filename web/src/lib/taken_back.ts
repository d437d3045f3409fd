/** Messages that had brought something into memory that was undone or deleted since. */

import type { Formation, Memory, Message, Revision } from "../api/shapes";

type Address = Pick<Memory, "type" | "key">;

/** Positions after which, and up to which, a formation read messages. */
export interface ReadRange {
  after: number;
  last: number;
}

/** What formations read in a thread of which nothing that they stored is left. */
export function forgottenIn(formations: readonly Formation[], thread: string, isThere: (address: Address) => boolean): ReadRange[] {
  const oldestFirst = formations.filter((each) => each.watermarks[thread] !== undefined).sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
  return oldestFirst.flatMap(({ watermarks, receipt }, place) => {
    const stored = (receipt.outcomes ?? []).filter((each) => each.action === "stored");
    if (!stored.length || stored.some(isThere)) return [];
    return [{ after: oldestFirst[place - 1]?.watermarks[thread] ?? 0, last: watermarks[thread] ?? 0 }];
  });
}

/** The documents that formations of a thread changed. */
export function changedIn(formations: readonly Formation[], thread: string): Address[] {
  const outcomes = formations.filter((each) => each.watermarks[thread] !== undefined).flatMap((each) => each.receipt.outcomes ?? []);
  const changed = outcomes.filter((each) => each.action === "changed" || each.action === "merged");
  return [...new Map(changed.map(({ type, key }) => [`${type}/${key}`, { type, key }])).values()];
}

/** The messages of a thread on which a memory rested until that was undone, and does not rest again. */
export function undoneIn(revisions: readonly Revision[], thread: string): ReadonlySet<string> {
  const oldestFirst = [...revisions].sort((one, other) => one.version - other.version);
  const undone = new Set<string>();
  let before = new Set<string>();
  for (const revision of oldestFirst) {
    const cited = new Set(Object.values(revision.evidence).flat().filter((each) => each.thread === thread).map((each) => each.message));
    // What brings an undone message back takes back the undo, and no other message.
    const isRedo = [...cited].some((message) => undone.has(message));
    if (revision.cause === "undone" && !isRedo) for (const message of before) undone.add(message);
    for (const message of cited) undone.delete(message);
    before = cited;
  }
  return undone;
}

/** The messages at which it is said: of what a formation read, the last that the user said. */
export function takenBack(messages: readonly { id: string; role: Message["role"]; position: number | null }[], ranges: readonly ReadRange[], undone: ReadonlySet<string>): ReadonlySet<string> {
  const found = new Set(undone);
  for (const { after, last } of ranges) {
    const read = messages.filter((each) => each.role === "user" && each.position !== null && each.position > after && each.position <= last);
    const spoken = read[read.length - 1];
    if (spoken) found.add(spoken.id);
  }
  return found;
}
