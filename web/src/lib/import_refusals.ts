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

const PLACES = { element: "import.place_element", message: "import.place_message", "after element": "import.place_after" } as const;
const WHOLE_PLACES = new Map([["the document", "import.place_document"], ["the end", "import.place_end"]] as const);

/** Where a row stands, as people read it: a line or a part of a document, or as the service says it. */
export function placeOf(place: string, t: Say): string {
  const [, line] = /^line (\d+)$/.exec(place) ?? [];
  if (line) return t("json.line", { line });
  const [, part, count] = /^(element|message|after element) (\d+)$/.exec(place) ?? [];
  if (part) return t(PLACES[part as keyof typeof PLACES], { count: Number(count) });
  const whole = WHOLE_PLACES.get(place as "the document" | "the end");
  return whole ? t(whole) : place;
}
