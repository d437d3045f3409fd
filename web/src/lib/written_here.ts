/** Which versions of memories were written on this page, in this browser: the service does not tell these from a program's. */

import type { Memory, Revision, Scope } from "../api/shapes";
import { ownBrowser } from "./owned_shelf";
import { keptIn } from "./storage";

const NAME = "recollect.written";
const KEPT_MAX = 300;

interface Written {
  scope: Scope;
  name: string;
}

const nameOf = ({ type, key, version }: Pick<Memory, "type" | "key" | "version">): string => JSON.stringify([type, key, version]);
const isIn = (scope: Scope) => (each: Written): boolean => JSON.stringify(each.scope) === JSON.stringify(scope);

const kept = () => keptIn<Written[]>(ownBrowser, NAME, []);

export const noteWritten = (scope: Scope, memory: Pick<Memory, "type" | "key" | "version">): void =>
  ownBrowser.set(NAME, JSON.stringify([...kept(), { scope, name: nameOf(memory) }].slice(-KEPT_MAX)));

/** An erase takes the names, too. */
export const forgetWrittenIn = (scope: Scope): void => ownBrowser.set(NAME, JSON.stringify(kept().filter((each) => !isIn(scope)(each))));

export const forgetAllWritten = (): void => ownBrowser.clear(NAME);

/** Whether somebody wrote here what a memory says now: as this version, or as an earlier one that says the same. */
export function isWrittenHere(scope: Scope, { type, key, sentence }: Pick<Memory, "type" | "key" | "sentence">, revisions: readonly Pick<Revision, "version" | "sentence">[]): boolean {
  const names = new Set(kept().filter(isIn(scope)).map((each) => each.name));
  return revisions.some((each) => each.sentence === sentence && names.has(nameOf({ type, key, version: each.version })));
}
