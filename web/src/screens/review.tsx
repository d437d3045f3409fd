/** Review: what was formed with doubts waits here for a person. */

import { useCallback, useState, type ReactNode } from "react";
import { api, type Undoable } from "../api/client";
import { isGone } from "../api/problem";
import type { Memory, Scope } from "../api/shapes";
import { useAct } from "../lib/act";
import { useAsked, usePages } from "../lib/asking";
import { whyWritten } from "../lib/causes";
import { useChanges } from "../lib/changes";
import { leftBy, standing, toldOf } from "../lib/memory_acts";
import { sinceThen, speakerOf, timeOf } from "../lib/past";
import { linkTo, useRoute } from "../lib/route";
import { isDocument } from "../lib/sentences";
import { useAround, useHere, useWording } from "../lib/session";
import { daysIn, momentsOf, type Days } from "../lib/time";
import { useUndoable, wayBack } from "../lib/undo";
import { memoryLink, PageHead, When } from "../parts/basics";
import { TypeName, TypeSign } from "../parts/said";
import { ActFailure, Empty, Failure, Loading, More } from "../parts/states";
import { Quotes, Value } from "../parts/value";

type Decision = "approve" | "reject";

export default function Review() {
  const { query } = useRoute();
  const days = daysIn(query);
  return days.known ? <ReviewThen days={days} /> : <ReviewNow days={days} />;
}

function ReviewNow({ days }: { days: Days }) {
  const { t } = useAround();
  const { scope } = useHere();
  const waiting = usePages((cursor) => api.memories(scope, { state: "quarantined", cursor, ...momentsOf(days) }), (answer) => answer.memories, [scope, days]);
  useChanges(scope, waiting.again);
  /* What was decided, until the list is there without it. */
  const [decided, setDecided] = useState<ReadonlySet<Memory>>(new Set());
  const decide = useCallback((memory: Memory) => setDecided((before) => new Set(before).add(memory)), []);
  const rows = waiting.rows.filter((each) => !decided.has(each));
  return (
    <div className="page">
      <PageHead title={t("review")} about={t(days.on ? "review.true_then" : "review.about")} />
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

const THEN_READ = 100;

/** What waited on an earlier day, each with what became of it: decisions are made today. */
function ReviewThen({ days }: { days: Days }) {
  const { t } = useAround();
  const { scope } = useHere();
  const waited = useAsked(() => api.memories(scope, { state: "quarantined", order: "newest", limit: THEN_READ, ...momentsOf(days) }), [scope, days]);
  const { memories = [], counts } = waited.value ?? {};
  const total = counts?.total ?? memories.length;
  return (
    <div className="page">
      <PageHead title={t("review")} about={t("review.about")}><a className="button" href={linkTo(["review"], scope, { on: "", known: "" })}>{t("review.today")}</a></PageHead>
      <Failure error={waited.error} again={waited.again} isBusy={waited.isLoading} />
      {!waited.value && !waited.error && <Loading />}
      {waited.value && !memories.length && <Empty icon="time" title={t("review.none_then")} />}
      {total > memories.length && <p className="notice">{t("review.more_then", { count: memories.length, total })}</p>}
      <ul className="cards">{memories.map((memory) => <li key={`${memory.type}/${memory.key}`} className="card"><Doubted memory={memory}><Since memory={memory} /></Doubted></li>)}</ul>
    </div>
  );
}

/** What became of a memory after the version that waited. */
function Since({ memory }: { memory: Memory }) {
  const { t } = useAround();
  const { scope } = useHere();
  const wording = useWording();
  const history = useAsked(() => api.history(scope, memory.type, memory.key), [scope, memory.type, memory.key]);
  const found = history.value && sinceThen(history.value.revisions, memory.version);
  const isDeleted = isGone(history.error) || history.value?.revisions.length === 0;
  if (!found && !isDeleted) return <Failure error={history.error} again={history.again} />;
  const word = found ? found.state : "gone";
  return <p className="hint">{t(`review.since.${word}`, { day: found ? wording.day(found.at) : "" })}</p>;
}

/** One memory that waits, with the doubts about it and the two verdicts. */
function Waiting({ memory, decided, changed }: { memory: Memory; decided: (memory: Memory) => void; changed: () => void }) {
  const { t } = useAround();
  const { can } = useHere();
  const acts = useVerdict(changed);
  const decide = (decision: Decision) => acts.decide(memory, decision, () => decided(memory));
  return (
    <li className="card">
      <Doubted memory={memory} />
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

/** What a memory says, the words that it rests on, and why it is doubted. */
function Doubted({ memory, children }: { memory: Memory; children?: ReactNode }) {
  const { scope } = useHere();
  return (
    <>
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
      {children}
    </>
  );
}

/** A verdict on what waits, with a way back. */
function useVerdict(changed: () => void) {
  const { t, tell, named } = useAround();
  const { scope } = useHere();
  const change = useUndoable();
  const act = useAct(changed);
  const decide = (memory: Memory, decision: Decision, done: () => void) =>
    void act.run({
      request: () => change<Undoable>((undo) => decision === "approve" ? api.approve(scope, memory.type, memory.key, memory.version, undo) : api.reject(scope, memory.type, memory.key, memory.version, "", undo)),
      outcome: async () => ((await isDecided(scope, memory, decision)) ? {} : undefined),
      succeed: (answer) => {
        done();
        tell(t(decision === "approve" ? "review.approved" : "review.rejected"), wayBack(scope, answer, changed, { what: toldOf(memory, named), memories: leftBy(scope, answer) }));
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
  const { t } = useAround();
  const { scope } = useHere();
  const history = useAsked(() => api.history(scope, memory.type, memory.key), [scope, memory.type, memory.key, memory.version]);
  const cause = history.value?.revisions.find((each) => each.version === memory.version)?.cause;
  if (history.error && !isGone(history.error)) return <Failure error={history.error} again={history.again} />;
  return cause ? <p className="notice">{whyWritten(cause, t)}</p> : null;
}
