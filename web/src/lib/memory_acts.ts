/** What a person does to a memory: each told at once with a way back, or as failed where it was done. */

import { useCallback } from "react";
import { api } from "../api/client";
import { isGone } from "../api/problem";
import type { Memory, Scope } from "../api/shapes";
import { useAct, type Act } from "./act";
import { isEnded, isRejected, isRestored, isTakenBack } from "./outcomes";
import { undoOf } from "./past";
import { useAround, useHere } from "./session";

/** Each answers whether it went well; one at a time, and how it failed is in the state of the act. */
export interface MemoryActs extends Act {
  forget: (memory: Memory, done?: () => void) => Promise<boolean>;
  reject: (memory: Memory, pointer?: string) => Promise<boolean>;
  restore: (memory: Memory, version: number) => Promise<boolean>;
  end: (memory: Memory) => Promise<boolean>;
  takeBack: (memory: Memory, thread: string, message: string) => Promise<boolean>;
}

/** What stands now where a memory stood, null if nothing does. */
export function standing(scope: Scope, { type, key }: Pick<Memory, "type" | "key">): Promise<Memory | null> {
  return api.memory(scope, type, key).catch((error: unknown) => (isGone(error) ? null : Promise.reject(error)));
}

export function useMemoryActs(changed: () => void): MemoryActs {
  const { t, tell } = useAround();
  const { scope } = useHere();
  const act = useAct(changed);
  const { run } = act;

  const putBack = useCallback(
    async (memory: Memory) => {
      const { value, text, valid_from, valid_until, expires_at, evidence } = memory;
      await api.put(scope, memory.type, memory.key, { value, text, valid_from, valid_until, expires_at, evidence });
      changed();
    },
    [scope, changed],
  );

  const goBackTo = useCallback(
    (memory: Memory, version: number) => async () => {
      await api.restore(scope, memory.type, memory.key, version);
      changed();
    },
    [scope, changed],
  );

  const forget = (memory: Memory, done?: () => void) =>
    run({
      request: () => api.forget(scope, memory.type, memory.key, memory.version).then(() => true),
      outcome: async () => (await standing(scope, memory)) === null || undefined,
      succeed: () => {
        tell(t("told.forgotten"), () => putBack(memory));
        done?.();
      },
    });

  const reject = (memory: Memory, pointer = "") =>
    run({
      request: () => api.reject(scope, memory.type, memory.key, memory.version, pointer),
      outcome: async () => found(await standing(scope, memory), (now) => isRejected(memory, now, pointer)),
      succeed: () => tell(t("told.rejected"), goBackTo(memory, memory.version)),
    });

  const restore = (memory: Memory, version: number) =>
    run({
      request: () => api.restore(scope, memory.type, memory.key, version, memory.version),
      outcome: async () => {
        const { revisions } = await api.history(scope, memory.type, memory.key);
        return isRestored(memory, revisions, version) ? ((await standing(scope, memory)) ?? undefined) : undefined;
      },
      succeed: () => tell(t("told.restored", { version }), goBackTo(memory, memory.version)),
    });

  const end = (memory: Memory) => {
    const moment = new Date().toISOString();
    return run({
      request: () => api.end(scope, memory.type, memory.key, moment, memory.version),
      outcome: async () => found(await standing(scope, memory), (now) => isEnded(memory, now, moment)),
      succeed: () => tell(t("told.ended"), goBackTo(memory, memory.version)),
    });
  };

  const takeBack = (memory: Memory, thread: string, message: string) =>
    run({
      request: () => takenBack(scope, memory, thread, message),
      outcome: async () => {
        const now = await standing(scope, memory);
        if (now === null) return "forgotten" as const;
        return isTakenBack(memory, now, thread, message) ? ("revised" as const) : undefined;
      },
      succeed: (how) => {
        if (how !== "nothing") tell(t("told.taken_back"), how === "forgotten" ? () => putBack(memory) : goBackTo(memory, memory.version));
      },
    });

  return { ...act, forget, reject, restore, end, takeBack };
}

const found = (now: Memory | null, isDone: (now: Memory) => boolean): Memory | undefined => (now !== null && isDone(now) ? now : undefined);

/** Take back what a message brought into a memory, and return what became of the memory. */
async function takenBack(scope: Scope, memory: Memory, thread: string, message: string): Promise<"forgotten" | "revised" | "nothing"> {
  const { type, key, version } = memory;
  const { revisions } = await api.history(scope, type, key);
  const undo = undoOf(revisions, thread, message);
  if (undo.kind === "nothing") return "nothing";
  if (undo.kind === "forget") {
    await api.forget(scope, type, key, version);
    return "forgotten";
  }
  if (undo.kind === "restore") {
    await api.restore(scope, type, key, undo.version, version);
  } else {
    const { valid_from, valid_until, expires_at, evidence } = memory;
    const kept = keptEvidence(evidence, undo.value);
    await api.put(scope, type, key, { value: undo.value, valid_from, valid_until, expires_at, evidence: kept }, version);
  }
  return "revised";
}

/** The evidence of the fields that a value still has. */
export function keptEvidence(evidence: Memory["evidence"], value: Memory["value"]): Memory["evidence"] {
  return Object.fromEntries(
    Object.entries(evidence).filter(([pointer]) => {
      const name = pointer.split("/")[1]?.replaceAll("~1", "/").replaceAll("~0", "~");
      return name === undefined || name in value;
    }),
  );
}
