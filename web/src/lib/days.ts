/** Days of the calendar (UTC) as a slider counts them. */

const DAY_MS = 86_400_000;

export const dayOf = (moment: number): string => new Date(moment).toISOString().slice(0, 10);

/** How many days of the calendar a day is before today; fewer than none for one to come. */
export const daysAgo = (day: string, now = Date.now()): number => (Date.parse(dayOf(now)) - Date.parse(day.slice(0, 10))) / DAY_MS;

/** The steps from the first day to today; at least one, so that a slider has two ends. */
export function stepsBetween(first: string, today: string): number {
  const days = Math.round((Date.parse(today) - Date.parse(first)) / DAY_MS);
  return Number.isFinite(days) ? Math.max(1, days) : 1;
}

/** The day so many steps after the first; the last step is today. */
export const dayAt = (first: string, step: number): string => dayOf(Date.parse(first) + step * DAY_MS);

/** The earliest day that memories tell of: since when they are true, when they were said or written. */
export function earliestOf(memories: readonly { valid_from: string | null; said_at: string | null; created_at: string }[], before: string | undefined): string | undefined {
  const days = memories.flatMap((each) => [each.valid_from, each.said_at, each.created_at]).filter((each): each is string => Boolean(each)).map((each) => each.slice(0, 10));
  return [...days, ...(before ? [before] : [])].sort()[0];
}

/** Whether a moment is a day of the calendar: formation keeps one as its beginning, or its end, in UTC. Written in a zone west or east of that, it would be another day. */
export const isWholeDay = (moment: string | number): boolean => typeof moment === "string" && /^[\d-]+(T(00:00:00|23:59:59(\.9+)?)(Z|\+00:00))?$/.test(moment);

/** Formats a moment as a day: one of the calendar as that, any other as the day that it is in `timeZone` (of the browser, if none is given). */
export function dayFormat(locale: string, timeZone?: string): (moment: string | number) => string {
  const [calendar, here] = ["UTC", timeZone].map((zone) => new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: zone }));
  return (moment) => (isWholeDay(moment) ? calendar : here)?.format(new Date(moment)) ?? "";
}

/** The end of a day, which is the moment that a filter by day means. */
export const endOf = (day: string): string => `${day}T23:59:59Z`;
