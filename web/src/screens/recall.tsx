/** Recall: ask anything, see why each entry is there and where, what is missing, and two questions or settings side by side. */

import { useEffect, useState, type JSX } from "react";
import { api } from "../api/client";
import type { RecallAnswer, RecallEntry } from "../api/shapes";
import { useAsked } from "../lib/asking";
import { isClear, middleParts, placesIn, placesText, sharedSignals } from "../lib/recall_reasons";
import { addressOf, bodyOf, settingsIn, shareOf, type RecallSettings } from "../lib/recall_settings";
import { go, isHere, linkTo, useRoute } from "../lib/route";
import { entryWords } from "../lib/sentences";
import { useAround, useHere, useWording } from "../lib/session";
import { questions } from "../lib/sought";
import { PageHead } from "../parts/basics";
import { DayInput } from "../parts/day_input";
import { Icon } from "../parts/icons";
import { Empty, Failure, Loading } from "../parts/states";
import { Entry, hrefOf, reasonOf } from "./recall_entry";
import { Missing } from "./recall_missing";

const OTHER = "b_";
const isWide = (): boolean => matchMedia("(min-width: 901px)").matches;
const SUGGESTED = 4;

export default function Recall() {
  const { t } = useAround();
  const { query } = useRoute();
  const { me, scope } = useHere();
  const one = settingsIn(query);
  const isCompared = query.get("side") === "1";
  const other = settingsIn(query, OTHER);
  const answer = useRecall(one);
  const compared = useRecall(isCompared ? other : null);
  const link = (changed: RecallSettings, changedOther: RecallSettings | null) =>
    linkTo(["recall"], scope, { on: "", known: "", ...addressOf(changed), ...(changedOther ? { side: "1", ...addressOf(changedOther, OTHER) } : {}) });
  const isFresh = one.q === "" && !isCompared;
  // On a phone the keyboard would cover what was asked before; the frame takes the focus when a screen comes.
  useEffect(() => {
    if (!isFresh || !isWide()) return;
    const soon = setTimeout(() => document.getElementById("search")?.focus({ preventScroll: true }));
    return () => clearTimeout(soon);
  }, [isFresh]);
  const follow = (to: string, again: () => void) => (isHere(to) ? again() : go(to));
  return (
    <div className={isCompared ? "page wide-page" : "page"}>
      <PageHead title={t("recall")} about={t("recall.about")}>
        {isCompared
          ? <button type="button" onClick={() => go(link(one, null))}><Icon name="close" />{t("recall.alone")}</button>
          : <button type="button" onClick={() => go(link(one, one))}><Icon name="compare" />{t("recall.compare")}</button>}
      </PageHead>
      {(!me.embedder || me.embedder === "none") && <p className="notice">{t("recall.words_only")}</p>}
      <div className={isCompared ? "sides" : "side-alone"}>
        <section className="recall-side" aria-label={isCompared ? t("recall.left") : t("recall")}>
          <AskForm asked={one} field="search" label={t(isCompared ? "recall.left" : "recall")} submit={(changed) => follow(link(changed, isCompared ? other : null), answer.again)} />
          <Side asked={one} answer={answer} beside={null} />
        </section>
        {isCompared && (
          <section className="recall-side" aria-label={t("recall.right")}>
            <AskForm asked={other} field="search-other" label={t("recall.right")} submit={(changed) => follow(link(one, changed), compared.again)} />
            <Side asked={other} answer={compared} beside={answer.value} />
          </section>
        )}
      </div>
    </div>
  );
}

function useRecall(asked: RecallSettings | null) {
  const { scope } = useHere();
  return useAsked<RecallAnswer | null>((signal) => (asked?.q ? api.recall(scope, bodyOf(asked), signal) : Promise.resolve(null)), [scope, asked]);
}

function AskForm({ asked, field, label, submit }: { asked: RecallSettings; field: string; label: string; submit: (asked: RecallSettings) => void }) {
  const { t } = useAround();
  const { scope, can } = useHere();
  const place = JSON.stringify([scope, field]);
  const [draft, setDraft] = useState(asked);
  const [isOpen] = useState(isWide);
  useEffect(() => setDraft({ ...asked, q: asked.q || (questions.get(place) ?? "") }), [JSON.stringify(asked)]);
  useEffect(() => void questions.set(place, draft.q), [draft.q]);
  const set = (name: keyof RecallSettings) => (event: { target: { value: string } }) => setDraft({ ...draft, [name]: event.target.value });
  return (
    <form className="ask" role="search" aria-label={label} onSubmit={(event) => { event.preventDefault(); submit(draft); }}>
      <div className="ask-line">
        <input type="search" id={field} value={draft.q} placeholder={t("recall.ask")} aria-label={t("recall.ask")} onChange={set("q")} />
        <button type="submit" className="accent" disabled={!draft.q.trim()}>{t("recall")}</button>
      </div>
      <details className="ask-more" open={isOpen || isNarrowed(asked)}>
      <summary>{t("recall.options")}</summary>
      <div className="ask-options">
        <label>{t("recall.among")}<select value={draft.among} onChange={set("among")}><option value="">{t("recall.everything")}</option><option value="memories">{t("memories")}</option></select></label>
        <label>{t("recall.limit")}<input type="number" min={1} max={200} value={draft.limit} onChange={set("limit")} /></label>
        <label>{t("recall.budget")}<input type="number" min={1} value={draft.budget} onChange={set("budget")} /></label>
        <label title={t("recall.floor_about")}>{t("recall.floor")}<input type="number" min={0} max={100} placeholder="0" value={draft.floor} onChange={set("floor")} /></label>
        <label>{t("recall.valid_at")}<DayInput value={draft.on} onChange={set("on")} /></label>
        <label>{t("recall.known_at")}<DayInput value={draft.known} onChange={set("known")} /></label>
        {can("below") && <label className="check"><input type="checkbox" checked={draft.below === "1"} onChange={(event) => setDraft({ ...draft, below: event.target.checked ? "1" : "" })} />{t("memories.below")}</label>}
      </div>
      </details>
    </form>
  );
}

/** Whether anything but the question is asked in another way than usual. */
const isNarrowed = (asked: RecallSettings): boolean => Object.keys(addressOf({ ...asked, q: "" })).length > 0;

function Side({ asked, answer, beside }: { asked: RecallSettings; answer: ReturnType<typeof useRecall>; beside: RecallAnswer | null | undefined }) {
  const { t } = useAround();
  return (
    <>
      <Failure error={answer.error} again={answer.again} />
      {!asked.q && <Empty icon="recall" title={t("overview.ask")}><p>{t("recall.empty_about")}</p><AskedBefore /></Empty>}
      {asked.q && answer.isLoading && !answer.value && !answer.error && <Loading rows={5} />}
      {answer.value && <Answer asked={asked} answer={answer.value} beside={beside} />}
    </>
  );
}

/** Questions that were asked here before, to be asked again. */
function AskedBefore() {
  const { scope } = useHere();
  const glance = useAsked(() => api.overview(scope, {}), [scope]);
  const questions = [...new Set(glance.value?.recalled.map((each) => each.query))].slice(0, SUGGESTED);
  if (!questions.length) return null;
  return <ul className="chips">{questions.map((each) => <li key={each}><a className="chip" href={linkTo(["recall"], scope, { q: each })}>{each}</a></li>)}</ul>;
}

function Answer({ asked, answer, beside }: { asked: RecallSettings; answer: RecallAnswer; beside: RecallAnswer | null | undefined }) {
  const { t } = useAround();
  const { me } = useHere();
  const wording = useWording();
  const budget = Number(asked.budget);
  const most = Math.max(...answer.entries.map((each) => each.score), 0.001);
  const shared = sharedSignals(answer.entries);
  const middle = middleParts(answer.entries);
  const places = beside ? placesIn(beside) : undefined;
  const by = me.embedder && me.embedder !== "none" ? "vectors" : "words";
  const [clear, might] = [true, false].map((wanted) => answer.entries.flatMap((entry, place) => (isClear(entry, by, shareOf(asked.floor)) === wanted
    ? [<Entry key={place} entries={answer.entries} place={place} most={most} shared={shared} middle={middle} isReranked={Boolean(answer.reranker)} before={places} entry={entry} asked={asked.q} />]
    : []))) as [JSX.Element[], JSX.Element[]];
  return (
    <>
      <p className="recall-sum" role="status">
        <strong>{t(clear.length || !might.length ? "recall.found" : "recall.might_all", { count: answer.entries.length })}</strong>
        <span>{t("recall.tokens", { tokens: wording.number(answer.tokens), budget: wording.number(budget) })}</span>
        <meter min={0} max={budget || answer.tokens} value={answer.tokens} aria-label={t("recall.budget")} />
        <span>{t("recall.ms", { ms: wording.number(answer.ms, answer.ms < 10 ? 1 : 0) })}</span>
        {answer.partial && <span className="badge badge-warn">{t("recall.partial")}</span>}
      </p>
      {!clear.length && <Empty icon="recall" title={t(might.length ? "recall.nothing_clear" : "recall.nothing")} />}
      {clear.length > 0 && <ol className="entries">{clear}</ol>}
      {might.length > 0 && <details className="fold might"><summary>{t(clear.length ? "recall.might_more" : "recall.might", { count: might.length, places: placesText(might.map((each) => Number(each.key) + 1)) })}</summary><ol className="entries">{might}</ol></details>}
      <Missing key={JSON.stringify(asked)} asked={asked} answer={answer} />
      <Dropped entries={answer.dropped} />
      {answer.rendered && (
        <details className="fold" open={clear.length > 0}>
          <summary>{t("recall.rendered", { tokens: wording.number(answer.rendered_tokens ?? 0) })}</summary>
          <p className="hint">{!clear.length && `${t("recall.rendered_unclear")} `}{t("recall.rendered_about")}</p>
          <pre className="rendered" tabIndex={0}>{answer.rendered}</pre>
        </details>
      )}
    </>
  );
}

function Dropped({ entries }: { entries: readonly RecallEntry[] }) {
  const { t, named } = useAround();
  const wording = useWording();
  const { scope } = useHere();
  if (!entries.length) return null;
  return (
    <details className="fold">
      <summary>{t("recall.dropped", { count: entries.length })}</summary>
      <ul className="dropped">
        {entries.map((entry, place) => (
          <li key={place}>
            <span className="badge">{reasonOf(entry.reason, t)}</span>
            <a href={hrefOf(entry, scope)}>{entryWords(entry, named, t("colon"))}</a>
            <span className="faint">{wording.number(entry.score, 2)}{entry.tokens !== undefined && ` · ${t("recall.entry_tokens", { tokens: entry.tokens })}`}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
