/** Memories deleted in this tab, which the tokens of these changes restore as long as the service accepts them. */

import type { Memory, Scope } from "../api/shapes";
import { tabShelf } from "./storage";

const NAME = "recollect.deleted";
/** The service accepts a token for an hour; see `UNDO_S` there. */
const KEPT_MS = 3_600_000;
/** A token holds a whole memory: so many fit beside the drafts. */
const KEPT_MAX = 5;

export interface DeletedMemory {
  address: string;
  what: string;
  undo: string;
  until: number;
}

const addressOf = (scope: Scope, type: string, key: string): string => JSON.stringify([scope, type, key]);

function kept(): DeletedMemory[] {
  try {
    return (JSON.parse(tabShelf.get(NAME) ?? "[]") as DeletedMemory[]).filter((each) => Date.now() < each.until);
  } catch {
    return [];
  }
}

export function keepDeleted(scope: Scope, { type, key }: Pick<Memory, "type" | "key">, what: string, undo: string): void {
  const address = addressOf(scope, type, key);
  const others = kept().filter((each) => each.address !== address);
  tabShelf.set(NAME, JSON.stringify([...others, { address, what, undo, until: Date.now() + KEPT_MS }].slice(-KEPT_MAX)));
}

export const deletedHere = (scope: Scope, type: string, key: string): DeletedMemory | undefined => kept().find((each) => each.address === addressOf(scope, type, key));

export function forgetDeleted(scope: Scope, type: string, key: string): void {
  tabShelf.set(NAME, JSON.stringify(kept().filter((each) => each.address !== addressOf(scope, type, key))));
}

export const forgetAllDeleted = (): void => tabShelf.set(NAME, null);
