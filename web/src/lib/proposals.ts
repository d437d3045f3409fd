/** What a proposal would change, asked of the service. */

import { api } from "../api/client";
import { isGone } from "../api/problem";
import type { Memory, Scope } from "../api/shapes";
import { proposedFor } from "./waiting";

export type Before = Pick<Memory, "value" | "sentence" | "evidence">;

/** The version for which a change was proposed; none where it was erased since. */
export async function versionBefore(scope: Scope, { type, key }: Pick<Memory, "type" | "key">): Promise<Before | undefined> {
  const proposed = proposedFor(key);
  if (!proposed) return undefined;
  try {
    const { revisions } = await api.history(scope, type, proposed.key);
    return revisions.find((each) => each.version === proposed.version);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}
