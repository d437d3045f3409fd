/** What a person does to a memory: each told at once with a way back, or as failed where it was done. */

import { api, type Undoable } from "../api/client";
import { isGone } from "../api/problem";
import type { Memory, Scope } from "../api/shapes";
import { useAct, type Act } from "./act";
import { keepDeleted } from "./deleted";
import { isEnded, isRejected, isRestored } from "./outcomes";
import { speakerOf } from "./past";
import { isDocument } from "./sentences";
import { useAround, useHere } from "./session";
import { useUndoable, wayBack, type Change } from "./undo";

/** Each answers whether it was done; one at a time, and how it failed is in the state of the act. */
export interface MemoryActs extends Act {
  remove: (memory: Memory, done?: () => void) => Promise<boolean>;
  reject: (memory: Memory, pointer?: string) => Promise<boolean>;
  restore: (memory: Memory, version: number) => Promise<boolean>;
  end: (memory: Memory) => Promise<boolean>;
  /** Take back all that a message did; the memories are those that are known to be changed by it. */
  takeBack: (memories: readonly Memory[], thread: string, message: string) => Promise<boolean>;
}

/** What stands now where a memory stood, null if nothing does. */
export function standing(scope: Scope, { type, key }: Pick<Memory, "type" | "key">): Promise<Memory | null> {
  return api.memory(scope, type, key).catch((error: unknown) => (isGone(error) ? null : Promise.reject(error)));
}

/** A change that was made, with no way back: its answer was lost, and the token with it. */
const MADE: Undoable = {};

const TOLD_MAX = 48;

/** A memory in a notice: several may stand there at once. */
export function toldOf(memory: Pick<Memory, "type" | "key" | "value" | "sentence">): string {
  const what = isDocument(memory) ? (speakerOf(memory) ?? memory.type) : memory.sentence;
  return what.length > TOLD_MAX ? `${what.slice(0, TOLD_MAX - 1).trimEnd()}…` : what;
}

export function useMemoryActs(changed: () => void): MemoryActs {
  const { t, tell } = useAround();
  const { scope } = useHere();
  const change = useUndoable();
  const act = useAct(changed);
  const { run } = act;
  const told = (text: string) => (answer: Undoable) => tell(text, wayBack(scope, answer, changed));

  const remove = (memory: Memory, done?: () => void) =>
    run({
      request: () => change(deleted(scope, memory)),
      outcome: async () => ((await standing(scope, memory)) === null ? MADE : undefined),
      succeed: (answer) => {
        if (answer.undo) keepDeleted(scope, memory, toldOf(memory), answer.undo);
        told(t("told.deleted", { what: toldOf(memory) }))(answer);
        done?.();
      },
    });

  const reject = (memory: Memory, pointer = "") =>
    run({
      request: () => change<Undoable>((undo) => api.reject(scope, memory.type, memory.key, memory.version, pointer, undo)),
      outcome: async () => made(await standing(scope, memory), (now) => isRejected(memory, now, pointer)),
      succeed: told(t("told.rejected", { what: toldOf(memory) })),
    });

  const restore = (memory: Memory, version: number) =>
    run({
      request: () => change<Undoable>((undo) => api.restore(scope, memory.type, memory.key, version, memory.version, undo)),
      outcome: async () => {
        const { revisions } = await api.history(scope, memory.type, memory.key);
        return isRestored(memory, revisions, version) ? MADE : undefined;
      },
      succeed: told(t("told.restored", { version, what: toldOf(memory) })),
    });

  const end = (memory: Memory) => {
    const moment = new Date().toISOString();
    return run({
      request: () => change<Undoable>((undo) => api.end(scope, memory.type, memory.key, moment, memory.version, undo)),
      outcome: async () => made(await standing(scope, memory), (now) => isEnded(memory, now, moment)),
      succeed: told(t("told.ended", { what: toldOf(memory) })),
    });
  };

  const takeBack = (memories: readonly Memory[], thread: string, message: string) => {
    // One key for all tries: it is carried out once, also where an answer was lost.
    const key = crypto.randomUUID();
    return run({
      request: () => change<Undoable>((undo) => api.undoMessage(scope, { thread, message }, memories, key, undo)),
      succeed: told(t("told.taken_back")),
    });
  };

  return { ...act, remove, reject, restore, end, takeBack };
}

const made = (now: Memory | null, isDone: (now: Memory) => boolean): Undoable | undefined => (now !== null && isDone(now) ? MADE : undefined);

const deleted = (scope: Scope, { type, key, version }: Memory): Change<Undoable> =>
  async (undo) => (await api.delete(scope, type, key, version, undo)) ?? MADE;

/** The evidence of the fields that a value still has. */
export function keptEvidence(evidence: Memory["evidence"], value: Memory["value"]): Memory["evidence"] {
  return Object.fromEntries(
    Object.entries(evidence).filter(([pointer]) => {
      const name = pointer.split("/")[1]?.replaceAll("~1", "/").replaceAll("~0", "~");
      return name === undefined || name in value;
    }),
  );
}
