/** The values that fields of a document had before those of today, and which of them somebody corrected. */

import type { Evidence, Json, Revision } from "../api/shapes";
import { inOrder } from "./field_order";
import { pointerOf, shown } from "./pointer";

type Version = Pick<Revision, "version" | "value" | "state" | "cause">;
type CitingVersion = Version & Pick<Revision, "evidence">;

export const isSingle = (value: Json | undefined): value is string | number => typeof value === "string" || typeof value === "number";

/**
 * For each field, by its pointer, the last value in force that differs from that of the newest version.
 *
 * A list that grew was not corrected, and what was undone or rejected was no value for long: neither is told.
 */
export function formerFields(revisions: readonly Version[]): ReadonlyMap<string, string> {
  const [now, ...others] = [...revisions].sort((one, other) => other.version - one.version);
  const earlier = others.filter((each, place) => each.state === "active" && (place ? others[place - 1] : now)?.cause !== "undone");
  return new Map(
    inOrder(Object.entries(now?.value ?? {})).flatMap(([name, value]) => {
      if (!isSingle(value)) return [];
      const former = earlier.map((each) => each.value[name]).find((each) => isSingle(each) && each !== "" && each !== value);
      return isSingle(former) ? [[pointerOf([name]), shown(String(former))] as const] : [];
    }),
  );
}

/** What a version cites for a field. */
export const citedFor = ({ evidence }: Pick<Revision, "evidence">, pointer: string): Evidence[] =>
  Object.entries(evidence).flatMap(([at, cited]) => (at === "" || `${at}/`.startsWith(`${pointer}/`) ? cited : []));
const wordsFor = (version: Pick<Revision, "evidence">, pointer: string): string[] =>
  citedFor(version, pointer).filter(({ quote }) => quote !== "").map(({ thread, message, quote }) => JSON.stringify([thread, message, quote]));

/** The fields, by their pointers, that somebody corrected: the version that gave them their value cites no new words for it. */
export function fieldsByHand(revisions: readonly CitingVersion[]): ReadonlySet<string> {
  const newestFirst = [...revisions].sort((one, other) => other.version - one.version);
  const isByHand = ([name, value]: [string, Json]) => {
    const place = newestFirst.findIndex((each) => JSON.stringify(each.value[name]) !== JSON.stringify(value));
    const [written, before] = [newestFirst[place - 1], newestFirst[place]];
    if (!written || !before || written.cause !== "put") return false;
    const known = wordsFor(before, pointerOf([name]));
    return wordsFor(written, pointerOf([name])).every((each) => known.includes(each));
  };
  return new Set(Object.entries(newestFirst[0]?.value ?? {}).flatMap((each) => (isByHand(each) ? [pointerOf([each[0]])] : [])));
}
