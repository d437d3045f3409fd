/** What an erase takes with it: the messages, the memories that rest on nothing else, and those that lose a part. */

import type { EraseCounts, EraseTarget, Memory, Message } from "../api/shapes";

export interface Affected {
  memory: Memory;
  /** It rests on nothing else, and goes; otherwise it is revised. */
  goes: boolean;
}

export interface EraseReach {
  messages: Message[];
  memories: Affected[];
}

export const isNothing = ({ messages, memories, revised }: EraseCounts): boolean => messages + memories + revised === 0;

/** Whether an erase of the target takes a message that a memory cites. */
export function takes(target: EraseTarget, cited: { thread: string; message: string }): boolean {
  if ("scope" in target) return true;
  if ("thread" in target) return target.thread === cited.thread;
  if ("messages" in target) return target.messages.thread === cited.thread && target.messages.ids.includes(cited.message);
  return "message" in target && target.message.thread === cited.thread && target.message.id === cited.message;
}

/** The memories that rest on what the target takes, and of each whether it rests on anything else. */
export function affectedBy(target: EraseTarget, memories: readonly Memory[]): Affected[] {
  if ("memory" in target) return memories.filter((each) => each.type === target.memory.type && each.key === target.memory.key).map((memory) => ({ memory, goes: true }));
  return memories.flatMap((memory) => {
    const evidence = Object.values(memory.evidence).flat();
    const taken = evidence.filter((each) => takes(target, each)).length;
    return taken ? [{ memory, goes: taken === evidence.length }] : [];
  });
}
