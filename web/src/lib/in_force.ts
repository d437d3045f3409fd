/** How many memories are in force, asked of the service. */

import { api } from "../api/client";
import type { MemoryCounts, Scope } from "../api/shapes";
import { inForceOf, NOTHING, type InForce } from "./counts";
import { isLater } from "./past";
import { isToday, listedMoments, momentOf, momentsOf, type Days } from "./time";

interface Counting {
  type?: string;
  below?: boolean;
  valid_at?: string;
  known_at?: string;
  said_until?: string;
}

/** So many of the newest are looked through for those that begin later: these are listed first. */
const LOOKED_THROUGH = 100;

const newest = (scope: Scope, of: Counting, limit = 1) => api.memories(scope, { order: "newest", limit, state: "active", ...of });

/** The memories in force on a day: true then, neither rejected nor waiting. */
const inForceOn = async (scope: Scope, days: Days, of: Counting = {}): Promise<MemoryCounts> => (await newest(scope, { ...of, valid_at: momentOf(days) || new Date().toISOString(), ...listedMoments(days) })).counts ?? NOTHING;

/** How many begin to be true only after the moment that is looked at; what was true on a day has none. */
async function laterOn(scope: Scope, days: Days, of: Counting, first?: ReturnType<typeof newest>): Promise<number> {
  if (days.on) return 0;
  const moment = momentOf(days);
  const at = moment ? Date.parse(moment) : Date.now();
  const known = { ...of, known_at: momentsOf(days).known_at };
  const later = async (found: ReturnType<typeof newest>) => (await found).memories.filter((each) => isLater(each, at)).length;
  return (await later(first ?? newest(scope, known))) && (await later(newest(scope, known, LOOKED_THROUGH)));
}

/** The memories in force on a day, and how many of the others begin later. */
export async function countsOn(scope: Scope, days: Days, of: Counting = {}): Promise<MemoryCounts & { later: number }> {
  const [counts, later] = await Promise.all([inForceOn(scope, days, of), laterOn(scope, days, of)]);
  return { ...counts, later };
}

/** How many memories are in force on a day; of today, how many others have ended, or begin later. */
export async function countsInForce(scope: Scope, days: Days): Promise<InForce> {
  if (!isToday(days)) return inForceOf(await inForceOn(scope, days), NOTHING);
  const all = newest(scope, {});
  const [inForce, { counts }, later] = await Promise.all([inForceOn(scope, days), all, laterOn(scope, days, {}, all)]);
  return inForceOf(inForce, counts ?? NOTHING, later);
}
