/** Undo: a change is made with a token that takes it back exactly, or with consent that it is for good. */

import { useCallback } from "react";
import { api, type Undoable } from "../api/client";
import { Problem } from "../api/problem";
import type { Scope } from "../api/shapes";
import { listenTo } from "./changes";
import { forgetChange, keepChange, takeBack, tokenOf, watchChange, type KeptChange, type Left } from "./kept_changes";
import { useAround, type Progress, type ToastAct } from "./session";
import { standing } from "./standing";

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

/** Of a change of more memories it is not looked whether one was changed since. */
const LOOKED_AT = 5;

/** Forget a change once one of its memories was changed since. */
async function lookAt(change: KeptChange): Promise<void> {
  const now = await Promise.all(change.memories.map((each) => standing(each.scope, each)));
  if (change.memories.some(({ version }, place) => version !== null && (now[place]?.version ?? 0) > version)) forgetChange(change);
}

/** Undo a kept change from its notice, as long as no later change stands in the way. */
export const undoOf = (change: KeptChange, undone: () => void, settled?: () => void): ToastAct =>
  Object.assign((progress?: Progress) => takeBack(change, progress).then(undone).finally(settled), {
    of: tokenOf(change),
    watch: (isOver: () => void) => {
      const leave = watchChange(change, isOver);
      const { tokens: [token], memories } = change;
      const close = token && memories.length <= LOOKED_AT ? listenTo(JSON.stringify(token.scope), () => void lookAt(change).catch(() => undefined)) : leave;
      return () => {
        leave();
        close();
      };
    },
  });

/** The way back that an answer offers, if it has one; a change of memories keeps it, for where they are listed. */
export function wayBack(scope: Scope, answer: Undoable | null | undefined, undone: () => void, done?: Done): ToastAct | undefined {
  const token = answer?.undo;
  if (!token) return undefined;
  if (done) return undoOf(keepChange(done.what, done.memories, [{ scope, undo: token }]), undone);
  return () => api.undo(scope, token).then(undone);
}

/** Make changes in a scope; each answers null where the person did not want it without a way back. */
export function useUndoable(): <T>(change: Change<T>) => Promise<T | null> {
  const { t } = useAround();
  return useCallback(<T>(change: Change<T>) => undoable(change, () => window.confirm(t("undo.too_large"))), [t]);
}
