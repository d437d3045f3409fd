/** The words that memories rest on, each once. */

import type { Evidence, Formation, Memory, Revision } from "../api/shapes";
import type { Word } from "../words";

const nameOf = ({ kind, thread, message, quote, file }: Evidence): string => JSON.stringify([kind ?? "message", thread, message, quote ?? "", file?.path, file?.line]);

/** Each of the words once, in their order. */
export function distinct(evidence: readonly Evidence[]): Evidence[] {
  return [...new Map(evidence.map((each) => [nameOf(each), each])).values()];
}

/** Whether a message is only where some words come from: an empty quote, of what somebody wrote over what it says. */
export const isOrigin = ({ kind, quote }: Evidence): boolean => (kind ?? "message") === "message" && quote === "";

/** Words that were said: a message that only stands behind what was written by hand is left out where words of it are told. */
export function withoutTold(said: readonly Evidence[]): Evidence[] {
  const told = new Set(said.filter((each) => each.quote).map(({ thread, message }) => JSON.stringify([thread, message])));
  return said.filter((each) => !isOrigin(each) || !told.has(JSON.stringify([each.thread, each.message])));
}

/** What stands for evidence: its quote, or what the message is. */
export const quoteOf = ({ quote }: Pick<Evidence, "quote">, t: (word: Word, values?: Record<string, string>) => string): string =>
  quote ? t("quoted", { words: quote }) : t(quote === "" ? "evidence.origin" : "evidence.message");

/** What a version rests on that the one before did not. */
export function freshEvidence(revision: Pick<Revision, "evidence">, before: Pick<Revision, "evidence"> | undefined): Evidence[] {
  const known = new Set(Object.values(before?.evidence ?? {}).flat().map(nameOf));
  return distinct(Object.values(revision.evidence).flat()).filter((each) => !isOrigin(each) && !known.has(nameOf(each)));
}

/** The causes of the versions that a formation writes. */
const FORMED = /^(formed|added|changed|confirmed|said again|a newer value|merged: .*)$/;

/** The messages because of which a formation wrote a version, each once; of what somebody did by hand none. */
export function messagesBehind(revision: Pick<Revision, "cause" | "evidence">, before: Pick<Revision, "evidence"> | undefined): Pick<Evidence, "thread" | "message">[] {
  if (!FORMED.test(revision.cause)) return [];
  const said = freshEvidence(revision, before).filter((each) => (each.kind ?? "message") === "message");
  return [...new Map(said.map(({ thread, message }) => [JSON.stringify([thread, message]), { thread, message }])).values()];
}

/** The messages because of which a formation wrote a version at a time, where the version does not cite them. */
export function becauseOf(formations: readonly Formation[], { type, key }: Pick<Memory, "type" | "key">, at: string): Pick<Evidence, "thread" | "message">[] {
  const outcomes = formations.filter((each) => each.at === at).flatMap(({ receipt }) => receipt.outcomes ?? []);
  return outcomes.find((each) => each.type === type && each.key === key)?.because ?? [];
}

type Written = Pick<Revision, "cause" | "sentence" | "evidence">;

/** Whether a version says something else than the one before, and rests on no words that say it so: somebody wrote it. */
const isByHand = (version: Written, before: Written): boolean =>
  version.cause === "put" && version.sentence !== before.sentence && !freshEvidence(version, before).length;

/** The version in which somebody wrote what a memory says now, unless words that were cited later say it too. */
export function writtenByHand<V extends Written & Pick<Revision, "version">>(revisions: readonly V[]): V | undefined {
  const newestFirst = [...revisions].sort((one, other) => other.version - one.version);
  for (const [place, version] of newestFirst.entries()) {
    const before = newestFirst[place + 1];
    if (!before || freshEvidence(version, before).length) return undefined;
    if (version.sentence !== before.sentence) return isByHand(version, before) ? version : undefined;
  }
  return undefined;
}
