/** What an answer used, as its metadata refer to it: by digests, so that no name outlasts an erase. */

import type { JsonObject, Memory, RecallEntry, Revision } from "../api/shapes";
import { believedAt } from "./past";
import { joined } from "./pointer";
import { isDocument, pairsOf, personIn } from "./sentences";

/** A memory by type and digest of its key, or a message by digest of its thread and position. */
export interface SourceReference {
  type?: string;
  key?: string;
  thread?: string;
  position?: number;
  quoted?: boolean;
}

/** An entry that an answer used, as far as it is still there. */
export interface UsedEntry {
  entry: Partial<RecallEntry>;
  isQuoted: boolean;
  /** Of a memory: what it says today. */
  memory?: KnownMemory;
  /** Of a message whose words are not read yet: its position in the thread. */
  position?: number;
}

type KnownMemory = Pick<Memory, "type" | "key" | "value" | "sentence" | "version" | "updated_at">;
type Saying = Pick<Memory, "value" | "sentence">;

/** What references may lead to. */
export interface KnownSources {
  memories: readonly KnownMemory[];
  threads: readonly string[];
}

const FNV_OFFSET = 0xcbf29ce484222325n;
const FNV_PRIME = 0x100000001b3n;

/** 16 hexadecimal digits for a name, as `name_digest` of recollect/chat/answer_sources.py makes them. */
export function nameDigest(name: string): string {
  let digest = FNV_OFFSET;
  for (const byte of new TextEncoder().encode(name)) digest = BigInt.asUintN(64, (digest ^ BigInt(byte)) * FNV_PRIME);
  return digest.toString(16).padStart(16, "0");
}

/** The references in the metadata of an answer. */
export function referencesIn(metadata: JsonObject | null | undefined): SourceReference[] {
  const used = metadata?.used;
  return Array.isArray(used) ? used.filter((each): each is JsonObject => each !== null && typeof each === "object" && !Array.isArray(each)) : [];
}

/** What the references lead to; what has been erased or deleted since is left out. */
export function sourcesOf(references: readonly SourceReference[], { memories, threads }: KnownSources): UsedEntry[] {
  return references.flatMap(({ type, key, thread, position, quoted = false }): UsedEntry[] => {
    if (type !== undefined) {
      const memory = memories.find((each) => each.type === type && nameDigest(each.key) === key);
      return memory ? [{ entry: { kind: "memory", type, key: memory.key }, memory, isQuoted: quoted }] : [];
    }
    const found = threads.find((each) => nameDigest(each) === thread);
    return found !== undefined && position !== undefined ? [{ entry: { kind: "message", thread: found }, isQuoted: quoted, position }] : [];
  });
}

/** Whether a memory was written again after an answer used it: what it says today is not what was used. */
export const isWrittenSince = ({ updated_at }: Pick<Memory, "updated_at">, at: string | null): at is string => at !== null && Date.parse(updated_at) > Date.parse(at);

/** What a memory said when an answer used it, and what it says now where that differs; without that version, as after an erase, what it says now. */
export function saidThen(now: Saying, revisions: readonly Revision[], at: string): { then: Saying; now?: Saying } {
  const then = believedAt(revisions, Date.parse(at));
  return then && then.sentence !== now.sentence ? { then, now } : { then: now };
}

/** A text for a comparison: answers part a list in either way. */
const alike = (text: string): string => text.toLowerCase().replaceAll("、", ", ");

/** A memory in the words that an answer used: of a document the fields that stand in it, without the name, which stands in many; where none does, all. */
export function wordsUsed(said: Saying, answer: string, named: (name: string) => string): string {
  if (!isDocument(said)) return said.sentence;
  const pairs = pairsOf(said.value);
  const used = pairs.filter((each) => each.text !== personIn([said]) && alike(answer).includes(alike(each.text)));
  return joined((used.length ? used : pairs).map((each) => `${named(each.name)} ${each.text}`));
}
