/** Chat: threads, the talk with what each turn brought into memory, and the Memories panel. */

import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { api } from "../api/client";
import { isGone } from "../api/problem";
import type { Formation, Memory, MemoryCounts, Message, Thread, Scope } from "../api/shapes";
import { useAsked, useLater, usePages, type Paged } from "../lib/asking";
import { useChanges } from "../lib/changes";
import { useDraft } from "../lib/drafts";
import { useErasures } from "../lib/erasures";
import { BEGIN_MESSAGES, firstWords } from "../lib/first_words";
import { gaveUp } from "../lib/given_up";
import { countsOn } from "../lib/in_force";
import { placeOf, type Unsent } from "../lib/outbox";
import { ownerOf } from "../lib/owned_shelf";
import { broughtBy, endedIn, isEnded, isLater, withEnded, type Ended } from "../lib/past";
import { keptTalks } from "../lib/kept_talks";
import { newestFirst, noteThread, threadToOpen } from "../lib/last_thread";
import { isAway } from "../lib/reach";
import { newName, tabShelf } from "../lib/storage";
import { changedIn, forgottenIn, takenBack, undoneIn } from "../lib/taken_back";
import { go, linkTo, useRoute } from "../lib/route";
import { useAround, useHere, useWording } from "../lib/session";
import { daysIn, momentOf, momentsOf, type Days } from "../lib/time";
import { modelName } from "../lib/model_name";
import { plainOf } from "../lib/rich_text";
import { ThreadTitles, wordsOf } from "../lib/thread_titles";
import { useTitle } from "../lib/title";
import { sameTitled } from "../lib/told_apart";
import { When } from "../parts/basics";
import { Boundary } from "../parts/boundary";
import { EraseButton } from "../parts/erase_button";
import { Icon } from "../parts/icons";
import { Failure, Loading, More } from "../parts/states";
import { ToToday } from "../parts/to_today";
import { Composer } from "./chat_composer";
import { MemoriesPanel } from "./chat_memories";
import { Messages } from "./chat_messages";
import { useTalk } from "./chat_talk";
import { spokenInBy } from "./chat_thread";

const MEMORIES_READ = 200;
const FORMATIONS_READ = 30;
const HISTORIES_READ = 4;
const TODAY: Days = { on: "", known: "" };

/** What became of the memories that the last formations of a thread wrote. */
interface Outcomes {
  formations: readonly Formation[];
  ended: Ended[];
  memories: Memory[];
  /** Messages on which a document rested until that was undone. */
  undone: ReadonlySet<string>;
}

const NO_OUTCOMES: Outcomes = { formations: [], ended: [], memories: [], undone: new Set() };

export default function Chat() {
  const { parts, query } = useRoute();
  const { me, scope } = useHere();
  const [fresh] = useState(newTalk);
  const chosen = parts[1];
  const threads = usePages(
    (cursor) => api.threads(scope, { cursor, limit: 50 }),
    (answer) => answer.threads,
    [scope],
  );
  useErasures(scope, threads.again);
  const place = JSON.stringify(scope);
  useEffect(() => {
    if (threads.rows.length) keptTalks.keepThreads(place, threads.rows);
    for (const { id } of threads.rows) madeHere.delete(id);
  }, [place, threads.rows]);
  // While the service is away, the threads that were read before are better than nothing.
  const rows = threads.rows.length || !(threads.isWaiting || isAway(threads.error)) ? threads.rows : keptTalks.threadsOf(place);
  // Whether it is known which threads there are: before, one that the address names is not a new one.
  const read = useRef("");
  if (!threads.isLoading && !threads.error) read.current = place;
  // What the other threads begin with waits for the talk: a browser sends few requests at once.
  const [talkRead, setTalkRead] = useState("");
  const named = useTitles(rows, chosen === talkRead);
  const ids = useSame([...rows.map((each) => each.id), ...(chosen ? [chosen] : [])]);
  const days = daysIn(query);
  const until = momentOf(days);
  const imported = until ? rows.filter((each) => each.created_at > until).map(({ id }) => id) : [];
  const early = useAsked(() => spokenInBy(scope, imported, until), [scope, imported, until]);
  const listed = until ? rows.filter((each) => each.created_at <= until || early.value?.has(each.id)) : rows;
  const latest = threadToOpen(place, listed, (id) => !until && (threads.hasMore || madeHere.has(id))) ?? fresh;
  useEffect(() => {
    if (!chosen) return;
    noteThread(place, chosen);
    // A reload finds the thread as new as it was.
    tabShelf.set(NEW_NAME, isStillEmpty(chosen) ? chosen : null);
  }, [chosen, place, threads.rows]);
  useEffect(() => {
    const isUnknown = threads.isWaiting || threads.error ? !listed.length : threads.isLoading || early.isLoading;
    if (chosen || isUnknown) return;
    go(linkTo(["chat", latest], scope), true);
  }, [chosen, threads.isLoading, early.isLoading, threads.isWaiting, threads.error, listed.length, latest, scope, query]);
  const [isOpen, setOpen] = useState(() => matchMedia("(min-width: 1080px)").matches);
  const [begun, setBegun] = useState("");
  const begin = () => {
    const id = newTalk();
    setBegun(id);
    go(linkTo(["chat", id], scope, { on: "", known: "" }));
  };
  return (
    <div className={isOpen ? "chat with-panel" : "chat"}>
      <ThreadList threads={{ ...threads, rows: listed, error: chosen && !isAway(threads.error) ? threads.error : undefined }} named={named} chosen={chosen} isRead={read.current === place} isPast={until !== ""} begin={begin} />
      {!chosen && threads.isWaiting && <div className="page"><Loading isScreen /></div>}
      {!chosen && Boolean(threads.error) && <div className="page"><Failure error={threads.error} again={threads.again} isBusy={threads.isLoading} /></div>}
      {chosen && (
        <Talk
          key={`${chosen} ${JSON.stringify([scope, days])}`}
          thread={chosen}
          isBegun={chosen === begun}
          isEmpty={isStillEmpty(chosen) && !rows.some((each) => each.id === chosen)}
          called={named.get(chosen)?.title}
          threads={ids}
          days={days}
          model={me.model}
          wanted={query.get("message")}
          quotes={query.getAll("quote")}
          isPanelOpen={isOpen}
          togglePanel={() => setOpen(!isOpen)}
          changed={threads.again}
          isRead={setTalkRead}
          leave={() => go(linkTo(["chat", newestFirst(listed).find((each) => each.id !== chosen)?.id ?? newTalk()], scope))}
        />
      )}
    </div>
  );
}

const NEW_NAME = "recollect.new_thread";
/** Names of threads that were made up here, until the service lists them: each is new, not gone, and nothing is asked of one that is empty. */
const madeHere = new Set<string>([tabShelf.get(NEW_NAME) ?? ""]);
/** Those of them in which something was said: the page of threads that is listed may never come to them. */
const spokenIn = new Set<string>();
const isStillEmpty = (thread: string): boolean => madeHere.has(thread) && !spokenIn.has(thread);

function newTalk(): string {
  const id = newName("talk");
  madeHere.add(id);
  return id;
}

/** The same list as before, as long as it holds the same. */
function useSame(list: string[]): readonly string[] {
  return useMemo(() => list, [list.join("\n")]);
}

const titles = new ThreadTitles();
/** When the newest message of threads was said, and how many there were then. */
const newest = new Map<string, { at: string; state: string }>();

/** What a thread begins with, unless that is known, and its newest message. */
async function endsOf(scope: Scope, thread: Thread, isNamed: boolean): Promise<{ begin?: string; end: Message | undefined }> {
  const all = keptTalks.wholeOf(JSON.stringify([scope, thread.id]), thread);
  if (all) return { begin: wordsOf(all.slice(0, BEGIN_MESSAGES)), end: all.at(-1) };
  const [begin, { messages: [end] }] = await Promise.all([isNamed ? undefined : firstWords(scope, thread.id), api.messages(scope, thread.id, { last: 1 })]);
  return { begin, end };
}

interface NamedThread {
  title: string;
  /** When its newest message was said; undefined as long as that is not known. */
  at: string | undefined;
}

/** What each thread begins with and when it was last said something in: threads have ids, people remember words and days. */
function useTitles(threads: readonly Thread[], isTalkRead: boolean): ReadonlyMap<string, NamedThread> {
  const { scope } = useHere();
  const [failed, setFailed] = useState<ReadonlySet<string>>(new Set());
  const [, setRound] = useState(0);
  const nameOf = (thread: string) => `${JSON.stringify(scope)} ${thread}`;
  const titleOf = (thread: Thread) => titles.of(nameOf(thread.id), thread);
  const newestOf = (thread: Thread) => newest.get(nameOf(thread.id));
  const stateOf = ({ id, count, last }: Thread) => `${nameOf(id)} ${count} ${last}`;
  const isOld = (thread: Thread) => newestOf(thread)?.state !== stateOf(thread);
  const missing = threads.find((each) => each.count > 0 && (titleOf(each) === undefined || isOld(each)) && !failed.has(stateOf(each)));
  useEffect(() => {
    if (!missing || !isTalkRead) return;
    let isOver = false;
    const { id } = missing;
    endsOf(scope, missing, titleOf(missing) !== undefined).then(
      ({ begin, end }) => {
        if (begin !== undefined) titles.note(nameOf(id), begin, missing);
        newest.set(nameOf(id), { at: end?.time ?? missing.created_at, state: stateOf(missing) });
        if (!isOver) setRound((n) => n + 1);
      },
      () => !isOver && setFailed((before) => new Set(before).add(stateOf(missing))),
    );
    return () => {
      isOver = true;
    };
  }, [missing && stateOf(missing), isTalkRead]);
  return new Map(threads.map((each) => [each.id, { title: plainOf(titleOf(each) ?? "") || each.id, at: newestOf(each)?.at }]));
}

function ThreadList({ threads: { rows: threads, again, hasMore, more, moreError, isLoading, error }, named, chosen, isRead, isPast, begin }: { threads: Paged<Thread>; named: ReadonlyMap<string, NamedThread>; chosen: string | undefined; isRead: boolean; isPast: boolean; begin: () => void }) {
  const { t } = useAround();
  const { scope, can } = useHere();
  const wording = useWording();
  // The order of the newest messages, once all of them are known: until then none jumps.
  const areDated = !isPast && threads.every((each) => !each.count || named.get(each.id)?.at);
  const ordered = newestFirst(areDated ? threads.map((each) => ({ ...each, created_at: named.get(each.id)?.at ?? each.created_at })) : threads);
  const same = sameTitled(ordered.map(({ id }) => ({ id, title: named.get(id)?.title ?? id })));
  const whenOf = ({ id, created_at }: Thread) => (isPast ? created_at : (named.get(id)?.at ?? created_at));
  const isNew = isRead && !isPast && chosen !== undefined && madeHere.has(chosen) && !threads.some((each) => each.id === chosen);
  return (
    <nav className="threads" aria-label={t("chat.threads")}>
      {can("write") && (
        <button type="button" className="new-thread" onClick={begin}>
          <Icon name="plus" />
          {t("chat.new")}
        </button>
      )}
      <Failure error={error} again={again} isBusy={isLoading} />
      {!isRead && isLoading && !threads.length && <Loading rows={2} />}
      <ul>
        {isNew && (
          <li>
            <a className="thread here" aria-current="page" href={linkTo(["chat", chosen], scope)}>
              <span className="thread-name">{t("chat.untitled")}</span>
              <span className="thread-about">{t("chat.count", { count: 0 })}</span>
            </a>
          </li>
        )}
        {ordered.map((each) => (
          <li key={each.id}>
            <a className={each.id === chosen ? "thread here" : "thread"} aria-current={each.id === chosen ? "page" : undefined} href={linkTo(["chat", each.id], scope)}>
              <span className="thread-name" title={each.id}>{named.get(each.id)?.title}</span>
              <span className="thread-about">
                {!isPast && `${t("chat.count", { count: each.count })} · `}{same.has(each.id) ? wording.moment(whenOf(each)) : <When at={whenOf(each)} />}
                {!isPast && each.formed < each.last && <span className="pending-dot" title={t("chat.pending")} />}
              </span>
            </a>
          </li>
        ))}
      </ul>
      <More hasMore={hasMore} isLoading={isLoading} more={more} error={moreError} />
    </nav>
  );
}

function Talk({ thread, isBegun, isEmpty, called, threads, days, model, wanted, quotes, isPanelOpen, togglePanel, changed, isRead, leave }: {
  thread: string;
  /** Whether it was asked for just now: what is typed goes into it. */
  isBegun: boolean;
  /** Whether nothing was said in it yet. */
  isEmpty: boolean;
  /** What it begins with, as far as the list of threads knows it. */
  called: string | undefined;
  /** The threads that are listed. */
  threads: readonly string[];
  days: Days;
  model: string | null;
  wanted: string | null;
  quotes: string[];
  isPanelOpen: boolean;
  togglePanel: () => void;
  changed: () => void;
  /** Called once its messages were read, or could not be. */
  isRead: (thread: string) => void;
  /** Go to another thread, because this one is erased. */
  leave: () => void;
}) {
  const { t } = useAround();
  const { me, scope, can } = useHere();
  const [round, setRound] = useState(0);
  const settled = useLater(round, 30);
  const until = momentOf(days);
  const isPast = until !== "";
  const refresh = useCallback(() => {
    setRound((n) => n + 1);
    changed();
  }, [changed]);
  const talk = useTalk(thread, { wanted, until, isEmpty }, settled, refresh);
  useEffect(() => {
    if (!talk.isLoading) isRead(thread);
  }, [talk.isLoading, thread, isRead]);
  const hasWords = talk.shown.some((each) => each.position !== null);
  useEffect(() => {
    if (hasWords) spokenIn.add(thread);
  }, [hasWords, thread]);
  const memories = useAsked(() => (isPast ? inferredThen(scope, days) : inferredNow(scope)), [scope, settled, days]);
  const latest = useLatest(memories.value);
  const known = latest?.memories;
  const state = useAsked(() => (isEmpty ? Promise.resolve(null) : api.thread(scope, thread).catch((error: unknown) => (isGone(error) ? null : Promise.reject(error)))), [scope, thread, isEmpty, settled]);
  const standing = useLatest(state.value);
  const [text, setText] = useDraft(placeOf(ownerOf(me), scope, thread), isEmpty || standing === null ? { scope } : { scope, thread });
  useChanges(scope, refresh);
  const outcomes = useLatest(useAsked(() => (isPast ? Promise.resolve(NO_OUTCOMES) : outcomesOf(scope, thread)), [scope, thread, settled, isPast]).value) ?? NO_OUTCOMES;
  // As many as the panel shows: what was rejected, or waits for a review, is not inferred.
  const inferred = useMemo(() => (known ?? []).filter((each) => each.state === "active"), [known]);
  const at = isPast ? Date.parse(until) : undefined;
  const inForce = latest?.counts?.total ?? inferred.filter((each) => !isEnded(each, at) && !isLater(each, at)).length;
  const brought = useMemo(
    () => withEnded(broughtBy(inferred, thread), outcomes.ended, outcomes.memories),
    [inferred, outcomes, thread],
  );
  const back = useMemo(() => {
    const isThere = (address: Pick<Memory, "type" | "key">) => !known || known.some((each) => each.type === address.type && each.key === address.key);
    return takenBack(talk.shown, forgottenIn(outcomes.formations, thread, isThere), outcomes.undone);
  }, [talk.shown, outcomes, known, thread]);
  const sources = useMemo(() => ({ memories: inferred, threads }), [inferred, threads]);
  const isOver = standing === null && !isEmpty && !isPast && !talk.shown.length;
  useEffect(() => {
    // The list may never have come to it: it is no new one any more.
    if (isOver && madeHere.delete(thread)) changed();
  }, [isOver, thread, changed]);
  const title = talk.hasEarlier || !talk.shown[0] ? (standing ? (called ?? thread) : t(isOver ? "chat.gone" : standing === null ? "chat.untitled" : "chat")) : plainOf(wordsOf(talk.shown.slice(0, BEGIN_MESSAGES)));
  const wording = useWording();
  useTitle(t("chat"), title === t("chat") ? undefined : title);
  const edit = (unsent: Unsent) => {
    talk.takeBack(unsent);
    setText(text.trim() ? `${unsent.text}\n${text}` : unsent.text);
    document.getElementById("composer")?.focus();
  };
  const begin = (words: string) => {
    setText(words);
    document.getElementById("composer")?.focus();
  };
  return (
    <>
      <section className="talk" aria-label={t("chat.talk")}>
        <header className="talk-head">
          <div className="talk-title">
            <h1 tabIndex={-1} title={thread}>{title}</h1>
            <p className="about">{model ? t("chat.with", { model: modelName(model, t) }) : t("chat.no_model")}</p>
          </div>
          <div className="talk-acts">
          {standing && !isPast && <EraseButton target={{ thread }} what="erase.this_thread" isIcon done={() => { changed(); leave(); }} />}
          <button type="button" className={isPanelOpen ? "memories-button on" : "memories-button"} aria-expanded={isPanelOpen} aria-controls="memories-panel" onClick={togglePanel}>
            <Icon name="memory" />
            {t("memories")}
            {inForce > 0 && <span className="count">{wording.number(inForce)}</span>}
          </button>
          </div>
        </header>
        <Messages thread={thread} talk={talk} wanted={wanted} quotes={quotes} isGone={isOver} erased={standing && !isPast ? standing.last - standing.count : 0} brought={brought} takenBack={back} known={sources} isPast={isPast} isKnown={inferred.length > 0} changed={refresh} edit={edit} begin={can("write") && known ? begin : undefined} />
        {isPast && <div className="composer composer-past"><p>{t("chat.past", { day: wording.day(until.slice(0, 10)) })}</p><ToToday /></div>}
        {!isPast && !can("write") && <div className="composer composer-past"><p>{t("read_only")}</p></div>}
        {!isPast && can("write") && <Composer isBegun={isBegun} text={text} setText={setText} isAnswering={talk.isAnswering} say={talk.say} stop={talk.stop} />}
      </section>
      {isPanelOpen && (
        <Boundary about={thread}>
          <MemoriesPanel thread={thread} until={until} standing={standing ?? null} isGivenUp={outcomes.formations.some((each) => gaveUp(each, thread))} memories={known} counts={latest?.counts} error={isAway(memories.error) && isAway(talk.error) ? undefined : memories.error} refresh={refresh} close={togglePanel} />
        </Boundary>
      )}
    </>
  );
}

/** The last value that there was. */
function useLatest<T>(value: T | undefined): T | undefined {
  const [latest, setLatest] = useState<T | undefined>();
  useEffect(() => {
    if (value !== undefined) setLatest(value);
  }, [value]);
  return latest;
}

interface Inferred {
  memories: Memory[];
  /** How many are in force, where there are more than were read. */
  counts?: MemoryCounts;
}

/** What was inferred by a day. */
async function inferredThen(scope: Scope, days: Days): Promise<Inferred> {
  const { memories, counts } = await api.memories(scope, { order: "changed", limit: MEMORIES_READ, ...momentsOf(days), known_at: momentOf(days) });
  return (counts?.total ?? 0) > memories.length ? { memories, counts: await countsOn(scope, days) } : { memories };
}

/** What the last formations ended or changed because of messages of a thread, as it is now. */
async function outcomesOf(scope: Scope, thread: string): Promise<Outcomes> {
  const { formations } = await api.formations(scope, null, FORMATIONS_READ);
  const ended = endedIn(formations, thread);
  const memories = await Promise.all(ended.map((each) => api.memory(scope, each.type, each.key).catch(() => null)));
  const changed = changedIn(formations, thread).slice(0, HISTORIES_READ);
  const histories = await Promise.all(changed.map((each) => api.history(scope, each.type, each.key).catch(() => ({ revisions: [] }))));
  const undone = new Set(histories.flatMap(({ revisions }) => [...undoneIn(revisions, thread)]));
  return { formations, ended, memories: memories.filter((each) => each !== null), undone };
}

/** What was inferred; of more than can be shown, what was changed last. */
async function inferredNow(scope: Scope): Promise<Inferred> {
  const { memories, cursor } = await api.memories(scope, { limit: MEMORIES_READ });
  return cursor ? inferredThen(scope, TODAY) : { memories };
}
