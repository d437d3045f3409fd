/** The erases of one act: of the target, and of the messages that quote it and are to go with it. */

import type { EraseTarget, Quotation } from "../api/shapes";

/** Whether the word that confirms an erase was typed: in any case, and with blanks around it, as phones write it. */
export const isTyped = (typed: string, word: string): boolean => typed.trim().toLowerCase() === word.toLowerCase();

export const nameOf = ({ thread, message }: Pick<Quotation, "thread" | "message">): string => JSON.stringify([thread, message]);

/** One erase for the target, with the messages of its thread if it is a message; then one for each other thread. */
export function planOf(target: EraseTarget, also: readonly Pick<Quotation, "thread" | "message">[]): EraseTarget[] {
  const threads = new Map<string, string[]>();
  for (const { thread, message } of also) threads.set(thread, [...(threads.get(thread) ?? []), message]);
  let first = target;
  if ("message" in target) {
    const { thread, id } = target.message;
    const ids = threads.get(thread);
    if (ids) first = { messages: { thread, ids: [id, ...ids.filter((each) => each !== id)] } };
    threads.delete(thread);
  }
  return [first, ...[...threads].map(([thread, ids]): EraseTarget => ({ messages: { thread, ids } }))];
}
