/** What a person does to a memory, each told at once and with a way back. */

import { useCallback } from "react";
import { api } from "../api/client";
import type { Memory, Scope } from "../api/shapes";
import { undoOf } from "./past";
import { useAround, useHere } from "./session";

export interface MemoryActs {
  forget: (memory: Memory) => Promise<boolean>;
  reject: (memory: Memory, pointer?: string) => Promise<Memory | null>;
  restore: (memory: Memory, version: number) => Promise<Memory | null>;
  takeBack: (memory: Memory, thread: string, message: string) => Promise<boolean>;
}

export function useMemoryActs(scopeGiven: Scope | null, changed: () => void): MemoryActs {
  const { t, tell, complain } = useAround();
  const here = useHere();
  const scope = scopeGiven ?? here.scope;

  const tried = useCallback(
    async <T>(act: () => Promise<T>): Promise<T | null> => {
      try {
        return await act();
      } catch (error) {
        complain(error);
        return null;
      } finally {
        changed();
      }
    },
    [complain, changed],
  );

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

  const forget = useCallback(
    async (memory: Memory) =>
      (await tried(async () => {
        await api.forget(scope, memory.type, memory.key, memory.version);
        tell(t("told.forgotten"), () => putBack(memory));
        return true;
      })) ?? false,
    [scope, tried, tell, t, putBack],
  );

  const reject = useCallback(
    (memory: Memory, pointer = "") =>
      tried(async () => {
        const rejected = await api.reject(scope, memory.type, memory.key, memory.version, pointer);
        tell(t("told.rejected"), goBackTo(memory, memory.version));
        return rejected;
      }),
    [scope, tried, tell, t, goBackTo],
  );

  const restore = useCallback(
    (memory: Memory, version: number) =>
      tried(async () => {
        const restored = await api.restore(scope, memory.type, memory.key, version);
        tell(t("told.restored", { version }), goBackTo(memory, memory.version));
        return restored;
      }),
    [scope, tried, tell, t, goBackTo],
  );

  const takeBack = useCallback(
    async (memory: Memory, thread: string, message: string) =>
      (await tried(async () => {
        const { revisions } = await api.history(scope, memory.type, memory.key);
        const undo = undoOf(revisions, thread, message);
        if (undo.kind === "nothing") return false;
        if (undo.kind === "forget") {
          await api.forget(scope, memory.type, memory.key);
          tell(t("told.taken_back"), () => putBack(memory));
          return true;
        }
        if (undo.kind === "restore") {
          await api.restore(scope, memory.type, memory.key, undo.version);
        } else {
          const { valid_from, valid_until, expires_at, evidence } = memory;
          const kept = keptEvidence(evidence, undo.value);
          await api.put(scope, memory.type, memory.key, { value: undo.value, valid_from, valid_until, expires_at, evidence: kept }, memory.version);
        }
        tell(t("told.taken_back"), goBackTo(memory, memory.version));
        return true;
      })) ?? false,
    [scope, tried, tell, t, putBack, goBackTo],
  );

  return { forget, reject, restore, takeBack };
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
