/** What an import refused, for a reader: each reason once, with where it was met. */

import type { CodedReason } from "../api/shapes";
import { whyRefused, type Say } from "./refusals";

export interface RefusedRow extends CodedReason {
  place: string;
}

export interface Refusal extends CodedReason {
  places: readonly string[];
}

/** The reasons in the order in which they were met first. */
export function refusalsOf(rows: readonly RefusedRow[]): Refusal[] {
  const found = new Map<string, CodedReason & { places: string[] }>();
  for (const { place, ...reason } of rows) {
    const known = found.get(reason.reason);
    if (known) known.places.push(place);
    else found.set(reason.reason, { ...reason, places: [place] });
  }
  return [...found.values()];
}

/** Why a row was refused, as people read it, or as the service says it. */
export const whyRowRefused = ({ reason, reason_code = "", values = {} }: CodedReason, t: Say): string => whyRefused({ code: reason_code, values }, t) || reason;

/** Where a row stands, as people read it: a line, or as the service says it. */
export function placeOf(place: string, t: Say): string {
  const [, line] = /^line (\d+)$/.exec(place) ?? [];
  return line ? t("json.line", { line }) : place;
}
