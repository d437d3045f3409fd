/** Review: what was formed with doubts waits here for a person. */

import { useCallback, useState } from "react";
import { api, type Undoable } from "../api/client";
import { isGone } from "../api/problem";
import type { Memory, Scope } from "../api/shapes";
import { useAct } from "../lib/act";
import { useAsked, useChanges, usePages } from "../lib/asking";
import { standing } from "../lib/memory_acts";
import { speakerOf, timeOf } from "../lib/past";
import { isDocument } from "../lib/sentences";
import { useAround, useHere } from "../lib/session";
import { useUndoable, wayBack } from "../lib/undo";
import { memoryLink, PageHead, When } from "../parts/basics";
import { TypeName, TypeSign } from "../parts/said";
import { ActFailure, Empty, Failure, Loading, More } from "../parts/states";
import { Quotes, Value } from "../parts/value";

type Decision = "approve" | "reject";

export default function Review() {
  const { t } = useAround();
  const { scope } = useHere();
  const waiting = usePages((cursor) => api.memories(scope, { state: "quarantined", cursor }), (answer) => answer.memories, [scope]);
  useChanges(scope, waiting.again);
  /* What was decided, until the list is there without it. */
  const [decided, setDecided] = useState<ReadonlySet<Memory>>(new Set());
  const decide = useCallback((memory: Memory) => setDecided((before) => new Set(before).add(memory)), []);
  const rows = waiting.rows.filter((each) => !decided.has(each));
  return (
    <div className="page">
      <PageHead title={t("review")} about={t("review.about")} />
      <Failure error={waiting.error} again={waiting.again} isBusy={waiting.isLoading} />
      {waiting.isLoading && !waiting.rows.length && !waiting.error && <Loading />}
      {!waiting.isLoading && !rows.length && !waiting.error && <Empty icon="review" title={t("review.none")}><p>{t("review.none_about")}</p></Empty>}
      <ul className="cards">
        {rows.map((memory) => <Waiting key={`${memory.type}/${memory.key}`} memory={memory} decided={decide} changed={waiting.again} />)}
      </ul>
      <More hasMore={waiting.hasMore} isLoading={waiting.isLoading} more={waiting.more} error={waiting.moreError} />
    </div>
  );
}

/** One memory that waits, with the doubts about it and the two verdicts. */
function Waiting({ memory, decided, changed }: { memory: Memory; decided: (memory: Memory) => void; changed: () => void }) {
  const { t } = useAround();
  const { scope, can } = useHere();
  const acts = useVerdict(changed);
  const decide = (decision: Decision) => acts.decide(memory, decision, () => decided(memory));
  return (
    <li className="card">
      <header>
        <TypeSign type={memory.type} />
        <a href={memoryLink(memory, scope)}><TypeName type={memory.type} /></a>
        {speakerOf(memory) && <span className="memory-key">{speakerOf(memory)}</span>}
        <span className="row-when"><When at={timeOf(memory)} /></span>
      </header>
      {isDocument(memory)
        ? <Value value={memory.value} evidence={memory.evidence} scope={scope} />
        : <p className="card-said">{memory.sentence}</p>}
      <Quotes evidence={isDocument(memory) ? (memory.evidence[""] ?? []) : Object.values(memory.evidence).flat()} scope={scope} />
      <Doubt memory={memory} />
      <ActFailure act={acts} />
      {can("write") && (
        <footer>
          <button type="button" className="accent" disabled={acts.isBusy} onClick={() => decide("approve")}>{t("review.approve")}</button>
          <button type="button" className="danger" disabled={acts.isBusy} onClick={() => decide("reject")} title={t("reject.about")}>{t("reject")}</button>
        </footer>
      )}
    </li>
  );
}

/** A verdict on what waits, with a way back. */
function useVerdict(changed: () => void) {
  const { t, tell } = useAround();
  const { scope } = useHere();
  const change = useUndoable();
  const act = useAct(changed);
  const decide = (memory: Memory, decision: Decision, done: () => void) =>
    void act.run({
      request: () => change<Undoable>((undo) => decision === "approve" ? api.approve(scope, memory.type, memory.key, memory.version, undo) : api.reject(scope, memory.type, memory.key, memory.version, "", undo)),
      outcome: async () => ((await isDecided(scope, memory, decision)) ? {} : undefined),
      succeed: (answer) => {
        done();
        tell(t(decision === "approve" ? "review.approved" : "review.rejected"), wayBack(scope, answer, changed));
      },
    });
  return { ...act, decide };
}

/** Whether a verdict whose answer was lost was passed; not so if the memory waits still, or somebody decided otherwise. */
async function isDecided(scope: Scope, memory: Memory, decision: Decision): Promise<boolean> {
  const now = await standing(scope, memory);
  if (now === null) return decision === "approve";
  return now.version > memory.version && now.state === (decision === "approve" ? "active" : "rejected");
}

function Doubt({ memory }: { memory: Memory }) {
  const { scope } = useHere();
  const history = useAsked(() => api.history(scope, memory.type, memory.key), [scope, memory.type, memory.key, memory.version]);
  const cause = history.value?.revisions.find((each) => each.version === memory.version)?.cause;
  if (history.error && !isGone(history.error)) return <Failure error={history.error} again={history.again} />;
  return cause ? <p className="notice">{cause}</p> : null;
}
