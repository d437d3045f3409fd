/** One entry of a recall: what it says, each signal's part in its score, and why it stands above another. */

import { useState } from "react";
import type { RecallEntry } from "../api/shapes";
import { barOf, entryName, legendOf, shownParts, whyAbove } from "../lib/recall_reasons";
import { linkTo } from "../lib/route";
import { fromPassage } from "../lib/passages";
import { entryWords, isLong } from "../lib/sentences";
import { useAround, useHere, useWording } from "../lib/session";
import { memoryLink, When } from "../parts/basics";
import { TypeName, TypeSign } from "../parts/said";

export function hrefOf(entry: Pick<RecallEntry, "kind" | "id" | "type" | "key" | "thread">, scope: string[]): string {
  if (entry.kind === "memory") return memoryLink({ type: entry.type ?? "", key: entry.key ?? "" }, scope);
  return linkTo(["chat", entry.thread ?? ""], scope, { message: entry.id });
}

const REASONS = ["budget", "repeats", "empty", "limit", "score"] as const;

export function reasonOf(reason: string | undefined, t: ReturnType<typeof useAround>["t"]): string {
  const known = REASONS.find((each) => each === reason);
  return known ? t(`dropped.${known}`) : (reason ?? "");
}

interface EntryProps {
  entry: RecallEntry;
  /** The words of the query. */
  asked: string;
  entries: readonly RecallEntry[];
  place: number;
  /** The score of the best. */
  most: number;
  /** What speaks alike for all of them. */
  shared: ReadonlySet<string>;
  /** The parts of the entry in the middle. */
  middle: ReadonlyMap<string, number>;
  isReranked: boolean;
  /** The places in the answer beside which this one stands. */
  before: ReadonlyMap<string, number> | undefined;
}

export function Entry({ entry, asked, entries, place, most, shared, middle, isReranked, before }: EntryProps) {
  const { named, t } = useAround();
  const { scope } = useHere();
  const wording = useWording();
  const { score, parts } = shownParts(entry);
  const signals = entry.signals.map((each, at) => ({ ...each, shown: (parts[at] ?? 0) / 100 }));
  const legend = legendOf(entry, middle);
  return (
    <li className="entry">
      <span className="entry-rank" aria-hidden="true">{place + 1}</span>
      <div className="entry-body">
        <p className="entry-head">
          {entry.kind === "memory" && entry.type ? <><TypeSign type={entry.type} /><TypeName type={entry.type} /></> : <span className="badge">{t(entry.role === "assistant" ? "role.assistant" : entry.role === "user" ? "role.user" : "recall.message")}</span>}
          <When at={entry.time} />
          {entry.has_lapsed && <span className="badge">{t("recall.lapsed")}</span>}
          {before && <Moved from={before.get(entryName(entry))} to={place + 1} />}
          <span className="entry-score" title={t("recall.relevance", { percent: wording.number(entry.relevance * 100) })}>{wording.number(score / 100, 2)}</span>
        </p>
        <p className={isLong(entry.sentence ?? entry.text) ? "entry-text long" : "entry-text"}><a href={hrefOf(entry, scope)}>{entry.kind === "message" ? fromPassage(entry.text, asked) : entryWords(entry, named, t("colon"))}</a></p>
        <div className="signal-bar" aria-hidden="true">
          {barOf(entry, most, middle).map((each) => <span key={each.name} className={`signal signal-${each.name}`} style={{ width: `${each.share * 100}%` }} />)}
        </div>
        <details className="signals">
          <summary>{legend.length ? legend.map((each) => <span key={each.name} className="signal-word" title={signalAbout(each.name, t)}><span className={`swatch signal-${each.name}`} aria-hidden="true" />{signalName(each.name, t)} {signed(each.part / 100, wording)}</span>) : t(signals.some((each) => each.shown > 0) ? "recall.as_all" : "recall.no_signals")}</summary>
          {entries.length > 1 && <Why entries={entries} place={place} isReranked={isReranked} />}
          <table>
            <thead><tr><th scope="col">{t("recall.signal")}</th><th scope="col" title={t("recall.z_about")}>{t("recall.z")}</th><th scope="col">{t("recall.weight")}</th><th scope="col">{t("recall.part")}</th></tr></thead>
            <tbody>
              {signals.map((each) => (
                <tr key={each.name}>
                  <th scope="row"><span className={`swatch signal-${each.name}`} />{signalName(each.name, t)}<span className="signal-about">{signalAbout(each.name, t)}{shared.has(each.name) && ` ${t("recall.shared")}`}</span></th>
                  <td>{wording.number(each.z, 2)}</td><td>{wording.number(each.weight, 2)}</td><td>{signed(each.shown, wording)}</td>
                </tr>
              ))}
            </tbody>
            <tfoot><tr><th scope="row" colSpan={3}>{t("recall.score")}</th><td>{wording.number(score / 100, 2)}</td></tr></tfoot>
          </table>
          <p className="hint">{t("recall.z_about")}</p>
        </details>
      </div>
    </li>
  );
}

/** Where an entry stood in the answer beside this one. */
function Moved({ from, to }: { from: number | undefined; to: number }) {
  const { t } = useAround();
  if (from === undefined) return <span className="badge badge-good">{t("recall.only_here")}</span>;
  if (from === to) return <span className="badge">{t("recall.same_place")}</span>;
  return <span className="badge badge-accent">{t(from > to ? "recall.higher" : "recall.lower", { count: Math.abs(from - to), from })}</span>;
}

/** Why an entry stands above, or below, another one that is chosen: in a sentence. */
function Why({ entries, place, isReranked }: { entries: readonly RecallEntry[]; place: number; isReranked: boolean }) {
  const { t } = useAround();
  const [other, setOther] = useState(place + 1 < entries.length ? place + 1 : place - 1);
  return (
    <p className="why">
      <label>{t("recall.why_beside")}
        <select value={other} onChange={(event) => setOther(Number(event.target.value))}>
          {entries.map((each, at) => at !== place && <option key={at} value={at}>{at + 1}. {(each.sentence ?? each.text).slice(0, 48)}</option>)}
        </select>
      </label>
      <span className="why-said">{useWhy(entries, Math.min(place, other), Math.max(place, other), isReranked)}</span>
    </p>
  );
}

function useWhy(entries: readonly RecallEntry[], upper: number, lower: number, isReranked: boolean): string {
  const { t } = useAround();
  const wording = useWording();
  const [one, two] = [entries[upper], entries[lower]];
  if (!one || !two) return "";
  const { by, shares, rest } = whyAbove(one, two);
  const parts = [...shares.map((each) => `${signalName(each.name, t)} ${signed(each.part, wording)}`), ...(rest ? [`${t("recall.rest")} ${signed(rest, wording)}`] : [])];
  const values = { upper: upper + 1, lower: lower + 1, by: wording.number(Math.abs(by), 2), parts: parts.join(t("recall.part_between")) };
  if (by < 0) return t(isReranked ? "recall.why_reranked" : "recall.why_placed", values);
  return t(shares.length ? "recall.why" : "recall.why_even", values);
}

function signed(value: number, wording: ReturnType<typeof useWording>): string {
  return `${value >= 0 ? "+" : "−"}${wording.number(Math.abs(value), 2)}`;
}

const SIGNALS = ["dense", "entry", "window", "session", "session_dense", "speaker", "personal", "opening", "when", "date", "standing"] as const;

function signalName(name: string, t: ReturnType<typeof useAround>["t"]): string {
  const known = SIGNALS.find((each) => each === name);
  return known ? t(`signal.${known}`) : name.replaceAll("_", " ");
}

/** For what a signal speaks. */
function signalAbout(name: string, t: ReturnType<typeof useAround>["t"]): string {
  const known = SIGNALS.find((each) => each === name);
  return known ? t(`signal_about.${known}`) : "";
}
