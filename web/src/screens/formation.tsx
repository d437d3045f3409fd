/** Formation: what waits, what failed, what was given up, and the receipts of what was done. */

import { useEffect, useRef, useState } from "react";
import { api } from "../api/client";
import { useAct } from "../lib/act";
import type { Formation, Memory, Outcome, Pending, Scope } from "../api/shapes";
import { useAsked, useNow, usePages } from "../lib/asking";
import { whyWritten } from "../lib/causes";
import { useChanges } from "../lib/changes";
import { clock, useFormNow } from "../lib/form_now";
import { isBroken, whyBroken } from "../lib/overview";
import { actionOf, folded, isBlank, summaryOf, threadsOf } from "../lib/receipts";
import { modelName } from "../lib/model_name";
import { failingBelow } from "../lib/read_below";
import { linkTo } from "../lib/route";
import { isDocument } from "../lib/sentences";
import { useAround, useHere, useWording } from "../lib/session";
import { Badge, memoryLink, PageHead, ScopeName, When } from "../parts/basics";
import { PlacesBelow } from "../parts/places_below";
import { TypeSign } from "../parts/said";
import { ActFailure, Empty, Failure, Loading, More } from "../parts/states";
import { ThreadName } from "../parts/thread_name";

const POLL_MS = 5_000;
/** Words of the service for what the row shows already. */
const REASONS: ReadonlySet<string> = new Set(["talk", "failed", "paused"]);

export default function FormationScreen() {
  const { t, tell } = useAround();
  const { me, scope, can } = useHere();
  const backlog = useAsked(() => api.pending(scope), [scope]);
  const receipts = usePages((cursor) => api.formations(scope, cursor), (answer) => answer.formations, [scope]);
  const again = () => {
    backlog.again();
    receipts.again();
  };
  useChanges(scope, again);
  useEffect(() => {
    const timer = setInterval(backlog.again, POLL_MS);
    return () => clearInterval(timer);
  }, [backlog.again]);
  const held = useAct(again);
  const forming = useFormNow(again);
  const isBusy = held.isBusy || forming.isBusy;
  const pending = backlog.value?.pending ?? [];
  const waits = backlog.value && pending.map((each) => `${each.thread} ${each.attempts} ${each.messages}`).join("\n");
  const waited = useRef(waits);
  useEffect(() => {
    // What was formed without storing anything is no change of the scope, but has a receipt.
    if (waited.current !== undefined && waits !== undefined && waits !== waited.current) receipts.again();
    if (waits !== undefined) waited.current = waits;
  }, [waits, receipts.again]);
  return (
    <div className="page">
      <PageHead title={t("formation")} about={me.model ? t("formation.about", { model: modelName(me.model, t) }) : t("panel.no_model")}>
        {can("write") && me.model && (
          <>
            {backlog.value?.paused
              ? <button type="button" disabled={isBusy} onClick={() => void held.run({ request: () => api.resume(scope), succeed: () => tell(t("formation.resumed")) })}>{t("formation.resume")}</button>
              : <button type="button" disabled={isBusy} onClick={() => void held.run({ request: () => api.pause(scope), succeed: () => tell(t("formation.paused")) })}>{t("formation.pause")}</button>}
            <button type="button" className="accent" disabled={isBusy || !pending.length} onClick={() => forming.form()}>{t("formation.run")}</button>
          </>
        )}
      </PageHead>
      <ActFailure act={held} />
      <ActFailure act={forming} />
      {backlog.value?.paused && <p className="notice">{t("formation.is_paused")}</p>}
      {backlog.value && isBroken(backlog.value.breaker) && <p className="notice wrong-notice">{t("formation.breaker")} {whyBroken(backlog.value.breaker)}</p>}
      <Failure error={backlog.error} again={backlog.again} />
      <section className="block">
        <h2>{t("formation.waiting")} <span className="faint">{backlog.value && pending.length}{backlog.value?.cursor && "+"}</span></h2>
        {backlog.isLoading && !backlog.value && !backlog.error && <Loading rows={2} />}
        {backlog.value && !pending.length && <p className="faint">{t("formation.none_waiting")}</p>}
        <ul className="jobs">{pending.map((each) => <Job key={`${each.scope.join("/")} ${each.thread}`} job={each} changed={again} />)}</ul>
      </section>
      <PlacesBelow word="below.formation" to="formation" read={failingBelow} />
      <section className="block">
        <h2>{t("formation.done")}</h2>
        <Failure error={receipts.error} again={receipts.again} />
        {receipts.isLoading && !receipts.rows.length && !receipts.error && <Loading rows={2} />}
        {!receipts.isLoading && !receipts.rows.length && !receipts.error && <Empty icon="form" title={t("formation.none")} />}
        <ul className="receipts">{folded(receipts.rows).map((each) => <Receipts key={each[0]?.id} formations={each} changed={again} />)}</ul>
        <More hasMore={receipts.hasMore} isLoading={receipts.isLoading} more={receipts.more} error={receipts.moreError} />
      </section>
    </div>
  );
}

function Job({ job, changed }: { job: Pending; changed: () => void }) {
  const { t } = useAround();
  const { me, can } = useHere();
  const retrying = useRetry(changed);
  const forming = useFormNow(changed);
  const [arrived] = useState(() => Date.now());
  const now = useNow(500);
  const left_s = job.due_in_s === null ? null : Math.max(0, job.due_in_s - (now - arrived) / 1000);
  return (
    <li>
      <div>
        <a href={linkTo(["chat", job.thread], job.scope)}><ThreadName thread={job.thread} scope={job.scope} /></a>
        <span className="faint"> <ScopeName scope={job.scope} /> · {t("panel.messages", { count: job.messages })}</span>
        {job.attempts > 0 && <Badge kind="warn">{t("formation.attempts", { count: job.attempts })}</Badge>}
        {job.state === "paused" && <Badge>{t("panel.paused")}</Badge>}
        {job.reason && !REASONS.has(job.reason) && <p className="fault">{job.reason}</p>}
        <ActFailure act={retrying} />
        <ActFailure act={forming} />
      </div>
      <span className="job-when">{job.state === "paused" ? "" : left_s === null ? t("panel.waiting") : left_s > 0 ? t("panel.in", { time: clock(left_s) }) : t("formation.due")}</span>
      {can("write") && me.model && (job.attempts > 0
        ? <button type="button" className="small" disabled={retrying.isBusy} onClick={() => retrying.retry(job.thread)}>{t("formation.retry")}</button>
        : <button type="button" className="small" disabled={forming.isBusy} onClick={() => forming.form(job.thread)}>{t("panel.form_now")}</button>)}
    </li>
  );
}

/** Trying again what failed or was given up in a thread. */
function useRetry(changed: () => void) {
  const { t, tell } = useAround();
  const { scope } = useHere();
  const act = useAct(changed);
  const retry = (thread: string) => void act.run({ request: () => api.retry(scope, thread), succeed: () => tell(t("formation.retried")) });
  return { ...act, retry };
}

const KINDS = { formed: "good", failed: "wrong", dead: "wrong", redriven: "warn", consolidated: "good" } as const;

/** A receipt, or those in a row of formations that did nothing, folded. */
function Receipts({ formations, changed }: { formations: readonly Formation[]; changed: () => void }) {
  const { t } = useAround();
  const all = formations.map((each) => <Receipt key={each.id} formation={each} changed={changed} />);
  if (all.length === 1) return all[0];
  return <li><details className="idle-runs"><summary><span>{t("formation.idle_runs", { count: all.length })}</span><span className="row-when"><When at={formations[0]?.at} /></span></summary><ul className="receipts">{all}</ul></details></li>;
}

function Receipt({ formation: short, changed }: { formation: Formation; changed: () => void }) {
  const { t, named } = useAround();
  const { scope, can } = useHere();
  const wording = useWording();
  const retrying = useRetry(changed);
  const [isOpen, setOpen] = useState(false);
  const whole = useAsked(() => (isOpen ? api.formation(scope, short.id) : Promise.resolve(null)), [scope, short.id, short.status, isOpen]);
  const sentences = useAsked(() => sentencesOf(scope, whole.value?.receipt.outcomes ?? []), [scope, whole.value]);
  const formation = whole.value ?? short;
  const { outcomes = [], outcomes_left_out = 0, refused = [], reason, model } = formation.receipt;
  const threads = threadsOf(formation);
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <Badge kind={KINDS[formation.status]}>{t(`formation.${formation.status}`)}</Badge>
          <span>{summed(formation, t)}</span>
          {threads.length > 0 && <span className="faint receipt-threads">{threads.map((each) => <ThreadName key={each} thread={each} scope={scope} />)}</span>}
          {formation.calls > 0 && !model?.startsWith("rules/") && <span className="faint receipt-cost">{t("formation.cost", { count: formation.calls, tokens: wording.number(formation.tokens) })}</span>}
          <span className="row-when"><When at={formation.at} /></span>
        </summary>
        <div className="receipt-body">
          <Failure error={whole.error} again={whole.again} />
          {reason && <p className={formation.status === "consolidated" ? undefined : "fault"}>{whyWritten(reason, t)}</p>}
          {isBlank(formation.receipt) && <p className="faint">{t("formation.erased")}</p>}
          <ul>
            {outcomes.map((each, place) => <li key={place}><Badge kind={each.action === "refused" ? "wrong" : each.action === "quarantined" ? "warn" : undefined}>{actionName(each.action, t)}</Badge> <TypeSign type={each.type} isNamed={false} /> <a href={memoryLink(each, scope)}>{sentences.value?.get(nameOf(each)) ?? `${named(each.type)}${each.key === each.type ? "" : ` · ${each.key}`}`}</a>{each.reason && <span className="faint"> {whyWritten(each.reason, t, named)}</span>}</li>)}
            {refused.map((each, place) => <li key={`refused-${place}`}><Badge kind="wrong">{each.kind}</Badge> {each.type ?? each.target} <span className="faint">{each.reason}</span></li>)}
          </ul>
          {outcomes_left_out > 0 && <p className="faint">{t("formation.left_out", { count: outcomes_left_out })}</p>}
          <p className="faint">{threads.map((thread) => <a key={thread} href={linkTo(["chat", thread], scope)}><ThreadName thread={thread} scope={scope} /></a>)}{model && ` · ${modelName(model, t)}`} · {formation.id}</p>
          {can("write") && (formation.status === "dead" || formation.status === "failed") && threads.map((thread) => <button key={thread} type="button" className="small" disabled={retrying.isBusy} onClick={() => retrying.retry(thread)}>{t("formation.retry")}</button>)}
          <ActFailure act={retrying} />
        </div>
      </details>
    </li>
  );
}

const SENTENCES = 20;

/** What memories of a receipt say today; of those that are gone the receipt has their address. */
async function sentencesOf(scope: Scope, outcomes: readonly Outcome[]): Promise<ReadonlyMap<string, string>> {
  const read = await Promise.all(outcomes.slice(0, SENTENCES).map((each) => api.memory(scope, each.type, each.key).catch(() => null)));
  return new Map(read.filter((each) => each !== null && !isDocument(each)).map((each) => [nameOf(each as Memory), (each as Memory).sentence]));
}

const nameOf = ({ type, key }: Pick<Memory, "type" | "key">): string => JSON.stringify([type, key]);

function actionName(action: string, t: ReturnType<typeof useAround>["t"]): string {
  const known = actionOf(action);
  return known ? t(`action.${known}`) : action;
}

/** What a formation did, as one line: what it read, and what came of that. */
function summed(formation: Formation, t: ReturnType<typeof useAround>["t"]): string {
  const { counts, word, reason } = summaryOf(formation);
  const { messages } = formation.receipt;
  const did = word ? [t(`formation.${word}`)] : counts.length ? counts.map(([action, count]) => t("formation.tally", { count, action: actionName(action, t) })) : reason ? [whyWritten(reason, t)] : [];
  return [...(messages ? [t("formation.read", { count: messages })] : []), ...did].join(" · ");
}
