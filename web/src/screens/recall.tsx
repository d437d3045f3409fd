/** Recall: ask anything, and see why each entry is there, what was dropped, and what a prompt would hold. */

import { useEffect, useState } from "react";
import { api } from "../api/client";
import type { JsonObject, RecallAnswer, RecallEntry, Signal } from "../api/shapes";
import { useAsked } from "../lib/asking";
import { go, linkTo, useRoute } from "../lib/route";
import { useAround, useHere, useWording } from "../lib/session";
import { memoryLink, PageHead, When } from "../parts/basics";
import { TypeName, TypeSign } from "../parts/said";
import { Empty, Failure, Loading } from "../parts/states";

const LIMIT = 12;
const BUDGET = 800;

export default function Recall() {
  const { t } = useAround();
  const { query } = useRoute();
  const { me, scope, can } = useHere();
  const asked = { q: query.get("q") ?? "", limit: query.get("limit") ?? String(LIMIT), budget: query.get("budget") ?? String(BUDGET), valid: query.get("valid") ?? "", known: query.get("known") ?? "", below: query.get("below") ?? "", among: query.get("among") ?? "" };
  const [draft, setDraft] = useState(asked);
  useEffect(() => setDraft(asked), [JSON.stringify(asked)]);
  const answer = useAsked<RecallAnswer | null>(
    (signal) => (asked.q ? api.recall(scope, bodyOf(asked), signal) : Promise.resolve(null)),
    [scope, asked],
  );
  const set = (name: keyof typeof draft) => (event: { target: { value: string } }) => setDraft({ ...draft, [name]: event.target.value });
  return (
    <div className="page">
      <PageHead title={t("recall")} about={t("recall.about")} />
      <form
        className="ask"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          const link = linkTo(["recall"], scope, draft);
          if (link === location.hash) answer.again();
          else go(link);
        }}
      >
        <div className="ask-line">
          <input type="search" id="search" value={draft.q} placeholder={t("recall.ask")} aria-label={t("recall.ask")} onChange={set("q")} />
          <button type="submit" className="accent" disabled={!draft.q.trim()}>{t("recall.do")}</button>
        </div>
        <div className="ask-options">
          <label>{t("recall.among")}<select value={draft.among} onChange={set("among")}><option value="">{t("recall.everything")}</option><option value="memories">{t("memories")}</option></select></label>
          <label>{t("recall.limit")}<input type="number" min={1} max={200} value={draft.limit} onChange={set("limit")} /></label>
          <label>{t("recall.budget")}<input type="number" min={1} value={draft.budget} onChange={set("budget")} /></label>
          <label>{t("recall.valid_at")}<input type="date" value={draft.valid} onChange={set("valid")} /></label>
          <label>{t("recall.known_at")}<input type="date" value={draft.known} onChange={set("known")} /></label>
          {can("below") && <label className="check"><input type="checkbox" checked={draft.below === "1"} onChange={(event) => setDraft({ ...draft, below: event.target.checked ? "1" : "" })} />{t("memories.below")}</label>}
        </div>
      </form>
      {(!me.embedder || me.embedder === "none") && <p className="notice">{t("recall.words_only")}</p>}
      <Failure error={answer.error} again={answer.again} />
      {!asked.q && <Empty icon="recall" title={t("recall.empty")}><p>{t("recall.empty_about")}</p></Empty>}
      {asked.q && answer.isLoading && !answer.value && !answer.error && <Loading rows={5} />}
      {answer.value && <Answer answer={answer.value} budget={Number(asked.budget)} />}
    </div>
  );
}

function bodyOf(asked: { q: string; limit: string; budget: string; valid: string; known: string; below: string; among: string }): JsonObject {
  return {
    query: asked.q,
    render: true,
    limit: Number(asked.limit) || LIMIT,
    ...(Number(asked.budget) ? { budget_tokens: Number(asked.budget) } : {}),
    ...(asked.valid ? { valid_at: `${asked.valid}T23:59:59Z` } : {}),
    ...(asked.known ? { known_at: `${asked.known}T23:59:59Z` } : {}),
    ...(asked.below ? { below: true } : {}),
    ...(asked.among === "memories" ? { roles: [] } : {}),
  };
}

function Answer({ answer, budget }: { answer: RecallAnswer; budget: number }) {
  const { t } = useAround();
  const wording = useWording();
  const { scope } = useHere();
  const most = Math.max(...answer.entries.map((each) => sizeOf(each.signals)), 0.001);
  return (
    <>
      <p className="recall-sum" role="status">
        <strong>{t("recall.found", { count: answer.entries.length })}</strong>
        <span>{t("recall.tokens", { tokens: wording.number(answer.tokens), budget: wording.number(budget) })}</span>
        <meter min={0} max={budget || answer.tokens} value={answer.tokens} aria-label={t("recall.budget")} />
        <span>{t("recall.ms", { ms: wording.number(answer.ms, answer.ms < 10 ? 1 : 0) })}</span>
        {answer.partial && <span className="badge badge-warn">{t("recall.partial")}</span>}
      </p>
      {!answer.entries.length && <Empty icon="recall" title={t("recall.nothing")} />}
      <ol className="entries">
        {answer.entries.map((entry, place) => <Entry key={place} entry={entry} rank={place + 1} most={most} />)}
      </ol>
      {answer.dropped.length > 0 && (
        <details className="fold">
          <summary>{t("recall.dropped", { count: answer.dropped.length })}</summary>
          <ul className="dropped">
            {answer.dropped.map((entry, place) => (
              <li key={place}>
                <span className="badge">{reasonOf(entry.reason, t)}</span>
                <a href={hrefOf(entry, scope)}>{entry.sentence ?? entry.text}</a>
                <span className="faint">{wording.number(entry.score, 2)}{entry.tokens !== undefined && ` · ${t("recall.entry_tokens", { tokens: entry.tokens })}`}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
      {answer.rendered && (
        <details className="fold" open>
          <summary>{t("recall.rendered")}</summary>
          <pre className="rendered" tabIndex={0}>{answer.rendered}</pre>
        </details>
      )}
    </>
  );
}



function hrefOf(entry: RecallEntry, scope: string[]): string {
  if (entry.kind === "memory") return memoryLink({ type: entry.type ?? "", key: entry.key ?? "" }, scope);
  return linkTo(["chat", entry.thread ?? ""], scope, { message: entry.id });
}

function reasonOf(reason: string | undefined, t: ReturnType<typeof useAround>["t"]): string {
  if (reason === "budget") return t("dropped.budget");
  if (reason === "repeats") return t("dropped.repeats");
  if (reason === "limit") return t("dropped.limit");
  return reason ?? "";
}

const sizeOf = (signals: readonly Signal[]): number => signals.reduce((sum, each) => sum + Math.abs(each.part), 0);

function Entry({ entry, rank, most }: { entry: RecallEntry; rank: number; most: number }) {
  const { t } = useAround();
  const { scope } = useHere();
  const wording = useWording();
  const signals = [...entry.signals].filter((each) => Math.abs(each.part) > 0.0005).sort((one, other) => Math.abs(other.part) - Math.abs(one.part));
  return (
    <li className="entry">
      <span className="entry-rank" aria-hidden="true">{rank}</span>
      <div className="entry-body">
        <p className="entry-head">
          {entry.kind === "memory" && entry.type ? <><TypeSign type={entry.type} /><TypeName type={entry.type} /></> : <span className="badge">{t(entry.role === "assistant" ? "role.assistant" : entry.role === "user" ? "role.user" : "recall.message")}</span>}
          <When at={entry.time} />
          <span className="entry-score">{wording.number(entry.score, 2)}</span>
        </p>
        <p className="entry-text"><a href={hrefOf(entry, scope)}>{entry.sentence ?? entry.text}</a></p>
        <div className="signal-bar" aria-hidden="true">
          {signals.map((each) => <span key={each.name} className={`signal signal-${each.name}${each.part < 0 ? " against" : ""}`} style={{ width: `${(Math.abs(each.part) / most) * 100}%` }} />)}
        </div>
        <details className="signals">
          <summary>{signals.slice(0, 3).map((each) => `${signalName(each.name, t)} ${signed(each.part, wording)}`).join(" · ") || t("recall.no_signals")}</summary>
          <table>
            <thead><tr><th scope="col">{t("recall.signal")}</th><th scope="col">z</th><th scope="col">{t("recall.weight")}</th><th scope="col">{t("recall.part")}</th></tr></thead>
            <tbody>
              {entry.signals.map((each) => (
                <tr key={each.name}><th scope="row"><span className={`swatch signal-${each.name}`} />{signalName(each.name, t)}</th><td>{wording.number(each.z, 2)}</td><td>{wording.number(each.weight, 2)}</td><td>{signed(each.part, wording)}</td></tr>
              ))}
            </tbody>
            <tfoot><tr><th scope="row" colSpan={3}>{t("recall.score")}</th><td>{wording.number(entry.score, 2)}</td></tr></tfoot>
          </table>
        </details>
      </div>
    </li>
  );
}

function signed(value: number, wording: ReturnType<typeof useWording>): string {
  return `${value >= 0 ? "+" : "−"}${wording.number(Math.abs(value), 2)}`;
}

const SIGNALS = ["dense", "entry", "window", "session", "session_dense", "speaker", "personal", "when", "date", "age", "importance", "graph"] as const;

function signalName(name: string, t: ReturnType<typeof useAround>["t"]): string {
  const known = SIGNALS.find((each) => each === name);
  return known ? t(`signal.${known}`) : name.replaceAll("_", " ");
}
