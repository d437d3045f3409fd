/** One memory in full: value with evidence, versions with what each changed, uses; and what can be done to it. */

import { useState, type ReactNode } from "react";
import { api } from "../api/client";
import { isGone } from "../api/problem";
import type { Memory, Revision } from "../api/shapes";
import { useAsked, type Asked } from "../lib/asking";
import { useChanges } from "../lib/changes";
import { useErasures } from "../lib/erasures";
import { removalOf, useKeptChanges } from "../lib/kept_changes";
import { useMemoryActs } from "../lib/memory_acts";
import { endOf } from "../lib/days";
import { distinct, writtenByHand } from "../lib/evidence";
import { believedAt, believedFirst, believedSince, speakerOf } from "../lib/past";
import { formerOf, isOver, nextOf, useOthers } from "../lib/one_after_another";
import { go, linkTo } from "../lib/route";
import { firstText, isDocument, isLong, personIn } from "../lib/sentences";
import { useTitle } from "../lib/title";
import { standInsteadOf } from "../lib/undone_changes";
import { useAround, useHere, useWording } from "../lib/session";
import { standing } from "../lib/standing";
import { proposedFor } from "../lib/waiting";
import { isWrittenHere } from "../lib/written_here";
import { memoryLink, StateBadge, When } from "../parts/basics";
import { EraseButton } from "../parts/erase_button";
import { Former, useFormer } from "../parts/former";
import { Icon } from "../parts/icons";
import { TypeName, TypeSign } from "../parts/said";
import { ActFailure, Empty, Failure, Loading, WhereLooked } from "../parts/states";
import { UndoButton } from "../parts/undo_kept";
import { Quotes, Value } from "../parts/value";
import type { Word } from "../words";
import { EditMemory, hasEditDraft } from "./memory_edit";
import { History } from "./memory_history";
import { MemoryVerdict } from "./memory_verdict";
import { WhyBelieved } from "./memory_why";

const NO_REVISIONS: readonly Revision[] = [];

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
  const [isEditing, setEditing] = useState(() => hasEditDraft(scope, type, name));
  // What an erase took, or took a part of, is not left in a form.
  useErasures(scope, () => {
    const version = memory.value?.version;
    if (isEditing) void standing(scope, { type, key: name }).then((now) => now?.version !== version && setEditing(false), () => undefined);
  });
  const wasForgotten = isGone(memory.error);
  // What is being typed stays, whatever becomes of the memory meanwhile.
  const isShown = memory.value !== undefined && (!wasForgotten || isEditing);
  return (
    <section className="half-one" aria-label={`${type} ${name}`}>
      <a className="back" href={back}><Icon name="back" />{t("memories")}</a>
      {wasForgotten && !isEditing && <Gone type={type} name={name} restored={() => { again(); changed(); }} />}
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

/** A memory that is not there; one that was deleted in this tab can be restored. */
function Gone({ type, name, restored }: { type: string; name: string; restored: () => void }) {
  const { t } = useAround();
  const { scope } = useHere();
  const wording = useWording();
  useKeptChanges();
  const removal = removalOf(scope, { type, key: name });
  const instead = useAsked(() => Promise.all(standInsteadOf({ scope, type, key: name }).map(async (each) => ({ of: each.scope, memory: await standing(each.scope, each) }))), [scope, type, name]);
  const standAgain = (instead.value ?? []).flatMap(({ of, memory }) => (memory ? [{ of, memory }] : []));
  if (!removal && standAgain.length) {
    return (
      <Empty icon="memory" title={t("memory.gone")}>
        <p>{t("memory.undone")}</p>
        <ul className="instead">{standAgain.map(({ of, memory }) => <li key={`${memory.type}/${memory.key}`}><a href={memoryLink(memory, of)}>{calledOf(memory)}</a></li>)}</ul>
      </Empty>
    );
  }
  if (!removal) return <Empty icon="memory" title={t("memory.gone")}><p>{t("memory.gone_about")}</p><WhereLooked /></Empty>;
  return (
    <Empty icon="memory" title={t("memory.deleted")}>
      <p>{t("memory.deleted_about", { what: removal.what, until: wording.moment(new Date(removal.until).toISOString()) })}</p>
      <UndoButton change={removal} done={restored} word="restore" />
    </Empty>
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

/** A key as a person reads it: one that is only a digest of the value says nothing. */
const namedKey = (key: string): string | undefined => (/^(field-|memory-)?[0-9a-f]{16,}$/.test(key) ? undefined : key);

/** What a memory is called: what it says, a document by whose it is, or by its first words. */
const calledOf = (memory: Memory): string => (isDocument(memory) ? (personIn([memory]) ?? speakerOf(memory) ?? firstText(memory) ?? memory.type) : memory.sentence);

/** Long words scroll in a part of the window, also by keys, so that what can be done stays in sight. */
const Heading = ({ words }: { words: string }) => (isLong(words) ? <h1 tabIndex={0} className="long">{words}</h1> : <h1 tabIndex={-1}>{words}</h1>);

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
  const byHand = isDocument(memory) ? undefined : writtenByHand(revisions ?? []);
  const isOwn = isWrittenHere(scope, memory, revisions ?? []);
  const others = useOthers(scope, isDocument(memory) ? undefined : memory);
  return (
    <>
      <header className="memory-head">
        <div>
          <p className="memory-kind"><TypeSign type={memory.type} /><TypeName type={memory.type} />{memory.key !== memory.type && <span className="memory-key">{speakerOf(memory) ?? namedKey(proposedFor(memory.key)?.key ?? memory.key)}</span>}</p>
          <Heading words={calledOf(memory)} />
          <p className="about">
            <StateBadge memory={memory} /> {t("memory.version", { version: memory.version })} · <When at={memory.updated_at} /><RestsOn memory={memory} isByHand={byHand !== undefined} isWrittenHere={isOwn} />
          </p>
        </div>
        {can("write") && !isEditing && (
          <div className="acts" role="group" aria-label={t("memory.acts")}>
            <button type="button" title={t("edit.about")} onClick={() => setEditing(true)}><Icon name="edit" />{t("edit")}</button>
            {memory.state === "active" && <button type="button" disabled={acts.isBusy} onClick={() => void acts.reject(memory)} title={t("reject.about")}>{t("reject")}</button>}
            {!isOver(memory) && <button type="button" disabled={acts.isBusy} onClick={() => void acts.end(memory)} title={t("end.about")}>{t("end")}</button>}
            <button type="button" className="danger" disabled={acts.isBusy} title={t("delete.about")} onClick={() => void acts.remove(memory, () => go(linkTo(["memories"], scope)))}>{t("delete")}</button>
            <EraseButton target={{ memory: { type: memory.type, key: memory.key } }} what="erase.for_good" about={t("erase.for_good_about")} done={() => { again(); go(linkTo(["memories"], scope)); }} />
          </div>
        )}
      </header>
      {can("write") && !isEditing && <WhichAct memory={memory} />}
      <ActFailure act={acts} />
      {memory.state === "quarantined" && !isEditing && <MemoryVerdict memory={memory} changed={again} />}
      {memory.state === "rejected" && <p className="notice">{t(revisions?.some((each) => each.state === "active") ? "reject.notice" : "reject.notice_only")}</p>}
      {isEditing
        ? <EditMemory memory={memory} done={() => { setEditing(false); again(); }} cancel={() => setEditing(false)} />
        : <Told memory={memory} revisions={revisions} others={others} changed={again} />}
      <Block title={t("history")} count={revisions?.length} link={<a href={linkTo(["profile", memory.type, memory.key], scope)}>{t("profile")}</a>}>
        {!isGone(history.error) && <Failure error={history.error} again={history.again} />}
        {!revisions && !history.error && <Loading rows={2} />}
        {revisions && <History memory={memory} revisions={revisions} others={others} changed={again} />}
      </Block>
      <Uses memory={memory} />
    </>
  );
}

/** What each of the acts that take a memory away does, told apart in a line each. */
function WhichAct({ memory }: { memory: Memory }) {
  const { t } = useAround();
  const { can } = useHere();
  const words = [memory.state === "active" && "reject.about", !isOver(memory) && "end.about", "delete.about", can("erase") && "memory.erase_act"] as const;
  return <details className="which-act"><summary>{t("memory.which_act")}</summary><ul>{words.map((each) => each && <li key={each}>{t(each)}</li>)}</ul></details>;
}

/** By what it is believed, in a word: of what somebody corrected, no message that the former version cited. */
function RestsOn({ memory, isByHand, isWrittenHere: isOwn }: { memory: Memory; isByHand: boolean; isWrittenHere: boolean }) {
  const { t } = useAround();
  if (isOwn && !Object.keys(memory.evidence).length) return <> · {t("memory.yours_short")}</>;
  if (isByHand) return <> · {t("memory.by_hand_short")}</>;
  if (!Object.keys(memory.evidence).length) return null;
  return <> · {t("memory.trust", { trust: t(trustWord(memory.trust)) })}</>;
}

/** What it says and since when, and the words that it rests on: of a sentence, which the heading has, these words first. */
function Told({ memory, revisions, others, changed }: { memory: Memory; revisions: readonly Revision[] | undefined; others: readonly Memory[]; changed: () => void }) {
  const { t } = useAround();
  const { scope, can } = useHere();
  const wording = useWording();
  const whole = memory.evidence[""] ?? [];
  const hasNone = !Object.keys(memory.evidence).length;
  const isOwn = isWrittenHere(scope, memory, revisions ?? []);
  const isRefusable = can("write") && memory.state === "active" && Object.keys(memory.value).length > 1;
  const former = useFormer(isDocument(memory) ? (revisions ?? NO_REVISIONS) : NO_REVISIONS);
  const aside = isRefusable ? (pointer: string, name: string) => <RejectField memory={memory} pointer={pointer} name={name} changed={changed} /> : undefined;
  if (isDocument(memory)) {
    return (
      <>
        <Block title={t("memory.value")}>
          <Value value={memory.value} evidence={memory.evidence} scope={scope} aside={aside} below={(pointer) => <Former {...former(pointer)} />} />
          {whole.length > 0 && <Quotes evidence={whole} scope={scope} />}
          {hasNone && <p className="faint">{t(isOwn ? "memory.yours" : "memory.no_evidence")}</p>}
        </Block>
        <Validity memory={memory} others={others} revisions={revisions ?? []} />
      </>
    );
  }
  const byHand = writtenByHand(revisions ?? []);
  const written = byHand && wording.day(byHand.believed_from);
  return (
    <>
      <Block title={t(memory.state !== "active" ? "memory.why_doubted" : isOver(memory) ? "memory.why_was" : "memory.why")}>
        {written && <p>{t(isOwn ? "memory.yours_since" : "memory.by_hand", { day: written })}</p>}
        {written && !hasNone && <p className="hint">{t("memory.rested_on")}</p>}
        {written && hasNone ? null : hasNone ? <p className="faint">{t(isOwn ? "memory.yours" : "memory.no_evidence")}</p> : <WhyBelieved evidence={distinct(Object.values(memory.evidence).flat())} until={memory.updated_at} />}
      </Block>
      <Validity memory={memory} others={others} revisions={revisions ?? []} />
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

const trustWord = (trust: string) => (["user", "assistant", "agent"].includes(trust) ? `trust.${trust}` : "trust.external") as Word;

function Block({ title, count, link, children }: { title: string; count?: number; link?: ReactNode; children: ReactNode }) {
  return (
    <section className="block">
      <h2>{title}{count !== undefined && <span className="faint"> {count}</span>}{link && <span className="block-link">{link}</span>}</h2>
      {children}
    </section>
  );
}

function Validity({ memory, others, revisions }: { memory: Memory; others: readonly Memory[]; revisions: readonly Revision[] }) {
  const { t } = useAround();
  const { scope } = useHere();
  const wording = useWording();
  const believed = believedSince(revisions) ?? memory.created_at;
  const first = memory.state === "active" ? believedFirst(revisions) : undefined;
  const rows = [
    [t("memory.valid_from"), memory.valid_from],
    [t("memory.valid_until"), memory.valid_until],
    ...(first ? [[t("memory.first_believed"), first] as const] : []),
    [t(first ? "memory.restored_at" : memory.state !== "active" ? `memory.${memory.state}_since` : isDocument(memory) ? "memory.as_it_is" : "memory.created_at"), believed],
    ...(memory.expires_at ? [[t("memory.expires_at"), memory.expires_at] as const] : []),
  ] as const;
  return (
    <Block title={t("memory.validity")}>
      <dl className="facts">
        {rows.map(([label, at]) => (
          <div key={label}><dt>{label}</dt><dd>{at ? <time dateTime={at}>{wording.moment(at)}</time> : <span className="faint">{t("memory.open_end")}</span>}</dd></div>
        ))}
        {formerOf(memory, others).map((each) => <div key={each.key} className="former-fact"><dt>{t("memory.before")}</dt><dd><a href={memoryLink(each, scope)}>{each.sentence}</a>{each.valid_until && t("memory.before_until", { day: wording.day(each.valid_until) })}</dd></div>)}
        {nextOf(memory, others).map((each) => <div key={each.key} className="next-fact"><dt>{t("memory.after")}</dt><dd><a href={memoryLink(each, scope)}>{each.sentence}</a></dd></div>)}
      </dl>
    </Block>
  );
}

function Uses({ memory }: { memory: Memory }) {
  const { t } = useAround();
  const { scope } = useHere();
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
              <span className="faint">{t("memory.rank", { rank: use.rank })} · <When at={use.at} /></span>
            </li>
          ))}
        </ul>
      )}
    </Block>
  );
}
