/** What can be done to all that is chosen of a list at once, with one way back. */

import { useEffect, useRef, useState } from "react";
import { api } from "../api/client";
import { isConflict } from "../api/problem";
import type { Memory } from "../api/shapes";
import { changeAll, CHOSEN_MAX, meantBy, partsIn, sentOnce, type BulkAct, type BulkResult } from "../lib/bulk";
import { nameOf, type Chosen } from "../lib/chosen";
import { addressOf, keepChange, nextOf, type Left } from "../lib/kept_changes";
import { PART, type ListedPart } from "../lib/listing";
import { shortened } from "../lib/sentences";
import { sentenceOf, useAround, useWording } from "../lib/session";
import { undoOf } from "../lib/undo";
import { tellDecided } from "../lib/waiting";
import type { Choosing } from "./bulk_choice";
import { Icon } from "./icons";
import { Failure } from "./states";

const ACTS: readonly BulkAct[] = ["approve", "reject", "end", "delete"];
/** Before more than so many are changed, the person is asked once. */
const ASKED_FROM = 100;

interface Going {
  act: BulkAct | "choose";
  done: number;
  of: number;
}

export function BulkBar({ chosen, total, ask, changed }: { chosen: Choosing; total: number; ask: (offset: number, limit: number) => Promise<ListedPart<Memory>>; changed: () => void }) {
  const { t, tell } = useAround();
  const wording = useWording();
  const [going, setGoing] = useState<Going | null>(null);
  const [result, setResult] = useState<BulkResult | null>(null);
  const [error, setError] = useState<unknown>();
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const most = Math.min(total, CHOSEN_MAX);

  const begin = (act: Going["act"], of: number): AbortSignal => {
    stop.current = new AbortController();
    setResult(null);
    setError(undefined);
    setGoing({ act, done: 0, of });
    return stop.current.signal;
  };
  const chooseAll = async () => {
    const signal = begin("choose", most);
    try {
      const found: Memory[] = [];
      while (found.length < most && !signal.aborted) {
        const { rows } = await ask(found.length, PART);
        if (!rows.length) break;
        found.push(...rows);
        setGoing({ act: "choose", done: found.length, of: most });
      }
      chosen.set(found.slice(0, most));
    } catch (failure) {
      setError(failure);
    }
    setGoing(null);
  };
  const change = async (act: BulkAct) => {
    const meant = meantBy(act, [...chosen.all.values()]);
    if (meant.length > ASKED_FROM && !window.confirm(t(`bulk.sure.${act}`, { count: meant.length, total: wording.number(meant.length) }))) return;
    const signal = begin(act, meant.length);
    const made = await changeAll(partsIn(meant), (part) => sentOnce((key) => api.change(part[0]?.scope ?? [], act, part, key)), (done) => setGoing({ act, done, of: meant.length }), signal);
    setGoing(null);
    chosen.set([...made.refused.map((each) => each.memory), ...made.left]);
    setResult(made.refused.length || made.stopped ? made : null);
    changed();
    if (!made.changed) return;
    tellDecided(0);
    const text = t(`bulk.done.${act}`, { count: made.changed, total: wording.number(made.changed) });
    const kept = made.tokens.length ? keepChange(namesOf(changedOf(meant, made)), changedOf(meant, made).map((each) => leftAs(act, each)), made.tokens) : undefined;
    tell(text, kept && undoOf(kept, () => undefined, () => {
      tellDecided(0);
      changed();
    }));
  };
  const count = chosen.all.size;
  return (
    <div className="bulk" role="group" aria-label={t("bulk")}>
      <Failure error={error} again={() => void chooseAll()} />
      {result && <Refused result={result} close={() => setResult(null)} />}
      {going
        ? <Progress going={going} stop={() => stop.current?.abort()} />
        : (
          <div className="bulk-line">
            <strong role="status">{t("bulk.chosen", { count, total: wording.number(count) })}</strong>
            <button type="button" className="small" disabled={!total || count >= most} onClick={() => void chooseAll()}>{total > CHOSEN_MAX ? t("bulk.first", { total: wording.number(CHOSEN_MAX) }) : t("bulk.all", { total: wording.number(total) })}</button>
            {count > 0 && <button type="button" className="small plain" onClick={() => chosen.set([])}>{t("bulk.none")}</button>}
            <span className="bulk-acts">
              {ACTS.map((act) => <button key={act} type="button" className={act === "delete" ? "small danger" : "small"} disabled={!meantBy(act, [...chosen.all.values()]).length} onClick={() => void change(act)}>{t(ACT_WORDS[act])}</button>)}
            </span>
            <button type="button" className="plain icon-button" aria-label={t("close")} onClick={chosen.toggle}><Icon name="close" /></button>
          </div>
        )}
    </div>
  );
}

const NAMED = 3;

/** The first of those that were changed, in words. */
const namesOf = (memories: readonly Chosen[]): string => memories.slice(0, NAMED).map((each) => shortened(each.sentence ?? each.key)).join("; ") + (memories.length > NAMED ? "; …" : "");

const leftAs = (act: BulkAct, memory: Chosen): Left => (act === "delete" ? { ...addressOf(memory.scope, memory), version: null } : nextOf(memory.scope, memory));

function changedOf(meant: readonly Chosen[], { refused, left }: BulkResult): Chosen[] {
  const unchanged = new Set([...refused.map((each) => each.memory), ...left].map(nameOf));
  return meant.filter((each) => !unchanged.has(nameOf(each)));
}

const ACT_WORDS = { approve: "review.approve", reject: "reject", end: "end", delete: "delete" } as const;

function Progress({ going, stop }: { going: Going; stop: () => void }) {
  const { t } = useAround();
  const wording = useWording();
  return (
    <div className="bulk-line">
      <span role="status">{t("bulk.going", { done: wording.number(going.done), total: wording.number(going.of) })}</span>
      <progress max={going.of || 1} value={going.done} aria-label={t("bulk")} />
      <button type="button" className="small" onClick={stop}>{t("chat.stop")}</button>
    </div>
  );
}

const REFUSED_SHOWN = 5;

/** What was left as it is, and why; it stays chosen. */
function Refused({ result: { refused, stopped }, close }: { result: BulkResult; close: () => void }) {
  const { t } = useAround();
  return (
    <div className="wrong" role="alert">
      <Icon name="warn" />
      <div>
        {Boolean(stopped) && <p>{t("bulk.stopped")} {sentenceOf(stopped, t)}</p>}
        {refused.length > 0 && <p>{t("bulk.refused", { count: refused.length })}</p>}
        <ul>{refused.slice(0, REFUSED_SHOWN).map(({ memory, error }) => <li key={nameOf(memory)}>{memory.type}/{memory.key}: {isConflict(error) ? t("bulk.meanwhile") : sentenceOf(error, t)}</li>)}</ul>
      </div>
      <button type="button" className="plain icon-button" aria-label={t("close")} onClick={close}><Icon name="close" /></button>
    </div>
  );
}
