/** What stands at the address of a memory. */

import { api } from "../api/client";
import { isGone } from "../api/problem";
import type { Memory, Scope } from "../api/shapes";

/** What stands now where a memory stood, null if nothing does. */
export function standing(scope: Scope, { type, key }: Pick<Memory, "type" | "key">): Promise<Memory | null> {
  return api.memory(scope, type, key).catch((error: unknown) => (isGone(error) ? null : Promise.reject(error)));
}
