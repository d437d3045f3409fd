/** How many memories are in force, asked of the service. */

import { api } from "../api/client";
import type { MemoryCounts, Scope } from "../api/shapes";
import { inForceOf, NOTHING, type InForce } from "./counts";
import { isToday, momentOf, momentsOf, type Days } from "./time";

interface Counting {
  type?: string;
  below?: boolean;
  valid_at?: string;
  known_at?: string;
}

const counted = async (scope: Scope, of: Counting): Promise<MemoryCounts> => (await api.memories(scope, { order: "newest", limit: 1, state: "active", ...of })).counts ?? NOTHING;

/** The memories in force on a day: true then, neither rejected nor waiting. */
export const inForceOn = (scope: Scope, days: Days, of: Counting = {}): Promise<MemoryCounts> => counted(scope, { ...of, valid_at: momentOf(days) || new Date().toISOString(), ...momentsOf(days) });

/** How many memories are in force on a day; of today, how many others have ended. */
export async function countsInForce(scope: Scope, days: Days): Promise<InForce> {
  const inForce = inForceOn(scope, days);
  return inForceOf(...(await Promise.all([inForce, isToday(days) ? counted(scope, {}) : inForce])));
}
