/** What the service refused, in the reader's language by the code of its reason. */

import type { Reason } from "../api/problem";
import type { Word } from "../words";

export type Say = (word: Word, values?: Record<string, string | number>) => string;

/** The codes of the service for which the page has words from the first: of some all of them, of others before what the service says, with its names and numbers. */
export const TOLD_CODES = [
  "unknown_key", "key_revoked", "not_found", "unavailable", "access", "forbidden", "quota", "model", "model_unavailable", "model_denied", "model_not_found",
] as const;

/** Whether what is wrong is said with words that mostly nobody needs: they come with the first of such problems. */
export const isRare = ({ code, reason }: { code: string; reason: Reason }): boolean => reason.code !== "" || (code !== "" && !TOLD_CODES.some((each) => each === code));

/** What a line of a file may be, where one is not known how to begin. */
const LINE = '{"role": "user", "content": "…"}';

/** A reason as people read it; nothing if there are no words for its code, or they are not there yet. */
export function whyRefused({ code, values }: Reason, t: Say): string {
  const rounded = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, typeof value === "number" ? Math.ceil(value) : value] as const));
  return t(`refusal.${code}` as Word, { ...rounded, ...(code === "quota" && quotaOf(rounded, t)), example: LINE });
}

/** What a quota limits, in words, and how many of it. */
function quotaOf({ limit_name: name, limit = "" }: Readonly<Record<string, string | number>>, t: Say): Record<string, string | number> {
  return { count: limit, ...(name && { limit_name: t(`limit.${name}` as Word) || name }) };
}
