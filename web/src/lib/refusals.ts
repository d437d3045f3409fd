/** The rows that an import refused, for a reader: each reason once, with where it was met. */

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
