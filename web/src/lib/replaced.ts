/** What ended when a field of a document came: where somebody lived, as a fact, before the profile said it. */

import { api } from "../api/client";
import type { Evidence, Formation, Memory, Revision, Scope } from "../api/shapes";
import { citedFor, formerFields, isSingle } from "./former_fields";
import { pointerOf } from "./pointer";

const FORMATIONS_READ = 100;

type Version = Pick<Revision, "version" | "value" | "state" | "cause" | "evidence" | "believed_from">;
type Said = Pick<Evidence, "thread" | "message">;

/** A field of a document that had no other value before, when it was written, and the messages it rests on. */
export interface NewField {
  pointer: string;
  at: string;
  messages: readonly Said[];
}

/** The fields that messages added to a document: what was known of it until then stands elsewhere. */
export function addedFields(revisions: readonly Version[]): NewField[] {
  const former = formerFields(revisions);
  const newestFirst = [...revisions].sort((one, other) => other.version - one.version);
  return Object.entries(newestFirst[0]?.value ?? {}).flatMap(([name, value]) => {
    const pointer = pointerOf([name]);
    const place = newestFirst.findIndex((each) => each.value[name] !== value);
    const written = newestFirst[place - 1];
    if (!written || !isSingle(value) || former.has(pointer)) return [];
    const messages = citedFor(written, pointer).filter((each) => (each.kind ?? "message") === "message");
    return messages.length ? [{ pointer, at: written.believed_from, messages }] : [];
  });
}

/** What formations ended because of the message that added a field: where it added several, or ended several, which belong together is not known. */
export function endedFor(fields: readonly NewField[], formations: readonly Formation[]): ReadonlyMap<string, readonly Pick<Memory, "type" | "key">[]> {
  const isOf = (one: Said) => (other: Said) => one.thread === other.thread && one.message === other.message;
  const alone = fields.filter((field) => fields.every((other) => other === field || other.at !== field.at || !other.messages.some((each) => field.messages.some(isOf(each)))));
  return new Map(alone.flatMap(({ pointer, at, messages }) => {
    const outcomes = formations.filter((each) => each.at === at).flatMap(({ receipt }) => receipt.outcomes ?? []);
    const ended = outcomes.filter((each) => each.action === "ended" && each.because?.some((said) => messages.some(isOf(said)))).flatMap(({ type, key }) => (type && key ? [{ type, key }] : []));
    return ended.length === 1 ? [[pointer, ended] as const] : [];
  }));
}

type Ended = Pick<Memory, "updated_at" | "valid_until">;

/**
 * For each field of a document, by its pointer, the sentences of what ended because of the message that brought it.
 *
 * With `lately`, what was changed last, the service is asked only where one of these ended when a field came.
 */
export async function replacedIn(scope: Scope, revisions: readonly Revision[], lately?: readonly Ended[]): Promise<ReadonlyMap<string, string>> {
  const added = addedFields(revisions).filter(({ at }) => !lately || lately.some((each) => each.valid_until !== null && each.updated_at === at));
  if (!added.length) return new Map();
  const { formations } = await api.formations(scope, null, FORMATIONS_READ);
  const told = [...endedFor(added, formations)].map(async ([pointer, ended]) => {
    const found = await Promise.all(ended.map(({ type, key }) => api.memory(scope, type, key).catch(() => null)));
    // What was undone, or erased, is not what was true before.
    return [pointer, found.flatMap((each) => (each?.valid_until && Date.parse(each.valid_until) <= Date.now() ? [each.sentence] : [])).join("; ")] as const;
  });
  return new Map((await Promise.all(told)).filter(([, sentences]) => sentences));
}
