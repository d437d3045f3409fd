/** Taking back all that a message did, and what each change of memories is told with. */

import { api, type Undoable } from "../api/client";
import type { Memory } from "../api/shapes";
import { useAct, type Act } from "./act";
import { addressOf, leftBy, nextOf, type Left } from "./kept_changes";
import { speakerOf } from "./past";
import { joined } from "./pointer";
import { refusedInWords } from "./refused_memory";
import { isDocument, pairsOf, personIn, shortened } from "./sentences";
import { useAround, useHere } from "./session";
import { standing } from "./standing";
import { useUndoable, wayBack } from "./undo";

/** A memory in a notice, where several may stand at once: its sentence; of a document whose it is, and what it says. */
export function toldOf(memory: Pick<Memory, "type" | "key" | "value" | "sentence">, named: (type: string) => string = (type) => type): string {
  const whose = speakerOf(memory) ?? personIn([memory]);
  if (!isDocument(memory)) return shortened(memory.sentence);
  const said = joined(pairsOf(memory.value).filter((each) => each.text !== whose).map((each) => `${named(each.name)} ${each.text}`));
  return shortened([whose, said].filter(Boolean).join(": ") || named(memory.type));
}

export interface Told {
  /** A memory in a notice. */
  said: (memory: Memory) => string;
  /** Refuse again, with the memory that stands in the way in words. */
  inWords: (error: unknown) => Promise<never>;
  /** Tell of a change, with its way back; `memories` are as it left them, beside the one that it answers. */
  told: (text: string, what: string, memories: readonly Left[]) => (answer: Undoable & Partial<Memory>) => void;
}

/** What a change of memories is told with; `changed` is called once it is taken back. */
export function useTold(changed: () => void): Told {
  const { tell, named } = useAround();
  const { scope } = useHere();
  const said = (memory: Memory) => toldOf(memory, named);
  return {
    said,
    inWords: (error) => refusedInWords(error, scope, async (address) => {
      const memory = await standing(scope, address);
      return memory ? said(memory) : undefined;
    }).then((problem) => Promise.reject(problem)),
    told: (text, what, memories) => (answer) => tell(text, wayBack(scope, answer, changed, { what, memories: [...leftBy(scope, answer), ...memories] })),
  };
}

/** One at a time, as the acts on a memory are; answers whether it was done. */
export interface TakingBack extends Act {
  /** Take back all that a message did; the memories are those that are known to be changed by it. */
  takeBack: (memories: readonly Memory[], thread: string, message: string) => Promise<boolean>;
}

export function useTakeBack(changed: () => void): TakingBack {
  const { t } = useAround();
  const { scope } = useHere();
  const change = useUndoable();
  const { said, inWords, told } = useTold(changed);
  const act = useAct(changed);

  const takeBack = (memories: readonly Memory[], thread: string, message: string) => {
    // One key for all tries: it is carried out once, also where an answer was lost.
    const key = crypto.randomUUID();
    // A document stays: what is taken back is a change of it, unless the message made it.
    const what = memories.map((each) => (isDocument(each) && each.version > 1 ? t("told.change_of", { what: said(each) }) : said(each))).join("; ");
    return act.run({
      request: () => change<Undoable>((undo) => api.undoMessage(scope, { thread, message }, memories, key, undo)).catch(inWords),
      succeed: told(t("told.taken_back", { what: shortened(what) }), what, memories.map((each) => (each.version === 1 ? { ...addressOf(scope, each), version: null } : nextOf(scope, each)))),
    });
  };

  return { ...act, takeBack };
}
