/** Review: what was formed with doubts waits here for a person. */

import { useCallback, useState, type ReactNode } from "react";
import { api } from "../api/client";
import { isGone } from "../api/problem";
import type { Formation, LaterWords, Memory, WaitingMemory } from "../api/shapes";
import { useAsked, usePages } from "../lib/asking";
import { whyWritten } from "../lib/causes";
import { useChanges } from "../lib/changes";
import { changeThatLeft, useKeptChanges } from "../lib/kept_changes";
import { sinceThen, speakerOf, timeOf } from "../lib/past";
import { waitingBelow } from "../lib/read_below";
import { linkTo, useRoute } from "../lib/route";
import { useAround, useHere, useWording } from "../lib/session";
import { toldOf } from "../lib/take_back";
import { daysIn, momentsOf, type Days } from "../lib/time";
import { LOOKS, useVerdict, VERDICTS, type Decision } from "../lib/verdict";
import { tellDecided, waitsAs } from "../lib/waiting";
import { memoryLink, PageHead, When } from "../parts/basics";
import { PlacesBelow } from "../parts/places_below";
import { TypeName, TypeSign } from "../parts/said";
import { ActFailure, Empty, Failure, Loading, More } from "../parts/states";
import { UndoOf } from "../parts/undo_kept";
import { Quotes } from "../parts/value";
import { Asked, useQuestion, type Question } from "./review_question";

export default function Review() {
  const { query } = useRoute();
  const days = daysIn(query);
  return days.known ? <ReviewThen days={days} /> : <ReviewNow days={days} />;
}

function ReviewNow({ days }: { days: Days }) {
  const { t } = useAround();
  const { scope, can } = useHere();
  const waiting = usePages((cursor) => api.review(scope, { cursor, ...momentsOf(days) }), (answer) => answer.memories, [scope, days]);
  useChanges(scope, waiting.again);
  /* What was decided, until the list is there without it. */
  const [decided, setDecided] = useState<ReadonlySet<Memory>>(new Set());
  const decide = useCallback((memory: Memory) => setDecided((before) => new Set(before).add(memory)), []);
  const formations = useFormations(waiting.rows);
  const rows = waiting.rows.filter((each) => !decided.has(each));
  return (
    <div className="page">
      <PageHead title={t("review")} about={t(days.on ? "review.true_then" : "review.about")} />
      {!can("write") && rows.length > 0 && <p className="notice">{t("read_only")}</p>}
      <Failure error={waiting.error} again={waiting.again} isBusy={waiting.isLoading} />
      {waiting.isLoading && !waiting.rows.length && !waiting.error && <Loading />}
      {!waiting.isLoading && !rows.length && !waiting.error && <Empty icon="review" title={t("review.none")}><p>{t("review.none_about")}</p></Empty>}
      <ul className="cards">
        {rows.map((memory) => <Waiting key={`${memory.type}/${memory.key}`} memory={memory} formations={formations} decided={decide} changed={waiting.again} />)}
      </ul>
      <PlacesBelow word="below.review" to="review" read={waitingBelow} />
      <DecidedLately decided={[...decided]} changed={() => { tellDecided(0); waiting.again(); }} />
      <More hasMore={waiting.hasMore} isLoading={waiting.isLoading} more={waiting.more} error={waiting.moreError} />
    </div>
  );
}

/** What was decided on this screen, as long as it can be undone: the notice of it goes. */
function DecidedLately({ decided, changed }: { decided: readonly Memory[]; changed: () => void }) {
  const { t, named } = useAround();
  const { scope } = useHere();
  useKeptChanges();
  const rows = decided.map((each) => ({ ...each, version: each.version + 1 })).filter((each) => changeThatLeft(scope, each));
  if (!rows.length) return null;
  return (
    <details className="deleted-lately">
      <summary>{t("review.decided_lately", { count: rows.length })}</summary>
      <ul>{rows.map((each) => <li key={`${each.type}/${each.key}`}><span>{toldOf(each, named)}</span> <UndoOf memory={each} done={changed} /></li>)}</ul>
    </details>
  );
}

const THEN_READ = 100;
const FORMATIONS_READ = 30;

/** The last formations, where ends wait: which messages asked for these is told there alone. */
function useFormations(waiting: readonly Memory[]): readonly Formation[] {
  const { scope } = useHere();
  const isEnding = waiting.some((each) => waitsAs(each) === "end");
  const asked = useAsked(async () => (isEnding ? (await api.formations(scope, null, FORMATIONS_READ)).formations : []), [scope, isEnding]);
  return asked.value ?? NONE;
}

const NONE: readonly Formation[] = [];

/** What waited on an earlier day, each with what became of it: decisions are made today. */
function ReviewThen({ days }: { days: Days }) {
  const { t } = useAround();
  const { scope } = useHere();
  const waited = useAsked(() => api.memories(scope, { state: "quarantined", order: "newest", limit: THEN_READ, ...momentsOf(days) }), [scope, days]);
  const { memories = [], counts } = waited.value ?? {};
  const total = counts?.total ?? memories.length;
  const formations = useFormations(memories);
  return (
    <div className="page">
      <PageHead title={t("review")} about={t("review.about")}><a className="button" href={linkTo(["review"], scope, { on: "", known: "" })}>{t("review.today")}</a></PageHead>
      <Failure error={waited.error} again={waited.again} isBusy={waited.isLoading} />
      {!waited.value && !waited.error && <Loading />}
      {waited.value && !memories.length && <Empty icon="time" title={t("review.none_then")} />}
      {total > memories.length && <p className="notice">{t("review.more_then", { count: memories.length, total })}</p>}
      <ul className="cards">{memories.map((memory) => <Waited key={`${memory.type}/${memory.key}`} memory={memory} formations={formations} />)}</ul>
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

function Waited({ memory, formations }: { memory: Memory; formations: readonly Formation[] }) {
  const question = useQuestion(memory);
  return <li className="card"><Doubted memory={memory} question={question} formations={formations}><Since memory={memory} /></Doubted></li>;
}

/** One memory that waits, with the doubts about it and the two verdicts. */
function Waiting({ memory, formations, decided, changed }: { memory: WaitingMemory; formations: readonly Formation[]; decided: (memory: Memory) => void; changed: () => void }) {
  const { t } = useAround();
  const { can } = useHere();
  const question = useQuestion(memory);
  const words = VERDICTS[question.kind];
  const acts = useVerdict(changed, words);
  const decide = (decision: Decision) => acts.decide(memory, decision, () => decided(memory));
  return (
    <li className="card">
      <Doubted memory={memory} question={question} formations={formations}><SaidSince since={memory.since} /></Doubted>
      <ActFailure act={acts} />
      {can("write") && (
        <footer>
          <button type="button" className={memory.since.length ? undefined : LOOKS[question.kind].approve} disabled={acts.isBusy} onClick={() => decide("approve")}>{t(words.approve)}</button>
          <button type="button" className={LOOKS[question.kind].reject} disabled={acts.isBusy} onClick={() => decide("reject")} title={question.kind === "new" ? t("reject.about") : undefined}>{t(words.reject)}</button>
        </footer>
      )}
    </li>
  );
}

/** What was said about the same since, each with its memory and its message. */
function SaidSince({ since }: { since: readonly LaterWords[] }) {
  const { t } = useAround();
  const { scope } = useHere();
  const wording = useWording();
  return since.map(({ memory, sentence, said_at, evidence, ended }) => (
    <div key={memory.key} className="hint">
      {t(ended ? "review.ended_since" : "review.said_since", { day: wording.day(said_at) })} <a href={memoryLink(memory, scope)}>{sentence}</a>
      {evidence && <Quotes evidence={[evidence]} scope={scope} />}
    </div>
  ));
}

/** What a memory says, the words that it rests on, and why it is doubted. */
function Doubted({ memory, question, formations, children }: { memory: Memory; question: Question; formations: readonly Formation[]; children?: ReactNode }) {
  const { t, named } = useAround();
  const { scope } = useHere();
  return (
    <>
      <header>
        <TypeSign type={memory.type} />
        <a href={memoryLink(memory, scope)}><TypeName type={memory.type} /></a>
        {speakerOf(memory) && <span className="memory-key">{speakerOf(memory)}</span>}
        <span className="row-when"><When at={timeOf(memory)} /></span>
      </header>
      <Asked memory={memory} question={question} formations={formations} />
      <Failure error={question.error} again={question.again} />
      {question.cause && <p className="notice doubt">{question.cause === "put" ? t("review.untold") : whyWritten(question.cause, t, named)}</p>}
      {children}
    </>
  );
}
