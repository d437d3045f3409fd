/** What waits for a decision: a new memory, or the change or the end of one that stands until then. */

import { useEffect, useRef } from "react";
import type { Formation, Json, JsonObject, Memory, Revision } from "../api/shapes";
import type { Word } from "../words";
import { spoken } from "./pointer";

type Waiting = Pick<Memory, "key" | "state" | "valid_until">;

/** The memory for whose change or end a memory waits: its key is that of the other one, its version, and a digest. A very long key is shortened in it. */
export function proposedFor(key: string): { key: string; version: number } | undefined {
  const [, name, version] = /^(.+)~(\d+)~[^~]+$/s.exec(key) ?? [];
  return name !== undefined && Number(version) > 0 ? { key: name, version: Number(version) } : undefined;
}

/** What approving it does: an end repeats what the other one says, and has the day on which that would be over. */
export function waitsAs({ key, state, valid_until }: Waiting): "new" | "change" | "end" {
  if (state !== "quarantined" || !proposedFor(key)) return "new";
  return valid_until === null ? "change" : "end";
}

/** Why a version waits: one that an undo put back waits for the same reason as before. */
export const doubtOf = (revisions: readonly Pick<Revision, "version" | "state" | "cause">[], version: number): string | undefined =>
  revisions.filter((each) => each.version <= version && each.state === "quarantined" && each.cause !== "undone").sort((one, other) => other.version - one.version)[0]?.cause;

/** A memory's sentence; the question, where its end waits: that it stands in a list must not read as if it were in doubt itself. */
export const saidOf = (memory: Waiting & Pick<Memory, "sentence">, t: (word: Word, values: { what: string }) => string): string =>
  waitsAs(memory) === "end" ? t("review.end", { what: memory.sentence }) : memory.sentence;

/** A field that was rejected, which a memory keeps from being formed again: its name, and what it said. */
export function refusedField({ state, value }: Pick<Memory, "state" | "value">): { name: string; value: Json } | undefined {
  const { pointer, value: refused } = value as JsonObject & { pointer?: Json; value?: Json };
  if (state !== "rejected" || typeof pointer !== "string" || !pointer.startsWith("/") || refused === undefined) return undefined;
  return { name: spoken(pointer.split("/", 2).join("/")), value: refused };
}

/** Whether it would have changed a memory that stands, or would if it were approved. */
export const isProposal = (memory: Pick<Memory, "key" | "state" | "valid_until">): boolean =>
  memory.state !== "active" && memory.valid_until === null && proposedFor(memory.key) !== undefined;

/** The messages because of which a formation made it wait, where its evidence does not name them: an end has the evidence of what it ends. */
export function saidFor(formations: readonly Formation[], { type, key }: Pick<Memory, "type" | "key">): { thread: string; message: string }[] {
  const outcomes = formations.flatMap(({ receipt }) => receipt.outcomes ?? []);
  return outcomes.find((each) => each.action === "quarantined" && each.type === type && each.key === key)?.because ?? [];
}

const watchers = new Set<(fewer: number) => void>();

/** Tell who counts what waits that so many were decided, or that a decision was taken back. */
export function tellDecided(fewer: number): void {
  for (const each of [...watchers]) each(fewer);
}

export function watchDecided(watcher: (fewer: number) => void): () => void {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
}

export function useDecided(decided: (fewer: number) => void): void {
  const callback = useRef(decided);
  callback.current = decided;
  useEffect(() => watchDecided((fewer) => callback.current(fewer)), []);
}
