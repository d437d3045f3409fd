/** The values that fields of a document had before those of today. */

import type { Json, Revision } from "../api/shapes";
import { pointerOf, shown } from "./pointer";

type Version = Pick<Revision, "version" | "value" | "state" | "cause">;

const isSingle = (value: Json | undefined): value is string | number => typeof value === "string" || typeof value === "number";

/**
 * For each field, by its pointer, the last value in force that differs from that of the newest version.
 *
 * A list that grew was not corrected, and what was undone or rejected was no value for long: neither is told.
 */
export function formerFields(revisions: readonly Version[]): ReadonlyMap<string, string> {
  const [now, ...others] = [...revisions].sort((one, other) => other.version - one.version);
  const earlier = others.filter((each, place) => each.state === "active" && (place ? others[place - 1] : now)?.cause !== "undone");
  return new Map(
    Object.entries(now?.value ?? {}).flatMap(([name, value]) => {
      if (!isSingle(value)) return [];
      const former = earlier.map((each) => each.value[name]).find((each) => isSingle(each) && each !== "" && each !== value);
      return isSingle(former) ? [[pointerOf([name]), shown(String(former))] as const] : [];
    }),
  );
}
