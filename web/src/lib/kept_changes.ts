/** Changes made in the tabs of this browser that the service can still undo, with the tokens that undo them. */

import { useSyncExternalStore } from "react";
import { api } from "../api/client";
import { Problem } from "../api/problem";
import type { Memory, Scope } from "../api/shapes";
import type { ChangeHandover } from "./change_handover";
import { owner, ownTab } from "./owned_shelf";
import { linkTo } from "./route";
import { shortened } from "./sentences";
import { takeAllBack, type Token } from "./undo_tokens";
import { forgetAllUndone, forgetUndoneIn, noteUndone } from "./undone_changes";

const NAME = "recollect.changes";
/** The service accepts a token for an hour; see `UNDO_S` there. */
const KEPT_MS = 3_600_000;
/** A token may hold whole memories: so many characters fit into a tab's storage, beside the drafts. */
const CHARACTERS_MAX = 2_000_000;

/** A memory as a change left it; without a version it was removed. */
export interface Left extends Pick<Memory, "type" | "key"> {
  scope: Scope;
  version: number | null;
}

export interface KeptChange {
  /** What was changed, in words. */
  what: string;
  memories: Left[];
  /** In the order in which they were given: undone from the last one on. */
  tokens: Token[];
  until: number;
}

export const addressOf = (scope: Scope, { type, key }: Pick<Memory, "type" | "key">) => ({ scope, type, key });

/** A memory as a change left it that wrote its next version. */
export const nextOf = (scope: Scope, memory: Pick<Memory, "type" | "key" | "version">): Left => ({ ...addressOf(scope, memory), version: memory.version + 1 });

/** The memory that a change answers. */
export const leftBy = (scope: Scope, { type, key, version }: Partial<Memory>): Left[] => (type && key && version ? [{ scope, type, key, version }] : []);

const isAt = (scope: Scope, { type, key }: Pick<Memory, "type" | "key">) => (left: Left): boolean =>
  left.type === type && left.key === key && JSON.stringify(left.scope) === JSON.stringify(scope);

/** The name of a change: its first token. */
export const tokenOf = ({ tokens: [first] }: KeptChange): string => first?.undo ?? "";
const isSame = (one: KeptChange, other: KeptChange): boolean => tokenOf(one) === tokenOf(other);
export const isInScope = (scope: string) => (change: KeptChange): boolean => change.tokens.some((token) => JSON.stringify(token.scope) === scope);

let read: { text: string | null; changes: KeptChange[] } = { text: null, changes: [] };
const watchers = new Set<() => void>();

/** Newest first. */
function kept(): KeptChange[] {
  const text = ownTab.get(NAME);
  if (text !== read.text) {
    try {
      read = { text, changes: JSON.parse(text ?? "[]") as KeptChange[] };
    } catch {
      read = { text, changes: [] };
    }
  }
  return read.changes;
}

function keep(changes: KeptChange[]): void {
  const changedSince = new Set<string>();
  const fresh = changes.filter(({ memories, tokens, until }) => {
    const names = memories.map(({ scope, type, key }) => JSON.stringify([scope, type, key]));
    // What one token names is undone whole or not at all: not after a later change of any of it.
    const isOver = (tokens.length === 1 || names.length === 1) && names.some((each) => changedSince.has(each));
    for (const each of names) changedSince.add(each);
    return !isOver && Date.now() < until;
  });
  let text = JSON.stringify(fresh);
  while (text.length > CHARACTERS_MAX && fresh.pop()) text = JSON.stringify(fresh);
  ownTab.set(NAME, fresh.length ? text : null);
  for (const each of [...watchers]) each();
}

/** What other tabs know is asked for after the first view. */
const ASK_MS = 1_500;
let others: Promise<ChangeHandover<KeptChange>> | undefined;

/** Tell the other tabs, once somebody is known to be here; the first time, ask what can be undone there. */
function tellOthers(tell: (others: ChangeHandover<KeptChange>) => void = () => undefined): void {
  if (typeof document === "undefined" || !owner()) return;
  others ??= import("./change_handover").then(({ handoverOf }) => handoverOf({ kept, keep }));
  // Without the script this tab alone has what was changed in it.
  others.then(tell, () => (others = undefined));
}

/** Keep a change that was just made. */
export function keepChange(what: string, memories: Left[], tokens: readonly Token[]): KeptChange {
  const change = { what, memories, tokens: [...tokens], until: Date.now() + KEPT_MS };
  keep([change, ...kept()]);
  tellOthers((others) => others.made(change));
  return change;
}

/** Call back once a change is no longer kept. */
export function watchChange(change: KeptChange, isOver: () => void): () => void {
  const look = () => void (kept().some((each) => isSame(each, change)) || isOver());
  watchers.add(look);
  return () => void watchers.delete(look);
}

export function forgetChange(change: KeptChange): void {
  keep(kept().filter((each) => !isSame(each, change)));
  tellOthers((others) => others.undone(tokenOf(change)));
}

/** An erase ends what can be undone in its scope. */
export function forgetChangesIn(scope: Scope): void {
  const subject = JSON.stringify(scope);
  keep(kept().filter((each) => !isInScope(subject)(each)));
  tellOthers((others) => others.voidIn(subject));
  forgetUndoneIn(scope);
}

export function forgetAllChanges(): void {
  ownTab.clear(NAME);
  keep([]);
  forgetAllUndone();
}

/** Undo a change; of one that is undone in part, or refused, only what is left can be undone again. */
export async function takeBack(change: KeptChange, progress: (done: number, of: number) => void = () => undefined): Promise<void> {
  const tokens = [...change.tokens];
  try {
    await takeAllBack(tokens, api.undo, progress);
  } catch (error) {
    const left = { ...change, tokens };
    keep(isRefused(error) ? kept().filter((each) => !isSame(each, change)) : kept().map((each) => (isSame(each, change) ? left : each)));
    change.tokens = tokens;
    throw saidOf(change, error);
  }
  noteUndone(change.memories);
  forgetChange(change);
}

/** A conflict with what the change was about: the service knows that by its address alone. Of several memories it may be any. */
function saidOf({ what, memories }: KeptChange, error: unknown): unknown {
  const [left, ...others] = memories;
  if (!(error instanceof Problem) || error.reason.code !== "version_conflict" || !left || others.length) return error;
  const { status, code, title, detail, reason } = error;
  return new Problem(status, code, title, detail, { code: "version_conflict_of", values: { ...reason.values, memory: `“${shortened(what)}”` } }, linkTo(["memories", left.type, left.key], left.scope));
}

/** Whether the service will not undo it later either: it expired, or what it wrote was changed since. */
export const isRefused = (error: unknown): boolean => error instanceof Problem && [400, 404, 409, 412, 422].includes(error.status);

const isFresh = ({ until }: KeptChange): boolean => Date.now() < until;

/** The change that made a memory what it is, if that can still be undone. */
export const changeThatLeft = (scope: Scope, memory: Pick<Memory, "type" | "key" | "version">): KeptChange | undefined =>
  kept().find((each) => isFresh(each) && each.memories.some((left) => left.version === memory.version && isAt(scope, memory)(left)));

/** The change that removed what stood at an address. */
export const removalOf = (scope: Scope, address: Pick<Memory, "type" | "key">): KeptChange | undefined =>
  kept().find((each) => isFresh(each) && each.memories.some((left) => left.version === null && isAt(scope, address)(left)));

/** How many memories of a scope a change removed. */
export const removedBy = (change: KeptChange, scope: Scope): number =>
  change.memories.filter((left) => left.version === null && JSON.stringify(left.scope) === JSON.stringify(scope)).length;

export const removalsIn = (scope: Scope): KeptChange[] => kept().filter((each) => isFresh(each) && removedBy(each, scope) > 0);

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  if (!others) setTimeout(tellOthers, ASK_MS);
  return () => void watchers.delete(watcher);
}

/** Draw again whenever a change is kept or forgotten. */
export const useKeptChanges = (): readonly KeptChange[] => useSyncExternalStore(watch, kept);
