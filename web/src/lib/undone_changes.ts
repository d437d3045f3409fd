/** What stands again in the place of memories that are gone because the change that made them was undone, in this tab. */

import type { Memory, Scope } from "../api/shapes";
import { ownTab } from "./owned_shelf";
import { keptIn } from "./storage";

const NAME = "recollect.undone";
const KEPT_MAX = 50;

export interface Address extends Pick<Memory, "type" | "key"> {
  scope: Scope;
}

interface Undone {
  gone: Address;
  stand: Address[];
}

const isAt = (one: Address, other: Address): boolean => one.type === other.type && one.key === other.key && isIn(one.scope)(other);
const isIn = (scope: Scope) => (each: Address): boolean => JSON.stringify(scope) === JSON.stringify(each.scope);
const addressOf = ({ scope, type, key }: Address): Address => ({ scope, type, key });

const kept = () => keptIn<Undone[]>(ownTab, NAME, []);

const keep = (all: Undone[]): void => ownTab.set(NAME, all.length ? JSON.stringify(all.slice(-KEPT_MAX)) : null);

/** Keep what a change that was undone had made, and what it had changed besides: that is as it was before. */
export function noteUndone(memories: readonly (Address & { version: number | null })[]): void {
  const stand = memories.filter((each) => each.version !== 1).map(addressOf);
  if (!stand.length) return;
  const made = memories.filter((each) => each.version === 1).map(addressOf);
  const others = kept().filter((each) => !made.some((gone) => isAt(gone, each.gone)));
  keep([...others, ...made.map((gone) => ({ gone, stand }))]);
}

/** What stands again in the place of a memory that is gone. */
export const standInsteadOf = (gone: Address): readonly Address[] => kept().find((each) => isAt(each.gone, gone))?.stand ?? [];

/** An erase takes the names, too. */
export const forgetUndoneIn = (scope: Scope): void => keep(kept().filter((each) => ![each.gone, ...each.stand].some(isIn(scope))));

export const forgetAllUndone = (): void => ownTab.clear(NAME);
