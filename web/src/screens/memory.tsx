/** One memory in full: value with evidence, versions with what each changed, uses; and what can be done to it. */

import { useEffect, useState, type ReactNode } from "react";
import { api, type Undoable } from "../api/client";
import { isConflict, isGone, Problem } from "../api/problem";
import type { JsonObject, Memory, Revision } from "../api/shapes";
import { useAct } from "../lib/act";
import { useAsked, type Asked } from "../lib/asking";
import { useChanges } from "../lib/changes";
import { keptEvidence, standing, useMemoryActs } from "../lib/memory_acts";
import { whyWritten } from "../lib/causes";
import { isEdited, isSame } from "../lib/outcomes";
import { endOf } from "../lib/days";
import { distinct, freshEvidence, writtenByHand } from "../lib/evidence";
import { believedAt, speakerOf, timeOf } from "../lib/past";
import { go, linkTo } from "../lib/route";
import { isDocument, personIn } from "../lib/sentences";
import { useTitle } from "../lib/title";
import { faultsIn } from "../lib/schema_form";
import { useAround, useHere, useWording } from "../lib/session";
import { useUndoable, wayBack } from "../lib/undo";
import { Badge, StateBadge, When } from "../parts/basics";
import { Icon } from "../parts/icons";
import { TypeName, TypeSign } from "../parts/said";
import { ActFailure, Empty, Failure, Loading } from "../parts/states";
import { Changes, Quotes, SentenceChange, Value } from "../parts/value";
import { useValueDraft, ValueForm } from "../parts/value_form";
import { WhyBelieved } from "./memory_why";

export function MemoryView({ type, name, back, changed, known }: { type: string; name: string; back: string; changed: () => void; known: string }) {
  const { t } = useAround();
  const { scope } = useHere();
  const memory = useAsked(() => api.memory(scope, type, name), [scope, type, name]);
  const history = useAsked(() => api.history(scope, type, name), [scope, type, name]);
  const again = () => {
    memory.again();
    history.again();
  };
  useChanges(scope, again);
  useTitle(t("memories"), memory.value && calledOf(memory.value));
  const [isEditing, setEditing] = useState(false);
  const wasForgotten = isGone(memory.error);
  // What is being typed stays, whatever becomes of the memory meanwhile.
  const isShown = memory.value !== undefined && (!wasForgotten || isEditing);
  return (
    <section className="half-one" aria-label={`${type} ${name}`}>
      <a className="back" href={back}><Icon name="back" />{t("memories")}</a>
      {wasForgotten && !isEditing && <Empty icon="memory" title={t("memory.gone")}><p>{t("memory.gone_about")}</p></Empty>}
      {wasForgotten && isEditing && <p className="notice wrong-notice" role="alert">{t("edit.gone")}</p>}
      {!wasForgotten && <Failure error={memory.error} again={again} />}
      {!memory.value && !memory.error && <Loading rows={4} />}
      {isShown && known && history.value && !isEditing && <Then revisions={history.value.revisions} known={known} />}
      {isShown && memory.value && (
        <Open memory={memory.value} history={history} isEditing={isEditing} setEditing={setEditing} again={() => { again(); changed(); }} />
      )}
    </section>
  );
}

/** What was believed on the day that the list looks at, where it is not what is believed now. */
function Then({ revisions, known }: { revisions: Revision[]; known: string }) {
  const { t } = useAround();
  const wording = useWording();
  const then = believedAt(revisions, Date.parse(endOf(known)));
  if (then && !then.believed_until) return null;
  return (
    <p className="notice then">
      {then ? t("memory.then", { day: wording.day(known), version: then.version }) : t("memory.not_then", { day: wording.day(known) })}
      {then && <strong>{then.sentence}</strong>}
    </p>
  );
}

/** What a memory is called: what it says, a document by whose it is. */
const calledOf = (memory: Memory): string => (isDocument(memory) ? (personIn([memory]) ?? speakerOf(memory) ?? memory.type) : memory.sentence);

function Open({ memory, history, isEditing, setEditing, again }: {
  memory: Memory;
  history: Asked<{ revisions: Revision[] }>;
  isEditing: boolean;
  setEditing: (isEditing: boolean) => void;
  again: () => void;
}) {
  const { t } = useAround();
  const { scope, can } = useHere();
  const acts = useMemoryActs(again);
  const revisions = history.value?.revisions;
  return (
    <>
      <header className="memory-head">
        <div>
          <p className="memory-kind"><TypeSign type={memory.type} /><TypeName type={memory.type} />{memory.key !== memory.type && <span className="memory-key">{speakerOf(memory) ?? memory.key}</span>}</p>
          <h1 tabIndex={-1}>{calledOf(memory)}</h1>
          <p className="about">
            <StateBadge memory={memory} /> {t("memory.version", { version: memory.version })} · <When at={timeOf(memory)} />{Object.keys(memory.evidence).length > 0 && <> · {t("memory.trust", { trust: t(trustWord(memory.trust)) })}</>}
          </p>
        </div>
        {can("write") && !isEditing && (
          <div className="acts" role="group" aria-label={t("memory.acts")}>
            <button type="button" onClick={() => setEditing(true)}><Icon name="edit" />{t("edit")}</button>
            {memory.state !== "rejected" && <button type="button" disabled={acts.isBusy} onClick={() => void acts.reject(memory)} title={t("reject.about")}>{t("reject")}</button>}
            <button type="button" disabled={acts.isBusy} onClick={() => void acts.end(memory)} title={t("end.about")}>{t("end")}</button>
            <button type="button" className="danger" disabled={acts.isBusy} title={t("delete.about")} onClick={() => void acts.remove(memory, () => go(linkTo(["memories"], scope)))}>{t("delete")}</button>
          </div>
        )}
      </header>
      <ActFailure act={acts} />
      {memory.state === "rejected" && <p className="notice">{t("reject.notice")}</p>}
      {isEditing
        ? <Edit memory={memory} done={() => { setEditing(false); again(); }} cancel={() => setEditing(false)} />
        : <Told memory={memory} revisions={revisions} changed={again} />}
      <Block title={t("history")} count={revisions?.length} link={<a href={linkTo(["profile", memory.type, memory.key], scope)}>{t("profile.open")}</a>}>
        {!isGone(history.error) && <Failure error={history.error} again={history.again} />}
        {!revisions && !history.error && <Loading rows={2} />}
        {revisions && <History memory={memory} revisions={revisions} changed={again} />}
      </Block>
      <Uses memory={memory} />
    </>
  );
}

/** What it says and since when, and the words that it rests on: of a sentence, which the heading has, these words first. */
function Told({ memory, revisions, changed }: { memory: Memory; revisions: readonly Revision[] | undefined; changed: () => void }) {
  const { t } = useAround();
  const { scope, can } = useHere();
  const wording = useWording();
  const whole = memory.evidence[""] ?? [];
  const hasNone = !Object.keys(memory.evidence).length;
  const isRefusable = can("write") && memory.state === "active" && Object.keys(memory.value).length > 1;
  const aside = isRefusable ? (pointer: string, name: string) => <RejectField memory={memory} pointer={pointer} name={name} changed={changed} /> : undefined;
  if (isDocument(memory)) {
    return (
      <>
        <Block title={t("memory.value")}>
          <Value value={memory.value} evidence={memory.evidence} scope={scope} aside={aside} />
          {whole.length > 0 && <Quotes evidence={whole} scope={scope} />}
          {hasNone && <p className="faint">{t("memory.no_evidence")}</p>}
        </Block>
        <Validity memory={memory} />
      </>
    );
  }
  const byHand = writtenByHand(revisions ?? []);
  const written = byHand && wording.day(byHand.believed_from);
  return (
    <>
      <Block title={t("memory.why")}>
        {written && <p>{t("memory.by_hand", { day: written })}</p>}
        {written && !hasNone && <p className="hint">{t("memory.rested_on")}</p>}
        {written && hasNone ? null : hasNone ? <p className="faint">{t("memory.no_evidence")}</p> : <WhyBelieved evidence={distinct(Object.values(memory.evidence).flat())} until={memory.updated_at} />}
      </Block>
      <Validity memory={memory} />
      {Object.keys(memory.value).length > 1 && <details className="fold"><summary>{t("memory.parts")}</summary><Value value={memory.value} scope={scope} aside={aside} /></details>}
    </>
  );
}

/** Rejects one field: what it said is never formed again. */
function RejectField({ memory, pointer, name, changed }: { memory: Memory; pointer: string; name: string; changed: () => void }) {
  const { t } = useAround();
  const acts = useMemoryActs(changed);
  return (
    <>
      <button type="button" className="plain reject-field" disabled={acts.isBusy} onClick={() => void acts.reject(memory, pointer)} aria-label={t("reject.field", { name })} title={t("reject.about")}>
        {t("reject")}
      </button>
      <ActFailure act={acts} />
    </>
  );
}

const trusts = { user: "trust.user", assistant: "trust.assistant", agent: "trust.agent" } as const;

function trustWord(trust: string): "trust.user" | "trust.assistant" | "trust.external" | "trust.agent" {
  return trust in trusts ? trusts[trust as keyof typeof trusts] : "trust.external";
}

function Block({ title, count, link, children }: { title: string; count?: number; link?: ReactNode; children: ReactNode }) {
  return (
    <section className="block">
      <h2>{title}{count !== undefined && <span className="faint"> {count}</span>}{link && <span className="block-link">{link}</span>}</h2>
      {children}
    </section>
  );
}

function Validity({ memory }: { memory: Memory }) {
  const { t } = useAround();
  const wording = useWording();
  const rows = [
    [t("memory.valid_from"), memory.valid_from],
    [t("memory.valid_until"), memory.valid_until],
    [t("memory.created_at"), memory.created_at],
    ...(memory.expires_at ? [[t("memory.expires_at"), memory.expires_at] as const] : []),
  ] as const;
  return (
    <Block title={t("memory.validity")}>
      <dl className="facts">
        {rows.map(([label, at]) => (
          <div key={label}><dt>{label}</dt><dd>{at ? <time dateTime={at}>{wording.moment(at)}</time> : <span className="faint">{t("memory.open_end")}</span>}</dd></div>
        ))}
      </dl>
    </Block>
  );
}

function History({ memory, revisions, changed }: { memory: Memory; revisions: Revision[]; changed: () => void }) {
  const { t } = useAround();
  const { scope, can } = useHere();
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
            {isDocument(revision) || before?.sentence === revision.sentence ? <Changes before={before?.value ?? {}} after={revision.value} /> : <SentenceChange before={before?.sentence} after={revision.sentence} />}
            {fresh.length > 0 && <Quotes evidence={fresh} scope={scope} />}
          </li>
        );
      })}
    </ol>
  );
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

function Uses({ memory }: { memory: Memory }) {
  const { t } = useAround();
  const { scope } = useHere();
  const wording = useWording();
  const uses = useAsked(() => api.recalls(scope, memory.type, memory.key), [scope, memory.type, memory.key, memory.version]);
  return (
    <Block title={t("memory.recalls")} count={uses.value?.recalls.length}>
      {!isGone(uses.error) && <Failure error={uses.error} again={uses.again} />}
      {uses.value && !uses.value.recalls.length && <p className="faint">{t("memory.no_recalls")}</p>}
      {uses.value && uses.value.recalls.length > 0 && (
        <ul className="uses">
          {uses.value.recalls.map((use, place) => (
            <li key={place}>
              <a href={linkTo(["recall"], scope, { q: use.query })}>{use.query}</a>
              <span className="faint">{t("memory.rank", { rank: use.rank })} · {wording.number(use.score, 2)} · <When at={use.at} /></span>
            </li>
          ))}
        </ul>
      )}
    </Block>
  );
}

function Edit({ memory, done, cancel }: { memory: Memory; done: () => void; cancel: () => void }) {
  const { t, tell } = useAround();
  const { scope } = useHere();
  const change = useUndoable();
  const types = useAsked(() => api.types(scope), [scope]);
  const type = types.value?.types.find((each) => each.name === memory.type);
  const [base] = useState(memory);
  const draft = useValueDraft(type?.parameters ?? {}, base.value);
  const [from, setFrom] = useState(local(base.valid_from));
  const [until, setUntil] = useState(local(base.valid_until));
  const act = useAct();
  const { value } = draft;
  const typed = JSON.stringify(value);
  useEffect(act.dismiss, [typed, act.dismiss]);
  const save = () => {
    draft.reveal();
    if (draft.isFaulty || !value) return;
    // A version that says what the one before says would only hide who wrote that.
    if (isSame(value, base.value) && from === local(base.valid_from) && until === local(base.valid_until)) return cancel();
    const { type: typeName, key, expires_at } = base;
    const written = { value, valid_from: utc(from, base.valid_from), valid_until: utc(until, base.valid_until), expires_at, evidence: keptWhereSame(base, value) };
    void act.run<Memory & Undoable>({
      request: () => change((undo) => api.put(scope, typeName, key, written, base.version, undo)),
      outcome: async () => {
        const now = await standing(scope, base);
        return now && isEdited(base, now, value) ? now : undefined;
      },
      succeed: (changed) => {
        tell(t("told.edited", { version: changed.version }), wayBack(scope, changed, done));
        done();
      },
    });
  };
  return (
    <form className="block edit" onSubmit={(event) => { event.preventDefault(); save(); }} onKeyDown={(event) => { if (event.key === "Escape") cancel(); if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) save(); }}>
      <h2>{t("edit")}</h2>
      <ValueForm focused={isDocument(base) ? "first" : "last"} {...draft.props} told={act.error instanceof Problem ? faultsIn(act.error.detail, draft.fields) : undefined} />
      <div className="pair">
        <label>{t("memory.valid_from")}<input type="datetime-local" value={from} onChange={(event) => setFrom(event.target.value)} /></label>
        <label>{t("memory.valid_until")}<input type="datetime-local" value={until} onChange={(event) => setUntil(event.target.value)} /></label>
      </div>
      <p className="hint">{t("edit.times")}</p>
      <ActFailure act={act} />
      {isConflict(act.error) && <p className="notice">{t("edit.conflict")}</p>}
      <footer className="dialog-acts">
        <button type="button" onClick={cancel}>{t("cancel")}</button>
        <button type="submit" className="accent" disabled={act.isBusy}>{t("save")}</button>
      </footer>
    </form>
  );
}

/** A time as its field shows it, to the minute. */
const local = (at: string | null): string => at?.slice(0, 16) ?? "";

/** The time of a field; what was not changed keeps its seconds. */
const utc = (typed: string, before: string | null): string | null =>
  typed === local(before) ? before : typed ? new Date(`${typed}Z`).toISOString() : null;

/** Evidence of what the edit left as it was; words that a person writes rest on no message. */
function keptWhereSame(memory: Memory, value: JsonObject): Memory["evidence"] {
  const same = Object.fromEntries(Object.entries(value).filter(([name, each]) => JSON.stringify(each) === JSON.stringify(memory.value[name])));
  const isWhole = JSON.stringify(value) === JSON.stringify(memory.value);
  const { "": whole, ...fields } = keptEvidence(memory.evidence, same);
  return whole && isWhole ? { "": whole, ...fields } : fields;
}
