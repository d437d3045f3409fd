/** What a memory that waits asks: to be kept, or to change or end one that stands until then. */

import type { ReactNode } from "react";
import { api } from "../api/client";
import { isGone } from "../api/problem";
import type { Formation, Memory } from "../api/shapes";
import { useAsked } from "../lib/asking";
import { changesBetween } from "../lib/diff";
import { freshEvidence } from "../lib/evidence";
import { isOver, useOthers } from "../lib/one_after_another";
import { changeAsked } from "../lib/proposal_question";
import { versionBefore, type Before } from "../lib/proposals";
import { isDocument } from "../lib/sentences";
import { useAround, useHere, useWording } from "../lib/session";
import { doubtOf, saidFor, waitsAs } from "../lib/waiting";
import { Because } from "../parts/because";
import { Quotes, Value } from "../parts/value";
import { Changes } from "../parts/value_changes";

export interface Question {
  kind: "new" | "change" | "end";
  /** What stands until it is decided. */
  before?: Before;
  /** Why it waits. */
  cause?: string;
  error: unknown;
  again: () => void;
}

/** The doubts about a new value whose approval ends what is true now in its place. */
const ENDS: ReadonlySet<string> = new Set(["it would end what more trusted words say", "it would end what was written after its words"]);

export function useQuestion(memory: Memory): Question {
  const { scope } = useHere();
  const kind = waitsAs(memory);
  const history = useAsked(() => api.history(scope, memory.type, memory.key), [scope, memory.type, memory.key, memory.version]);
  const cause = history.value && doubtOf(history.value.revisions, memory.version);
  const before = useAsked(() => (kind === "change" ? versionBefore(scope, memory) : Promise.resolve(undefined)), [scope, kind, memory.type, memory.key]);
  const replaces = kind === "new" && (cause ?? "").split("; ").some((each) => ENDS.has(each));
  const replaced = useOthers(scope, replaces ? memory : undefined).find((each) => !isOver(each));
  const error = isGone(history.error) ? before.error : (history.error ?? before.error);
  return { kind: replaced ? "change" : kind, before: replaced ?? before.value, cause, error, again: history.error ? history.again : before.again };
}

/** The question, the words because of which it is asked, and what holds until it is decided. */
export function Asked({ memory, question: { kind, before }, formations }: { memory: Memory; question: Question; formations: readonly Formation[] }) {
  const { t } = useAround();
  const wording = useWording();
  if (kind === "end") {
    return (
      <>
        <p className="card-said">{t("review.end", { what: memory.sentence })}</p>
        <Because said={saidFor(formations, memory)} until={memory.created_at} />
        <p className="hint">{t("review.since", { day: wording.day(memory.valid_until ?? memory.updated_at) })}</p>
      </>
    );
  }
  if (kind === "change" && before) return <Change memory={memory} before={before} />;
  return <New memory={memory}>{kind === "change" && <p className="hint">{t("review.holds")}</p>}</New>;
}

function New({ memory, children }: { memory: Memory; children?: ReactNode }) {
  const { scope } = useHere();
  const isOfFields = isDocument(memory);
  return (
    <>
      {isOfFields ? <Value value={memory.value} evidence={memory.evidence} scope={scope} /> : <p className="card-said">{memory.sentence}</p>}
      <Quotes evidence={isOfFields ? (memory.evidence[""] ?? []) : Object.values(memory.evidence).flat()} scope={scope} />
      {children}
    </>
  );
}

function Change({ memory, before }: { memory: Memory; before: Before }) {
  const { t, named } = useAround();
  const { scope } = useHere();
  const changes = changesBetween(before.value, memory.value);
  const [only] = changes;
  const isOfFields = isDocument(memory);
  const isOne = changes.length === 1 && only?.kind === "changed";
  const asked = isOfFields && !isOne ? t("review.change_of", { what: named(memory.type) }) : changeAsked(before, memory, t, named);
  return (
    <>
      <p className="card-said">{asked}</p>
      {isOfFields && !isOne && <Changes before={before.value} after={memory.value} />}
      <Quotes evidence={freshEvidence(memory, before)} scope={scope} />
      <p className="hint">{t("review.holds")}</p>
    </>
  );
}
