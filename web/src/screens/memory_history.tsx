/** The versions of a memory: what each changed, why it was written, and the words that it brought. */

import { api } from "../api/client";
import type { Memory, Revision } from "../api/shapes";
import { useAsked } from "../lib/asking";
import { whyWritten } from "../lib/causes";
import { freshEvidence } from "../lib/evidence";
import { useMemoryActs } from "../lib/memory_acts";
import { isDocument } from "../lib/sentences";
import { useAround, useHere, useWording } from "../lib/session";
import { Badge, memoryLink, When } from "../parts/basics";
import { ActFailure } from "../parts/states";
import { Changes, Quotes, SentenceChange } from "../parts/value";

export function History({ memory, revisions, changed }: { memory: Memory; revisions: Revision[]; changed: () => void }) {
  const { t } = useAround();
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
  return (
    <ol className="history">
      {newestFirst.map((revision, place) => {
        const before = newestFirst[place + 1];
        const fresh = freshEvidence(revision, before);
        return (
          <li key={revision.version} className="revision">
            <header>
              <strong>{t("memory.version", { version: revision.version })}</strong>
              <span className="cause">{whyWritten(revision.cause, t)}</span>
              {revision.state !== "active" && <Badge kind={revision.state === "rejected" ? "wrong" : "warn"}>{t(`state.${revision.state}`)}</Badge>}
              <span className="row-when"><When at={revision.believed_from} /></span>
              {can("write") && revision.version !== memory.version && <Restore memory={memory} version={revision.version} changed={changed} />}
            </header>
            {isDocument(revision) || before?.sentence === revision.sentence ? <Changes before={before?.value ?? {}} after={revision.value} same={sameValue(before, revision)} /> : <SentenceChange before={before?.sentence} after={revision.sentence} />}
            {revision.valid_until && revision.valid_until !== (before?.valid_until ?? null) && <ReplacedBy memory={memory} at={revision.valid_until} />}
            {fresh.length > 0 && <Quotes evidence={fresh} scope={scope} />}
          </li>
        );
      })}
    </ol>
  );
}

/** So many of the newest of a type are looked through for what began when another one ended. */
const LOOKED_THROUGH = 100;

/** What began to be true at the moment at which a memory ended: the usual reason for its end. */
function ReplacedBy({ memory, at }: { memory: Memory; at: string }) {
  const { t } = useAround();
  const { scope } = useHere();
  const asked = useAsked(() => api.memories(scope, { type: memory.type, state: "active", order: "newest", limit: LOOKED_THROUGH }), [scope, memory.type, at]);
  const next = asked.value?.memories.filter((each) => each.key !== memory.key && each.valid_from !== null && Date.parse(each.valid_from) === Date.parse(at)) ?? [];
  if (!next.length) return null;
  return <p className="replaced">{t("history.replaced_by")} {next.map((each) => <a key={each.key} href={memoryLink(each, scope)}>{each.sentence}</a>)}</p>;
}

function Restore({ memory, version, changed }: { memory: Memory; version: number; changed: () => void }) {
  const { t } = useAround();
  const acts = useMemoryActs(changed);
  return (
    <>
      <button type="button" className="small" disabled={acts.isBusy} onClick={() => void acts.restore(memory, version)}>{t("restore")}</button>
      <ActFailure act={acts} />
    </>
  );
}
