/** Undo where a change is listed, as long as the service accepts it. */

import type { ReactNode } from "react";
import { api } from "../api/client";
import type { Memory } from "../api/shapes";
import { useAct } from "../lib/act";
import { changeThatLeft, forgetChange, isRefused, removalsIn, removedBy, takeBack, tokenOf, useKeptChanges, type KeptChange } from "../lib/kept_changes";
import { shortened } from "../lib/sentences";
import { useAround, useHere } from "../lib/session";
import { standing } from "../lib/standing";
import { ActFailure } from "./states";

/** Whether a change was undone, although the answer was lost. */
async function isUndone({ memories: [left] }: KeptChange): Promise<boolean> {
  if (!left) return false;
  const now = await standing(left.scope, left);
  if (left.version === null) return now !== null;
  if (now === null) return left.version === 1;
  if (now.version !== left.version + 1) return false;
  return (await api.history(left.scope, left.type, left.key)).revisions.some((each) => each.version === now.version && each.cause === "undone");
}

export function UndoButton({ change, done, word = "undo" }: { change: KeptChange; done?: () => void; word?: "undo" | "restore" }) {
  const { t, tell, complain } = useAround();
  const act = useAct();
  const undo = () => void act.run({
    request: () => takeBack(change).then(() => true, (error: unknown) => {
      if (!isRefused(error)) throw error;
      // The button goes with the change: the failure is told where it stays in sight.
      complain(error);
      return null;
    }),
    outcome: async () => ((await isUndone(change)) ? true : undefined),
    succeed: () => {
      forgetChange(change);
      tell(t("told.taken_back", { what: shortened(change.what) }));
      done?.();
    },
  });
  return (
    <>
      <button type="button" className="small" disabled={act.isBusy} title={change.what} onClick={undo}>{t(word)}</button>
      <ActFailure act={act} />
    </>
  );
}

/** The way back from what a memory is now, if this tab has it; otherwise another one. None beside that of the notice, as long as it stands. */
export function UndoOf({ memory, done, otherwise = null }: { memory: Pick<Memory, "type" | "key" | "version">; done?: () => void; otherwise?: ReactNode }) {
  const { scope, can } = useHere();
  const { toasts } = useAround();
  useKeptChanges();
  const change = can("write") ? changeThatLeft(scope, memory) : undefined;
  if (change && toasts.some(({ act }) => act?.do.of === tokenOf(change))) return null;
  return change ? <UndoButton change={change} done={done} /> : otherwise;
}

/** What was deleted, as long as it can be restored. */
export function DeletedLately({ changed }: { changed?: () => void }) {
  const { t } = useAround();
  const { scope, can } = useHere();
  useKeptChanges();
  const removals = can("write") ? removalsIn(scope) : [];
  if (!removals.length) return null;
  return (
    <details className="deleted-lately">
      <summary>{t("deleted.lately", { count: removals.reduce((sum, each) => sum + removedBy(each, scope), 0) })}</summary>
      <ul>{removals.map((each) => <li key={each.tokens[0]?.undo}><span>{each.what}</span> <UndoButton change={each} done={changed} word="restore" /></li>)}</ul>
    </details>
  );
}
