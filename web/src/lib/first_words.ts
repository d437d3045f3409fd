/** The words that a thread is known by, asked of the service. */

import { api } from "../api/client";
import type { Scope } from "../api/shapes";
import { wordsOf } from "./thread_titles";

/** So many messages are looked at for one of the user. */
export const BEGIN_MESSAGES = 5;
/** What is being asked for: several places on a screen name the same thread. */
const asking = new Map<string, Promise<string>>();

/** What the user said first in a thread; one that begins with a system prompt or a greeting is not known by that. */
export function firstWords(scope: Scope, id: string): Promise<string> {
  const name = JSON.stringify([scope, id]);
  const read = async (limit: number) => (await api.messages(scope, id, { after: 0, limit })).messages;
  const found = asking.get(name) ?? read(1).then(async ([first]) => (!first || first.role === "user" ? (first?.text ?? "") : wordsOf(await read(BEGIN_MESSAGES)))).finally(() => asking.delete(name));
  asking.set(name, found);
  return found;
}
