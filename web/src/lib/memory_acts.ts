/** What a person does to a memory, each told at once and with a way back. */

import { useCallback } from "react";
import { api, type Undoable } from "../api/client";
import type { Memory, Scope } from "../api/shapes";
import { undoOf } from "./past";
import { useAround, useHere } from "./session";
import { useUndoable, wayBack } from "./undo";

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
  const change = useUndoable();

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

  const done = useCallback(
    (text: string, answer: Undoable | undefined) => tell(text, wayBack(scope, answer, changed)),
    [scope, tell, changed],
  );

  const forget = useCallback(
    async (memory: Memory) =>
      (await tried(async () => {
        const answer = await change(async (undo) => (await api.forget(scope, memory.type, memory.key, memory.version, undo)) ?? {});
        if (answer) done(t("told.forgotten"), answer);
        return answer !== null;
      })) ?? false,
    [scope, tried, change, done, t],
  );

  const reject = useCallback(
    (memory: Memory, pointer = "") =>
      tried(async () => {
        const rejected = await change((undo) => api.reject(scope, memory.type, memory.key, memory.version, pointer, undo));
        if (rejected) done(t("told.rejected"), rejected);
        return rejected;
      }),
    [scope, tried, change, done, t],
  );

  const restore = useCallback(
    (memory: Memory, version: number) =>
      tried(async () => {
        const restored = await change((undo) => api.restore(scope, memory.type, memory.key, version, undefined, undo));
        if (restored) done(t("told.restored", { version }), restored);
        return restored;
      }),
    [scope, tried, change, done, t],
  );

  const takeBack = useCallback(
    async (memory: Memory, thread: string, message: string) =>
      (await tried(async () => {
        const { revisions } = await api.history(scope, memory.type, memory.key);
        const way = undoOf(revisions, thread, message);
        if (way.kind === "nothing") return false;
        const answer = await change(async (undo) => {
          if (way.kind === "forget") return (await api.forget(scope, memory.type, memory.key, undefined, undo)) ?? {};
          if (way.kind === "restore") return api.restore(scope, memory.type, memory.key, way.version, undefined, undo);
          const { valid_from, valid_until, expires_at, evidence } = memory;
          const kept = keptEvidence(evidence, way.value);
          return api.put(scope, memory.type, memory.key, { value: way.value, valid_from, valid_until, expires_at, evidence: kept }, memory.version, undo);
        });
        if (answer) done(t("told.taken_back"), answer);
        return answer !== null;
      })) ?? false,
    [scope, tried, change, done, t],
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
