/** What was learnt from a message, as it was learnt then: a memory may say something else since. */

import { api } from "../api/client";
import type { Memory, Revision, Scope } from "../api/shapes";

/** A version as a message brought it: what it said, and in which places because of the message. */
export interface Learnt extends Pick<Revision, "value" | "sentence"> {
  pointers: string[];
}

/** The first version that rests on a message. */
export function learntFrom(revisions: readonly Revision[], thread: string, message: string): Learnt | undefined {
  const oldestFirst = [...revisions].sort((one, other) => one.version - other.version);
  for (const { value, sentence, evidence } of oldestFirst) {
    const pointers = Object.keys(evidence).filter((each) => evidence[each]?.some((cited) => cited.thread === thread && cited.message === message));
    if (pointers.length) return { value, sentence, pointers };
  }
  return undefined;
}

const FIRST_VIEW_MS = 4_000;
/** Until the first view is there it alone is loaded. */
const afterFirstView = () => new Promise<void>((resolve) => setTimeout(resolve, Math.max(0, FIRST_VIEW_MS - performance.now())));

const underWay = new Map<string, ReturnType<typeof api.history>>();

/** The versions of a memory, asked for once for all messages beside which it stands. */
export function versionsOf(scope: Scope, { type, key }: Pick<Memory, "type" | "key">): ReturnType<typeof api.history> {
  const name = JSON.stringify([scope, type, key]);
  const asked = underWay.get(name) ?? afterFirstView().then(() => api.history(scope, type, key)).finally(() => underWay.delete(name));
  underWay.set(name, asked);
  return asked;
}
