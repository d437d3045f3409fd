/** What the overview shows of what the service answers. */

import type { Backlog, FieldQuotes, Formation, Memory } from "../api/shapes";
import { gaveUp } from "./given_up";
import { isEnded, timeOf } from "./past";
import { pointerOf } from "./pointer";

export interface Day {
  day: string;
  counts: Record<string, number>;
}

/** What is known, by type, the newest of each first by the day that is shown of it. */
export const byType = (known: readonly Memory[]): Memory[] =>
  [...known].sort((one, other) => one.type.localeCompare(other.type) || Date.parse(timeOf(other)) - Date.parse(timeOf(one)));

/** The words that the fields of a memory rest on. */
export const quotesOf = (quotes: readonly FieldQuotes[], { type, key }: Pick<Memory, "type" | "key">): FieldQuotes["fields"] =>
  quotes.find((each) => each.type === type && each.key === key)?.fields ?? {};

/** The words for a sentence: those of what it says of its subject, else of its first field. */
export function mainQuote(quotes: FieldQuotes["fields"], { value }: Pick<Memory, "value">): string | undefined {
  const main = "object" in value ? "object" : Object.keys(value)[0];
  return main === undefined ? undefined : quotes[pointerOf([main])];
}

/** How many scopes below an empty one the service names at most. */
const BELOW = 12;

/** What an empty scope says: its own steps only to a key that may take them, and that the scopes below may be more. */
export const emptyWords = (below: number, canWrite: boolean) => ({
  about: below ? "overview.none_here" : canWrite ? "overview.none_about" : "memories.none_read",
  more: below >= BELOW ? "overview.below_more" : undefined,
  hasSteps: canWrite,
}) as const;

export type ChangeWord = "new" | "changed" | "ended" | "waits";

/** What happened to a memory when it was written last. */
export function changeOf(memory: Memory, now: number): ChangeWord {
  if (memory.state === "quarantined") return "waits";
  if (isEnded(memory, now)) return "ended";
  return memory.version === 1 ? "new" : "changed";
}

export type FormationWord = "no_model" | "paused" | "waits_model" | "given_up" | "failing" | "waiting" | "done" | "none";

/** How formation is, in one word: what hinders it before what it does. */
export function formationOf(backlog: Backlog, last: Formation | undefined, dead: readonly Formation[], hasModel: boolean): FormationWord {
  if (!hasModel) return "no_model";
  if (backlog.paused) return "paused";
  if (isBroken(backlog.breaker)) return "waits_model";
  if (dead.some((each) => gaveUp(each))) return "given_up";
  if (backlog.pending.some((each) => each.attempts > 0) || last?.status === "failed") return "failing";
  if (backlog.pending.length) return "waiting";
  return last ? "done" : "none";
}

/** Whether the model failed so often that it is not asked for a while. */
export function isBroken(breaker: unknown): boolean {
  if (typeof breaker === "string") return breaker !== "closed";
  if (breaker && typeof breaker === "object" && "open" in breaker) return Boolean(breaker.open);
  return breaker === true;
}

/** What the model answered last, or why it was not reached; "" where the key may not know. */
export const whyBroken = (breaker: unknown): string => (breaker as { reason?: string } | null)?.reason ?? "";

/** A line through the values, and the area below it, in a box of a given size. */
export function plotOf(values: readonly number[], width: number, height: number): { line: string; area: string } {
  const most = Math.max(1, ...values);
  const step = values.length > 1 ? width / (values.length - 1) : width;
  const points = values.map((each, place) => `${round(place * step)} ${round(height - (each / most) * (height - 2) - 1)}`);
  const line = points.map((each, place) => `${place ? "L" : "M"}${each}`).join("");
  return { line, area: points.length ? `${line}L${round(width)} ${height}L0 ${height}Z` : "" };
}

const round = (value: number): number => Math.round(value * 10) / 10;
const DAY_MS = 86_400_000;

/** The counts of the last days up to today (UTC), oldest first; days of which nothing is told count 0. */
export function lastDays(days: readonly Day[], name: string, count: number, now: number): { day: string; value: number }[] {
  const known = new Map(days.map((each) => [each.day, each.counts[name] ?? 0]));
  return Array.from({ length: count }, (_, place) => {
    const day = new Date(now - (count - 1 - place) * DAY_MS).toISOString().slice(0, 10);
    return { day, value: known.get(day) ?? 0 };
  });
}
