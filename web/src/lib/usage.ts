/** What a scope used, day by day. */

import type { Json, JsonObject } from "../api/shapes";
import type { Day } from "./overview";

/** The days of a usage answer, wherever it lists them. */
export function daysIn(usage: JsonObject): Day[] {
  const listed = Object.values(usage).find((each): each is Json[] => Array.isArray(each)) ?? [];
  return listed.flatMap((row) => {
    if (row === null || typeof row !== "object" || Array.isArray(row)) return [];
    const day = row.day ?? row.date;
    if (typeof day !== "string") return [];
    const counts = Object.fromEntries(Object.entries(row).filter((pair): pair is [string, number] => typeof pair[1] === "number"));
    return [{ day, counts }];
  }).sort((one, other) => one.day.localeCompare(other.day));
}
