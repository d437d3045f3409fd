/** Looks up what an erase takes, for a person to read. */

import { api } from "../api/client";
import { isGone } from "../api/problem";
import type { EraseTarget, Memory, Message, Scope } from "../api/shapes";
import { affectedBy, type EraseReach } from "./erase_reach";

const PART = 200;
/** So many memories are looked through for those that rest on it; the service counts all of them. */
const LOOKED_THROUGH = 2_000;
const MESSAGES_SHOWN = 20;

/** Look up what a plan of erases takes, as far as a person wants to read of it: the newest messages, and the memories. */
export async function reachOf(scope: Scope, plan: readonly EraseTarget[]): Promise<EraseReach> {
  const [first, ...others] = plan;
  if (!first || "scope" in first || "source" in first) return { messages: [], memories: [] };
  if ("memory" in first && !others.length) {
    const memory = await api.memory(scope, first.memory.type, first.memory.key).catch(() => null);
    return { messages: [], memories: memory ? [{ memory, goes: true }] : [] };
  }
  const [messages, memories] = await Promise.all([Promise.all(plan.map((each) => messagesOf(scope, each))), lookedThrough(scope)]);
  return { messages: messages.flat(), memories: affectedBy(plan, memories) };
}

async function messagesOf(scope: Scope, target: EraseTarget): Promise<Message[]> {
  if ("message" in target) {
    const found = await messageAt(scope, target.message.thread, target.message.id);
    return found ? [found] : [];
  }
  if ("messages" in target) return (await Promise.all(target.messages.ids.map((id) => messageAt(scope, target.messages.thread, id)))).filter((each) => each !== undefined);
  if (!("thread" in target)) return [];
  return orNone(api.messages(scope, target.thread, { last: MESSAGES_SHOWN }).then(({ messages }) => messages));
}

/** A message by its id. There is no route for one: the newest of its thread are looked through. */
async function messageAt(scope: Scope, thread: string, id: string): Promise<Message | undefined> {
  let before: number | undefined;
  for (let pages = 0; pages < LOOKED_THROUGH / PART; pages++) {
    const messages = await orNone(api.messages(scope, thread, { last: PART, before }).then((answer) => answer.messages));
    const found = messages.find((each) => each.id === id);
    if (found || messages.length < PART) return found;
    before = messages[0]?.position;
  }
  return undefined;
}

async function lookedThrough(scope: Scope): Promise<Memory[]> {
  const found: Memory[] = [];
  let cursor: string | null = null;
  do {
    const answer: Awaited<ReturnType<typeof api.memories>> = await api.memories(scope, { cursor, limit: PART });
    found.push(...answer.memories);
    cursor = answer.cursor;
  } while (cursor && found.length < LOOKED_THROUGH);
  return found;
}

const orNone = <T,>(asked: Promise<T[]>): Promise<T[]> => asked.catch((error: unknown) => (isGone(error) ? [] : Promise.reject(error)));
