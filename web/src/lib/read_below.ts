/** What waits for a person in the scopes below, as the service tells it. */

import { api } from "../api/client";
import type { Scope } from "../api/shapes";
import { gaveUp } from "./given_up";
import { placesOf, type Places } from "./places_below";

/** So many are counted: of more it is said that there are more. */
const READ = 200;

/** Where memories wait for a decision. */
export async function waitingBelow(own: Scope): Promise<Places> {
  const { memories, cursor } = await api.memories(own, { state: "quarantined", below: true, limit: READ });
  return placesOf(memories.map((each) => each.scope), own, Boolean(cursor));
}

/** Where messages were given up, or a formation failed and is tried again. */
export async function failingBelow(own: Scope): Promise<Places> {
  const [dead, backlog] = await Promise.all([api.formations(own, null, READ, { status: "dead", below: true }), api.pending(own, { below: true })]);
  const failing = [...dead.formations.filter((each) => gaveUp(each)), ...backlog.pending.filter((each) => each.attempts > 0)];
  return placesOf(failing.map((each) => each.scope), own, Boolean(dead.cursor));
}
