/** What a person does to a memory: each told at once with a way back, or as failed where it was done. */

import { api, type Undoable } from "../api/client";
import type { Evidence, Memory, Revision, Scope } from "../api/shapes";
import { useAct, type Act } from "./act";
import { addressOf, keepChange, nextOf } from "./kept_changes";
import { isEnded, isRejected, isRestored } from "./outcomes";
import { useAround, useHere } from "./session";
import { standing } from "./standing";
import { useTold } from "./take_back";
import { undoOf, useUndoable, type Change } from "./undo";
import type { Token } from "./undo_tokens";

type Said = Pick<Evidence, "thread" | "message">;

/** Each answers whether it was done; one at a time, and how it failed is in the state of the act. */
export interface MemoryActs extends Act {
  remove: (memory: Memory, done?: () => void) => Promise<boolean>;
  reject: (memory: Memory, pointer?: string) => Promise<boolean>;
  /** Put a version in force again; `ends` are memories that stand in its place, and end with that. */
  restore: (memory: Memory, revision: Revision, ends?: readonly Memory[]) => Promise<boolean>;
  end: (memory: Memory) => Promise<boolean>;
  /** Take back all that the messages did because of which a memory was formed as it is. */
  takeBackFormed: (memory: Memory, messages: readonly Said[]) => Promise<boolean>;
}

/** A change that was made, with no way back: its answer was lost, and the token with it. */
const MADE: Undoable = {};

export function useMemoryActs(changed: () => void): MemoryActs {
  const { t, tell } = useAround();
  const { scope } = useHere();
  const change = useUndoable();
  const { said, inWords, told } = useTold(changed);
  const act = useAct(changed);
  const { run } = act;

  const remove = (memory: Memory, done?: () => void) =>
    run({
      request: () => change(deleted(scope, memory)),
      outcome: async () => ((await standing(scope, memory)) === null ? MADE : undefined),
      succeed: (answer) => {
        told(t("told.deleted", { what: said(memory) }), said(memory), [{ ...addressOf(scope, memory), version: null }])(answer);
        done?.();
      },
    });

  const reject = (memory: Memory, pointer = "") =>
    run({
      request: () => change<Undoable>((undo) => api.reject(scope, memory.type, memory.key, memory.version, pointer, undo)),
      outcome: async () => made(await standing(scope, memory), (now) => isRejected(memory, now, pointer)),
      succeed: told(t("told.rejected", { what: said(memory) }), said(memory), []),
    });

  const restore = (memory: Memory, { version, value, sentence }: Revision, ends: readonly Memory[] = []) => {
    // What it says from then on, not what it said until then.
    const what = said({ ...memory, value, sentence });
    return run({
      request: () => change<Undoable>((undo) => api.restore(scope, memory.type, memory.key, { version, ends, current: memory.version }, undo)),
      outcome: async () => {
        const { revisions } = await api.history(scope, memory.type, memory.key);
        return isRestored(memory, revisions, version) ? MADE : undefined;
      },
      succeed: told(t(ends.length ? "told.restored_instead" : "told.restored", { version, what, ended: ends.map(said).join("; ") }), what, ends.map((each) => nextOf(scope, each))),
    });
  };

  const end = (memory: Memory) => {
    const moment = new Date().toISOString();
    return run({
      request: () => change<Undoable>((undo) => api.end(scope, memory.type, memory.key, moment, memory.version, undo)),
      outcome: async () => made(await standing(scope, memory), (now) => isEnded(memory, now, moment)),
      succeed: told(t("told.ended", { what: said(memory) }), said(memory), []),
    });
  };

  const takeBackFormed = (memory: Memory, messages: readonly Said[]) =>
    run({
      request: () => withoutMessages(scope, memory, messages, change).catch(inWords),
      succeed: ({ tokens, left }) => {
        const kept = tokens.length ? keepChange(said(memory), [{ ...addressOf(scope, memory), version: left?.version ?? null }], tokens) : undefined;
        tell(t("told.taken_back", { what: said(memory) }), kept && undoOf(kept, changed));
      },
    });

  return { ...act, remove, reject, restore, end, takeBackFormed };
}

/** Take back what messages did to a memory and beside it, one after another: each changes the version that the next one meets. */
async function withoutMessages(scope: Scope, memory: Memory, messages: readonly Said[], change: ReturnType<typeof useUndoable>): Promise<{ tokens: Token[]; left: Memory | null } | null> {
  const tokens: Token[] = [];
  let now = await standing(scope, memory);
  for (const each of messages) {
    // Taken back already, in a try whose answer was lost.
    if (!now || !cites(now, each)) continue;
    const named: Memory = now;
    const made: Undoable | null = await change((undo) => api.undoMessage(scope, each, [named], crypto.randomUUID(), undo));
    if (!made) return null;
    if (made.undo) tokens.push({ scope, undo: made.undo });
    now = await standing(scope, memory);
  }
  return { tokens, left: now };
}

const cites = ({ evidence }: Memory, { thread, message }: Said): boolean => Object.values(evidence).flat().some((each) => each.thread === thread && each.message === message);

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
