/** The talk: each message with what it brought into memory, and those that have not gone as they should. */

import { Fragment, memo, useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { canPass, Problem } from "../api/problem";
import type { Memory } from "../api/shapes";
import type { KnownSources } from "../lib/answer_sources";
import { useAsked } from "../lib/asking";
import { learntFrom, versionsOf } from "../lib/learnt";
import { isDoubtful, type Unsent } from "../lib/outbox";
import type { Brought } from "../lib/past";
import { marked } from "../lib/quotes";
import { blocksOf, inlinesOf } from "../lib/rich_text";
import { isDocument, placesSaid } from "../lib/sentences";
import { useAgainWhenBack, useStanding } from "../lib/reach";
import { useReadingPlace } from "../lib/reading_place";
import { go, linkHere } from "../lib/route";
import { sentenceOf, useAround, useHere, useWording, useYesNo } from "../lib/session";
import { gapsIn } from "../lib/talk";
import { useTakeBack } from "../lib/take_back";
import { Badge, memoryLink } from "../parts/basics";
import { LazyErase } from "../parts/erase_button";
import { Icon } from "../parts/icons";
import { TypeSign } from "../parts/said";
import { ActFailure, Empty, Failure, Loading, WhereLooked } from "../parts/states";
import { loadLateWords } from "../words";
import type { Shown, TalkShown } from "./chat_talk";
import { Folded } from "./chat_fold";
import { Used } from "./chat_used";

/* The same ones each time: a turn whose properties are the same is not drawn again. */
const NO_QUOTES: string[] = [];
const NONE_BROUGHT: Brought[] = [];
/** What may be said first: to who is known already, a question is shown only, as a fact would contradict what is known. */
const BEGINNINGS = { known: ["chat.begin_question"], unknown: ["chat.begin_fact", "chat.begin_question"] } as const;

export function Messages({ thread, talk, wanted, quotes, isGone, erased: lost, brought, takenBack, known, isPast, isKnown, changed, edit, begin }: {
  thread: string;
  /** Whether there is no such thread, and it was not begun here. */
  isGone: boolean;
  /** How many messages of the thread were erased or removed. */
  erased: number;
  /** What the answers may have used. */
  known: KnownSources;
  talk: TalkShown;
  wanted: string | null;
  quotes: string[];
  brought: ReadonlyMap<string, Brought[]>;
  /** Messages that brought what was undone or deleted since. */
  takenBack: ReadonlySet<string>;
  isPast: boolean;
  changed: () => void;
  edit: (unsent: Unsent) => void;
  /** Whether anything is remembered yet. */
  isKnown: boolean;
  /** Puts words into the field, where a talk may begin. */
  begin?: (words: string) => void;
}) {
  const { t } = useAround();
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  // What was erased here is not shown until the thread has been read again.
  const shown = useMemo(() => talk.shown.filter((each) => !gone.has(each.id)), [talk.shown, gone]);
  const gaps = useMemo(() => gapsIn(shown, isPast ? -1 : lost, !talk.hasEarlier, talk.between), [shown, lost, isPast, talk.hasEarlier, talk.between]);
  const box = useRef<HTMLDivElement>(null);
  const { can } = useHere();
  const [erased, setErased] = useState<string | null>(null);
  const erase = can("erase") && !isPast ? setErased : undefined;
  const isThere = shown.some((each) => each.id === wanted);
  // What a turn brought in comes after the turn, and lengthens it.
  const now = useMemo(() => ({ shown, brought, isLoading: talk.isLoading }), [shown, brought, talk.isLoading]);
  const [again, setAgain] = useState(0);
  // What was answered since the talk was opened is being read: it is not folded then.
  const opened = useRef<number | null>(null);
  if (!talk.isLoading) opened.current ??= shown.at(-1)?.position ?? 0;
  const link = JSON.stringify([wanted, quotes, again]);
  const held = wanted !== null && isThere && !talk.isLoading ? `message-${wanted}` : null;
  const { note: notePlace, stay } = useReadingPlace(box, { now, own: talk.said, held, link });
  useEffect(() => {
    if (held) document.getElementById(held)?.focus({ preventScroll: true });
  }, [held, link]);
  const isWantedGone = wanted !== null && !isThere && (talk.isTooFar || !talk.hasEarlier) && !talk.error && !talk.isWaiting && !talk.isLoading;
  useEffect(() => {
    // The words that a link quotes are those of a message that was erased.
    if (isWantedGone && !isPast && quotes.length) go(linkHere({ quote: "" }), true);
  }, [isWantedGone, isPast, quotes.length]);
  if (talk.isLoading) return <div className="messages"><Loading /></div>;
  return (
    <div className="messages" ref={box} onScroll={notePlace} onClick={(event) => isLinkHere(event.target) && setAgain((n) => n + 1)} role="log" aria-label={t("chat.talk")} aria-busy={talk.isAnswering} tabIndex={0}>
      {!shown.length && !talk.error && (
        <Empty icon={isPast ? "time" : "chat"} title={t(isPast ? "chat.empty_then" : isGone ? "chat.gone" : "chat.empty")}>
          {!isPast && (isGone || can("write")) && <p>{t(isGone ? "chat.gone_about" : "chat.empty_about")}</p>}
          {!isPast && <WhereLooked />}
          {!isPast && !isGone && begin && <p className="chips">{BEGINNINGS[isKnown ? "known" : "unknown"].map((each) => <button key={each} type="button" className="chip" onClick={() => begin(t(each))}>{t(each)}</button>)}</p>}
        </Empty>
      )}
      {talk.earlierError ? <Failure error={talk.earlierError} again={talk.earlier} /> : talk.hasEarlier && <button type="button" className="more" onClick={talk.earlier}>{t("chat.earlier")}</button>}
      {isWantedGone && <p className="notice">{t(isPast ? "chat.wanted_later" : "chat.wanted_gone")}</p>}
      {shown.map((each) => (
        <Fragment key={each.id}>
          <Lost count={gaps.get(each.id)} />
          <Turn thread={thread} message={each} quotes={each.id === wanted ? quotes : NO_QUOTES} isWanted={each.id === wanted} brought={brought.get(each.id) ?? NONE_BROUGHT} isTakenBack={takenBack.has(each.id)} known={known} isPast={isPast} readAt={each.unsent ? talk.readAt : 0} isJustSaid={each.role === "assistant" && (each.position ?? Infinity) > (opened.current ?? 0)} stay={stay} changed={changed} erase={(each.position ?? 0) > 0 ? erase : undefined}>
            {each.unsent && <NotSent unsent={each.unsent} isBusy={talk.isAnswering} readAt={talk.readAt} again={talk.sayAgain} edit={edit} />}
          </Turn>
          {talk.between !== undefined && each.position === talk.between && <button type="button" className="more" onClick={talk.fill}>{t("chat.between")}</button>}
        </Fragment>
      ))}
      <Lost count={gaps.get("")} />
      <Failure error={talk.error} again={talk.again} />
      {erased !== null && <LazyErase target={{ message: { thread, id: erased } }} close={() => setErased(null)} done={() => { setGone((all) => new Set([...all, erased])); setErased(null); changed(); }} />}
    </div>
  );
}

/** Where messages were that are gone. */
const Lost = ({ count = 0 }: { count?: number }) => {
  const { t } = useAround();
  return count > 0 && <p className="used-label lost">{t("chat.lost", { count })}</p>;
};

/** Whether a click followed a link to the very place that is shown: the browser tells nobody of it. */
const isLinkHere = (target: EventTarget): boolean => target instanceof Element && target.closest("a")?.getAttribute("href") === location.hash;

const Turn = memo(function Turn({ thread, message, quotes, isWanted, brought, isTakenBack, known, isPast, readAt, isJustSaid, stay, changed, erase, children }: {
  thread: string;
  message: Shown;
  known: KnownSources;
  quotes: string[];
  isWanted: boolean;
  brought: Brought[];
  isTakenBack: boolean;
  isPast: boolean;
  /** When the thread was read, of a message that is not known to be sent. */
  readAt: number;
  /** It is an answer that came while the talk was looked at. */
  isJustSaid: boolean;
  stay: () => void;
  changed: () => void;
  /** Asks whether a message is to be erased. */
  erase: ((message: string) => void) | undefined;
  children: ReactNode;
}) {
  const { t } = useAround();
  const wording = useWording();
  // A link that names words leads to these: in a long message others would draw the eye away.
  const words = quotes.length || !isWanted ? quotes : brought.flatMap((each) => each.quotes);
  return (
    <article id={`message-${message.id}`} data-row tabIndex={-1} className={`turn turn-${message.role}${isWanted ? " wanted" : ""}${message.unsent?.state === "unsent" ? " turn-unsent" : ""}`}>
      <header className="turn-head">
        <span className="turn-who">{message.name ?? t(`role.${message.role}`)}</span>
        {message.time && <time dateTime={message.time}>{wording.moment(message.time)}</time>}
        {message.isInterrupted && <Badge>{t("chat.interrupted")}</Badge>}
        {message.unsent?.state === "unsent" && <Badge kind="wrong">{t(isDoubtful(message.unsent, readAt) ? "chat.unconfirmed" : "chat.unsent")}</Badge>}
        {erase && <button type="button" className="plain turn-erase" aria-label={t("erase.this")} title={t("erase.this")} onClick={() => erase(message.id)}><Icon name="erase" /></button>}
      </header>
      <Folded text={message.text} isWhole={isWanted || words.length > 0 || isJustSaid} stay={stay}>
        {message.text && !words.length && (message.role === "assistant" || message.text.includes("```")) ? <Answer text={message.text} /> : (
          <p className="turn-text">
            {message.text
              ? marked(message.text, words).map((span, place) => (span.marked ? <mark key={place}>{span.text}</mark> : span.text))
              : <span className="thinking" role="status"><span className="unseen">{t("chat.thinking")}</span></span>}
          </p>
        )}
      </Folded>
      {brought.length > 0 && (
        <ul className="marks" aria-label={t("chat.remembered")}>
          <li className="used-label" aria-hidden="true">{t("chat.learnt")}</li>
          {brought.map((each) => <StoredMark key={`${each.memory.type}/${each.memory.key}/${each.memory.version}`} brought={each} thread={thread} message={message.id} />)}
          {!isPast && <TakeBack memories={brought.map((each) => each.memory)} thread={thread} message={message.id} changed={changed} />}
        </ul>
      )}
      {isTakenBack && !brought.length && !isPast && <p className="used-label taken-back">{t("chat.taken_back")}</p>}
      {children}
      {(message.use || message.references.length > 0) && <Used use={message.use} references={message.references} known={known} text={message.text} at={message.time} />}
    </article>
  );
});

/** An answer with what the model marked in it; where words are pointed out, it is shown as it was written. */
function Answer({ text }: { text: string }) {
  return (
    <div className="turn-text">
      {blocksOf(text).map((block, place) => block.kind === "code"
        ? <pre key={place} className="turn-code" tabIndex={0}><code>{block.text}</code></pre>
        : <p key={place}>{inlinesOf(block.text).map((each, at) => each.kind === "text" ? each.text : each.kind === "code" ? <code key={at}>{each.text}</code> : <strong key={at}>{each.text}</strong>)}</p>)}
    </div>
  );
}

/** A memory that a message brought, in the words of then, or ended. */
function StoredMark({ brought: { memory, pointers, quotes, isEnded = false }, thread, message }: { brought: Brought; thread: string; message: string }) {
  const { t, named } = useAround();
  const yesNo = useYesNo();
  const { scope } = useHere();
  const { type, key, version } = memory;
  const wasChanged = version > 1 && !isEnded;
  const versions = useAsked(() => (wasChanged ? versionsOf(scope, memory) : Promise.resolve(undefined)), [scope, type, key, version, wasChanged]).value?.revisions ?? [];
  const then = learntFrom(versions, thread, message) ?? { ...memory, pointers };
  const said = (isDocument(then) && placesSaid(then.value, then.pointers, named, yesNo)) || then.sentence;
  return (
    <li className="stored-mark">
      <TypeSign type={memory.type} isNamed={false} />
      <a href={memoryLink(memory, scope)} title={quotes[0] && t("quoted", { words: quotes[0] })}>{isEnded ? t("chat.no_longer", { what: said }) : said}</a>
    </li>
  );
}

/** The button that takes back all that a message did: what it ended holds again with it. */
function TakeBack({ memories, thread, message, changed }: { memories: Memory[]; thread: string; message: string; changed: () => void }) {
  const { t } = useAround();
  const { can } = useHere();
  const acts = useTakeBack(changed);
  const versions = memories.map((each) => `${each.type}/${each.key}/${each.version}`).join(" ");
  const [gone, setGone] = useState("");
  if (!can("write") || acts.isBusy || gone === versions) return null;
  const takeBack = async () => {
    if (await acts.takeBack(memories, thread, message)) setGone(versions);
  };
  return (
    <li className="mark-back">
      <button type="button" className="plain mark-undo" onClick={() => void takeBack()} aria-label={t("chat.undo_label")}>{t("undo")}</button>
      <ActFailure act={acts} />
    </li>
  );
}

/** Why a message was not sent, or not answered; it can be sent again, which keeps it once, or taken back to the field. */
function NotSent({ unsent, isBusy, readAt, again, edit }: { unsent: Unsent; isBusy: boolean; readAt: number; again: (unsent: Unsent) => void; edit: (unsent: Unsent) => void }) {
  const { t } = useAround();
  const { status, code, title, detail, reason } = unsent.error ?? { status: 0, code: "", title: "", detail: "", reason: undefined };
  const problem = useMemo(() => new Problem(status, code, title, detail, reason), [status, code, title, detail, reason]);
  // Why, in the reader's language, is said with words that come later: after a reload they are not there yet.
  useAsked(() => (reason?.code ? loadLateWords() : Promise.resolve()), [reason?.code]);
  // The frame says that the service is away, as long as it is: here it would still stand once the service is back.
  useAgainWhenBack(problem, () => undefined);
  const isUnanswered = code === "unreachable";
  const isOver = useStanding() === "there" && isUnanswered;
  const isUnsent = unsent.state === "unsent";
  const word = !isUnsent ? "chat.unanswered" : isDoubtful(unsent, readAt) ? "chat.unsure" : isUnanswered ? "chat.not_sent_away" : "chat.not_sent";
  return (
    <div className={isOver ? "wrong not-sent calm" : "wrong not-sent"} role={isOver ? "status" : "alert"}>
      <Icon name="warn" />
      <p>
        <strong>{t(word)}</strong> {!isUnanswered && unsent.error && sentenceOf(problem, t)}
      </p>
      {(isUnsent || canPass(problem)) && (
        <div className="not-sent-acts">
          <button type="button" className="small" disabled={isBusy} onClick={() => again(unsent)}>{t(isUnsent ? "chat.send_again" : "again")}</button>
          {isUnsent && <button type="button" className="small" disabled={isBusy} onClick={() => edit(unsent)}>{t("chat.edit_unsent")}</button>}
        </div>
      )}
    </div>
  );
}
