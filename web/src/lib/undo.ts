/** Undo: a change is made with a token that takes it back exactly, or with consent that it is for good. */

import { useCallback } from "react";
import { api, type Undoable } from "../api/client";
import { Problem } from "../api/problem";
import type { Scope } from "../api/shapes";
import { keepChange, takeBack, type Left } from "./kept_changes";
import { useAround } from "./session";

export type Change<T> = (undo: boolean) => Promise<T>;

/** Make a change with a way back; where that would be too large to keep, make it for good if `agrees` does, else answer null. */
export async function undoable<T>(change: Change<T>, agrees: () => boolean): Promise<T | null> {
  try {
    return await change(true);
  } catch (error) {
    const isTooLarge = error instanceof Problem && error.code === "limit" && error.detail.includes("UNDO_BYTES_MAX");
    if (!isTooLarge) throw error;
    return agrees() ? change(false) : null;
  }
}

/** What a change did: in words, and how it left the memories. */
export interface Done {
  what: string;
  memories: Left[];
}

/** The way back that an answer offers, if it has one; a change of memories keeps it, for where they are listed. */
export function wayBack(scope: Scope, answer: Undoable | null | undefined, undone: () => void, done?: Done): (() => Promise<void>) | undefined {
  const token = answer?.undo;
  if (!token) return undefined;
  const kept = done && keepChange(done.what, done.memories, [{ scope, undo: token }]);
  if (kept) {
    return async () => {
      await takeBack(kept);
      undone();
    };
  }
  return async () => {
    await api.undo(scope, token);
    undone();
  };
}

/** Make changes in a scope; each answers null where the person did not want it without a way back. */
export function useUndoable(): <T>(change: Change<T>) => Promise<T | null> {
  const { t } = useAround();
  return useCallback(<T>(change: Change<T>) => undoable(change, () => window.confirm(t("undo.too_large"))), [t]);
}
