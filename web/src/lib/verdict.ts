/** The verdicts on a memory that waits: to approve it, or to leave what stands as it is. */

import { api, type Undoable } from "../api/client";
import type { Memory, Scope } from "../api/shapes";
import { useAct, type Act } from "./act";
import { leftBy } from "./kept_changes";
import { useAround, useHere } from "./session";
import { standing } from "./standing";
import { toldOf } from "./take_back";
import { useUndoable, wayBack } from "./undo";
import { tellDecided } from "./waiting";

export type Decision = "approve" | "reject";

/** The verdicts on what waits, and what is told of each: a new memory is approved, one that stands is changed, ended or kept. */
export const VERDICTS = {
  new: { approve: "review.approve", reject: "reject", approved: "review.approved", rejected: "review.rejected" },
  change: { approve: "review.change_it", reject: "review.keep_it", approved: "review.changed", rejected: "review.kept" },
  end: { approve: "review.end_it", reject: "review.keep_it", approved: "review.ended", rejected: "review.kept" },
} as const;

/** What is offered first is what changes nothing that stands. */
export const LOOKS = { new: { approve: "accent", reject: "danger" }, change: { approve: undefined, reject: "accent" }, end: { approve: "danger", reject: undefined } } as const;

/** A verdict on what waits, with a way back. */
export function useVerdict(changed: () => void, words: (typeof VERDICTS)[keyof typeof VERDICTS]): Act & { decide: (memory: Memory, decision: Decision, done: () => void) => void } {
  const { t, tell, named } = useAround();
  const { scope } = useHere();
  const change = useUndoable();
  const act = useAct(changed);
  const decide = (memory: Memory, decision: Decision, done: () => void) =>
    void act.run({
      request: () => change<Undoable>((undo) => decision === "approve" ? api.approve(scope, memory.type, memory.key, memory.version, undo) : api.reject(scope, memory.type, memory.key, memory.version, "", undo)),
      outcome: async () => ((await isDecided(scope, memory, decision)) ? {} : undefined),
      succeed: (answer) => {
        done();
        tellDecided(1);
        const undone = () => {
          tellDecided(0);
          changed();
        };
        tell(t(decision === "approve" ? words.approved : words.rejected), wayBack(scope, answer, undone, { what: toldOf(memory, named), memories: leftBy(scope, answer) }));
      },
    });
  return { ...act, decide };
}

/** Whether a verdict whose answer was lost was passed; not so if the memory waits still, or somebody decided otherwise. */
async function isDecided(scope: Scope, memory: Memory, decision: Decision): Promise<boolean> {
  const now = await standing(scope, memory);
  if (now === null) return decision === "approve";
  return now.version > memory.version && now.state === (decision === "approve" ? "active" : "rejected");
}
