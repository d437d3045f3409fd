/** What the overview alone shows: changes by their former words, and that an example is one. */

import type { Me, Memory, NewestMemory } from "../api/shapes";
import { changesBetween } from "./diff";
import { timeOf } from "./past";
import { joined, shown } from "./pointer";

/** What a memory said in the places that its last change gave other words; "" where it changed none, or how is not told. */
export function saidBefore(newest: readonly NewestMemory[], { type, key, value }: Pick<Memory, "type" | "key" | "value">): string {
  const former = newest.find(({ memory }) => memory.type === type && memory.key === key)?.former;
  if (!former) return "";
  return joined(changesBetween(former, value).flatMap((each) => (each.kind === "changed" ? [shown(each.before)] : [])));
}

/** The scope of `recollect demo`, whose Mira is made up. */
const EXAMPLE = JSON.stringify(["demo", "mira"]);

export const isExample = ({ prefix, scope }: Pick<Me, "prefix" | "scope">, here: readonly string[]): boolean => JSON.stringify([...(prefix ?? scope), ...here]) === EXAMPLE;

/** When it changed last, as seen on a day: what was written later, by an import say, was said or true by then. */
export const changedAt = (memory: Memory, now: number): string => (Date.parse(memory.updated_at) <= now ? memory.updated_at : timeOf(memory));
