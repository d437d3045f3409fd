/** The day on which a screen looks: what was true on it, and what was believed on it; kept in the address. */

import { endOf } from "./days";

/** Days of the calendar; "" is today. */
export interface Days {
  on: string;
  known: string;
}

const DAY = /^\d{4}-\d\d-\d\d$/;

/** The days in an address; what is no day is today. */
export function daysIn(query: URLSearchParams): Days {
  const day = (name: string): string => {
    const given = query.get(name) ?? "";
    return DAY.test(given) && !Number.isNaN(Date.parse(given)) ? given : "";
  };
  return { on: day("on"), known: day("known") };
}

export const isToday = ({ on, known }: Days): boolean => !on && !known;

/** The end of the earlier of the days that were chosen; "" is now. */
export function momentOf({ on, known }: Days): string {
  const chosen = [on, known].filter(Boolean).sort()[0];
  return chosen ? endOf(chosen) : "";
}

/** The moments that a list names: of a day it has what the overview has, without what was said later and has no date. */
export const listedMoments = (days: Days): { valid_at?: string; known_at?: string; said_until?: string } => ({ ...momentsOf(days), ...(days.on && { said_until: endOf(days.on) }) });

/** The moments that a request names: the ends of the days. */
export const momentsOf = ({ on, known }: Days): { valid_at?: string; known_at?: string } => ({
  ...(on ? { valid_at: endOf(on) } : {}),
  ...(known ? { known_at: endOf(known) } : {}),
});
