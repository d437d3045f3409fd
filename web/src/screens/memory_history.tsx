/** The versions of a memory: what each changed, why it was written, and the words that it brought. */

import { api } from "../api/client";
import type { Memory, Revision } from "../api/shapes";
import { useAsked } from "../lib/asking";
import { whyOfVersion } from "../lib/causes";
import { becauseOf, freshEvidence, messagesBehind } from "../lib/evidence";
import { useMemoryActs } from "../lib/memory_acts";
import { nextOf } from "../lib/one_after_another";
import { isDocument } from "../lib/sentences";
import { useAround, useHere, useWording } from "../lib/session";
import { Badge, memoryLink, When } from "../parts/basics";
import { Because } from "../parts/because";
import { ActFailure } from "../parts/states";
import { UndoOf } from "../parts/undo_kept";
import { Quotes } from "../parts/value";
import { Changes, SentenceChange } from "../parts/value_changes";
import { Restore } from "./memory_restore";

const FORMATIONS_READ = 100;

export function History({ memory, revisions, others, changed }: { memory: Memory; revisions: Revision[]; others: readonly Memory[]; changed: () => void }) {
  const { t, named } = useAround();
  const { scope, can } = useHere();
  const wording = useWording();
  /** What a version changed that left the value alone: the times at which it is true. */
  const sameValue = (before: Revision | undefined, after: Revision): string => {
    const told = ([["memory.valid_from", before?.valid_from, after.valid_from], ["memory.valid_until", before?.valid_until, after.valid_until]] as const)
      .filter(([, former, now]) => (former ?? null) !== now)
      .map(([word, , now]) => t("history.time", { name: t(word), time: now ? wording.moment(now) : t("memory.open_end") }));
    return told.join(" · ") || t("history.same");
  };
  const newestFirst = [...revisions].sort((one, other) => other.version - one.version);
  const freshIn = (place: number) => freshEvidence(newestFirst[place] as Revision, newestFirst[place + 1]);
  // What a message ended has the evidence that it had: which message did it is told by the receipt.
  const isUntold = newestFirst.some((each, place) => each.version > 1 && !freshIn(place).length);
  const formations = useAsked(async () => (isUntold ? (await api.formations(scope, null, FORMATIONS_READ)).formations : []), [scope, isUntold, memory.version]).value ?? [];
  return (
    <ol className="history">
      {newestFirst.map((revision, place) => {
        const before = newestFirst[place + 1];
        const fresh = freshIn(place);
        const said = fresh.length ? [] : becauseOf(formations, memory, revision.believed_from);
        return (
          <li key={revision.version} className="revision">
            <header>
              <strong>{t("memory.version", { version: revision.version })}</strong>
              <span className="cause">{whyOfVersion(revision, t, named)}</span>
              {revision.state !== "active" && <Badge kind={revision.state === "rejected" ? "wrong" : "warn"}>{t(`state.${revision.state}`)}</Badge>}
              <span className="row-when"><When at={revision.believed_from} /></span>
              {revision.version === memory.version
                ? <UndoOf memory={memory} done={changed} otherwise={<UndoFormed memory={memory} revision={revision} before={before} changed={changed} />} />
                : can("write") && revision.state !== "rejected" && <Restore memory={memory} revision={revision} others={others} changed={changed} />}
            </header>
            {isDocument(revision) || before?.sentence === revision.sentence ? <Changes before={before?.value ?? {}} after={revision.value} same={sameValue(before, revision)} /> : <SentenceChange before={before?.sentence} after={revision.sentence} />}
            {revision.valid_until && revision.valid_until !== (before?.valid_until ?? null) && <ReplacedBy memory={memory} others={others} at={revision.valid_until} />}
            {fresh.length > 0 && <Quotes evidence={fresh} scope={scope} />}
            {said.length > 0 && <Because said={said} until={revision.believed_from} />}
          </li>
        );
      })}
    </ol>
  );
}

/** The way back from what messages brought or changed, as the chat offers it beside each of them. */
function UndoFormed({ memory, revision, before, changed }: { memory: Memory; revision: Revision; before: Revision | undefined; changed: () => void }) {
  const { t } = useAround();
  const { can } = useHere();
  const acts = useMemoryActs(changed);
  const messages = messagesBehind(revision, before);
  if (!can("write") || !messages.length || memory.state === "rejected") return null;
  return (
    <>
      <button type="button" className="small" disabled={acts.isBusy} title={t("chat.undo_label")} onClick={() => void acts.takeBackFormed(memory, messages)}>{t("undo")}</button>
      <ActFailure act={acts} />
    </>
  );
}

/** What began to be true when a version ended: the usual reason for its end. */
function ReplacedBy({ memory, others, at }: { memory: Memory; others: readonly Memory[]; at: string }) {
  const { t } = useAround();
  const { scope } = useHere();
  const next = nextOf({ ...memory, valid_until: at }, others);
  if (!next.length) return null;
  return <p className="replaced">{t("history.replaced_by")} {next.map((each) => <a key={each.key} href={memoryLink(each, scope)}>{each.sentence}</a>)}</p>;
}
