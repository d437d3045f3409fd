/** What an import refused, for a reader: each reason once, in their language where it is a usual one, with where it was met. */

import type { Word } from "../words";

export interface RefusedRow {
  place: string;
  reason: string;
}

export interface Refusal {
  reason: string;
  places: readonly string[];
}

/** The reasons in the order in which they were met first. */
export function refusalsOf(rows: readonly RefusedRow[]): Refusal[] {
  const places = new Map<string, string[]>();
  for (const { place, reason } of rows) {
    const known = places.get(reason);
    if (known) known.push(place);
    else places.set(reason, [place]);
  }
  return [...places].map(([reason, at]) => ({ reason, places: at }));
}

type Say = (word: Word, values?: Record<string, string>) => string;

/** The usual reasons; each of the groups is filled into the words. */
const REASONS: readonly (readonly [RegExp, Word])[] = [
  [/^it is not JSON \((?<fault>.+)\)$/s, "refusal.json"],
  [/^its format is unknown: it has the fields (?<fields>.+)$/s, "refusal.form"],
  [/^the document is broken or was cut off here \((?<fault>.+)\); what came before was kept$/s, "refusal.broken"],
  [/^the file ends in the middle of this line: (?<rest>.+)$/s, "refusal.cut"],
  [/^(['"])(?<name>.+)\1 is empty: there is nothing to import$/s, "refusal.empty"],
  [/^(['"])(?<name>.+)\1 is neither JSON Lines nor a JSON document: it begins with (?<begins>.+)$/s, "refusal.text"],
];

/** What a line of a file may be, where one is not known how to begin. */
const LINE = '{"role": "user", "content": "…"}';

/** A reason as people read it; one that is none of these is as the service says it. */
export function whyRefused(reason: string, t: Say): string {
  for (const [pattern, word] of REASONS) {
    const found = pattern.exec(reason);
    if (found) return t(word, { ...found.groups, example: LINE });
  }
  return reason;
}

/** Where a row stands, as people read it: a line, or as the service says it. */
export function placeOf(place: string, t: Say): string {
  const [, line] = /^line (\d+)$/.exec(place) ?? [];
  return line ? t("json.line", { line }) : place;
}
