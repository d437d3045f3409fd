/** Memories that were true one after another in the same place: where somebody lived, and lives now. */

import { api } from "../api/client";
import type { Memory, Scope } from "../api/shapes";
import { useAsked } from "./asking";

/** What tells when a memory was true in which place. */
export type Placed = Pick<Memory, "type" | "key" | "value" | "sentence" | "valid_from" | "valid_until">;

/** So many of the newest are looked through. */
export const LOOKED_THROUGH = 100;

const PLACE = ["subject", "predicate"] as const;

/** Of whom a statement says what: two that say it of different ones follow each other by chance. */
function placeOf({ value }: Pick<Placed, "value">): Record<string, string> | undefined {
  const named = PLACE.flatMap((name) => (typeof value[name] === "string" ? [[name, value[name]] as const] : []));
  return named.length === PLACE.length ? Object.fromEntries(named) : undefined;
}

const isSamePlace = (one: Placed, other: Placed): boolean => JSON.stringify(placeOf(one)) === JSON.stringify(placeOf(other));
const isMoment = (one: string | null, other: string | null): boolean => one !== null && other !== null && Date.parse(one) === Date.parse(other);
const isOther = (one: Placed, other: Placed): boolean => one.key !== other.key && isSamePlace(one, other);

/** What ended when a memory began to be true. */
export const formerOf = <P extends Placed>(memory: Placed, others: readonly P[]): P[] => others.filter((each) => isOther(memory, each) && isMoment(each.valid_until, memory.valid_from));

/** What began to be true at the moment at which a memory, or a version of it, ended. */
export const nextOf = <P extends Placed>(memory: Placed, others: readonly P[]): P[] => others.filter((each) => isOther(memory, each) && isMoment(each.valid_from, memory.valid_until));

/** The memory among those before and after it, the earliest first. */
export function chainOf<P extends Placed>(memory: Placed, others: readonly P[]): (P | Placed)[] {
  const known = new Set([memory.key]);
  const walk = (step: typeof formerOf<P>): P[] => {
    const found: P[] = [];
    for (let at: Placed | undefined = memory; at; ) {
      const [next]: P[] = step(at, others).filter((each) => !known.has(each.key));
      if (next) {
        known.add(next.key);
        found.push(next);
      }
      at = next;
    }
    return found;
  };
  return [...walk(formerOf).reverse(), memory, ...walk(nextOf)];
}

export const isOver = ({ valid_until }: Pick<Placed, "valid_until">, now = Date.now()): boolean => valid_until !== null && Date.parse(valid_until) <= now;

/** What is true today in the place of a memory that ended. */
export function inPlaceOf<P extends Placed>(memory: Placed, others: readonly P[], now = Date.now()): P[] {
  if (!isOver(memory, now)) return [];
  const seen = new Set([memory.key]);
  const found: P[] = [];
  const open: Placed[] = [memory];
  for (let at = open.pop(); at; at = open.pop()) {
    for (const each of nextOf(at, others)) {
      if (seen.has(each.key)) continue;
      seen.add(each.key);
      if (isOver(each, now)) open.push(each);
      else found.push(each);
    }
  }
  return found;
}

/** Of each place in which something was true after something else, the last of it. */
export function newestOfPlaces<P extends Placed>(memories: readonly P[]): P[] {
  return memories.filter((each) => formerOf(each, memories).length > 0 && nextOf(each, memories).length === 0);
}

/** How much a timeline of a memory has to show: its versions, and what stood in its place before it. */
const timesOf = (memory: Memory, others: readonly Memory[]): number => memory.version + chainOf(memory, others).length;

/** The memory whose timeline has most to show; the first of several. */
export const richest = (memories: readonly Memory[], others: readonly Memory[]): Memory | undefined =>
  [...memories].sort((one, other) => timesOf(other, others) - timesOf(one, others))[0];

/** Those of its type among which the ones before and after a memory are. */
export function useOthers(scope: Scope, memory: (Placed & { version?: number }) | undefined): readonly Memory[] {
  const isDated = memory !== undefined && (memory.valid_from !== null || memory.valid_until !== null);
  const place = memory && placeOf(memory);
  const asked = useAsked(
    async () => (isDated ? (await api.memories(scope, { type: memory.type, state: "active", order: "newest", limit: LOOKED_THROUGH, filter: place && JSON.stringify(place) })).memories : []),
    [scope, isDated, memory?.type, memory?.key, place, memory?.valid_from, memory?.valid_until, memory?.version],
  );
  return asked.value ?? NONE;
}

const NONE: readonly Memory[] = [];
