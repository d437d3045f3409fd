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

type Effect = "goes" | "revised" | null;

/** What an erase of some targets does to a memory. */
function effectOn(memory: Memory, targets: readonly EraseTarget[]): Effect {
  if (targets.some((each) => "memory" in each && each.memory.type === memory.type && each.memory.key === memory.key)) return "goes";
  const evidence = Object.values(memory.evidence).flat();
  const taken = evidence.filter((each) => targets.some((target) => takes(target, each))).length;
  return !taken ? null : taken === evidence.length ? "goes" : "revised";
}

export interface Totals {
  total: EraseCounts;
  /** Of these, what goes with what was chosen itself, and what only with the messages that quote it. */
  chosen: EraseCounts;
  ticked: EraseCounts;
}

const NONE: EraseCounts = { messages: 0, memories: 0, revised: 0 };
const plus = (one: EraseCounts, other: EraseCounts, sign = 1): EraseCounts => ({
  messages: Math.max(0, one.messages + sign * other.messages),
  memories: Math.max(0, one.memories + sign * other.memories),
  revised: Math.max(0, one.revised + sign * other.revised),
});
const countOf = (effect: Effect): EraseCounts => ({ ...NONE, memories: Number(effect === "goes"), revised: Number(effect === "revised") });

/**
 * What the erases of a plan take together, of which each preview counts its own: a memory that rests on what two of them take is one.
 *
 * `alone` is what the chosen target takes by itself; `memories` are those that may rest on more than one.
 */
export function totalsOf(target: EraseTarget, alone: EraseCounts, plan: readonly EraseTarget[], previews: readonly EraseCounts[], memories: readonly Memory[]): Totals {
  let [total, chosen] = [previews.reduce((sum, each) => plus(sum, each), NONE), alone];
  for (const memory of memories) {
    const effects = plan.map((each) => effectOn(memory, [each])).filter((each) => each !== null);
    const together = effectOn(memory, plan);
    if (effects.length > 1) total = plus(effects.reduce((sum, each) => plus(sum, countOf(each), -1), total), countOf(together));
    // It loses a part by what was chosen, and goes only with the rest.
    if (together === "goes" && effectOn(memory, [target]) === "revised") chosen = plus(chosen, countOf("revised"), -1);
  }
  return { total, chosen, ticked: plus(total, chosen, -1) };
}

/** The memories that rest on what the targets take together, and of each whether it rests on anything else. */
export function affectedBy(targets: readonly EraseTarget[], memories: readonly Memory[]): Affected[] {
  return memories.flatMap((memory) => {
    const effect = effectOn(memory, targets);
    return effect ? [{ memory, goes: effect === "goes" }] : [];
  });
}
