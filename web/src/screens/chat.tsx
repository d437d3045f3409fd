/** Chat: threads, the talk with what each turn brought into memory, and the Memories panel. */

import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { api } from "../api/client";
import { isGone } from "../api/problem";
import type { Memory, Thread, Scope } from "../api/shapes";
import { useAsked, useLater, usePages, type Paged } from "../lib/asking";
import { useChanges } from "../lib/changes";
import { useDraft } from "../lib/drafts";
import { placeOf, type Unsent } from "../lib/outbox";
import { broughtBy, endedIn, withEnded, type Ended } from "../lib/past";
import { keptTalks } from "../lib/kept_talks";
import { isAway } from "../lib/reach";
import { newName } from "../lib/storage";
import { go, linkTo, useRoute } from "../lib/route";
import { useAround, useHere, useWording } from "../lib/session";
import { daysIn, momentOf, momentsOf, type Days } from "../lib/time";
import { modelName } from "../lib/model_name";
import { plainOf } from "../lib/rich_text";
import { useTitle } from "../lib/title";
import { When } from "../parts/basics";
import { Boundary } from "../parts/boundary";
import { EraseButton } from "../parts/erase_button";
import { Icon } from "../parts/icons";
import { Failure, Loading, More } from "../parts/states";
import { ToToday } from "../parts/time_bar";
import { Composer } from "./chat_composer";
import { MemoriesPanel } from "./chat_memories";
import { Messages } from "./chat_messages";
import { useTalk } from "./chat_talk";

const MEMORIES_READ = 200;
const FORMATIONS_READ = 10;
const FRESH_READ = 30;
const NOTHING_ENDED: { named: Ended[]; memories: Memory[] } = { named: [], memories: [] };

export default function Chat() {
  const { parts, query } = useRoute();
  const { me, scope } = useHere();
  const [fresh] = useState(() => newName("talk"));
  const chosen = parts[1];
  const threads = usePages(
    (cursor) => api.threads(scope, { cursor, limit: 50 }),
    (answer) => answer.threads,
    [scope],
  );
  const place = JSON.stringify(scope);
  useEffect(() => {
    if (threads.rows.length) keptTalks.keepThreads(place, threads.rows);
  }, [place, threads.rows]);
  // While the service is away, the threads that were read before are better than nothing.
  const rows = threads.rows.length || !isAway(threads.error) ? threads.rows : keptTalks.threadsOf(place);
  // Whether it is known which threads there are: before, one that the address names is not a new one.
  const read = useRef("");
  if (!threads.isLoading && !threads.error) read.current = place;
  const named = useTitles(rows);
  const days = daysIn(query);
  const until = momentOf(days);
  const listed = until ? rows.filter((each) => each.created_at <= until) : rows;
  const latest = newestFirst(listed)[0]?.id ?? fresh;
  useEffect(() => {
    if (chosen || threads.isLoading || (threads.error && !listed.length)) return;
    go(linkTo(["chat", latest], scope), true);
  }, [chosen, threads.isLoading, threads.error, listed.length, latest, scope, query]);
  const [isOpen, setOpen] = useState(() => matchMedia("(min-width: 1080px)").matches);
  return (
    <div className={isOpen ? "chat with-panel" : "chat"}>
      <ThreadList threads={{ ...threads, rows: listed, error: chosen && !isAway(threads.error) ? threads.error : undefined }} named={named} chosen={chosen} isRead={read.current === place} isPast={until !== ""} />
      {!chosen && Boolean(threads.error) && <div className="page"><Failure error={threads.error} again={threads.again} isBusy={threads.isLoading} /></div>}
      {chosen && (
        <Talk
          key={`${chosen} ${JSON.stringify([scope, days])}`}
          thread={chosen}
          called={named.get(chosen)}
          days={days}
          model={me.model}
          wanted={query.get("message")}
          quotes={query.getAll("quote")}
          isPanelOpen={isOpen}
          togglePanel={() => setOpen(!isOpen)}
          changed={threads.again}
          leave={() => go(linkTo(["chat", newestFirst(listed).find((each) => each.id !== chosen)?.id ?? newName("talk")], scope))}
        />
      )}
    </div>
  );
}

function newestFirst(threads: readonly Thread[]): Thread[] {
  return [...threads].sort((one, other) => Date.parse(other.created_at) - Date.parse(one.created_at));
}

const TITLE_CHARACTERS = 80;
/** What threads begin with, and how many messages they had then: of fewer, that message may be erased. */
const titles = new Map<string, { text: string; count: number }>();

/** What each thread begins with: threads have ids, people remember what they said. */
function useTitles(threads: readonly Thread[]): ReadonlyMap<string, string> {
  const { scope } = useHere();
  const [failed, setFailed] = useState<ReadonlySet<string>>(new Set());
  const [, setRound] = useState(0);
  const nameOf = (thread: string) => `${JSON.stringify(scope)} ${thread}`;
  const titleOf = (thread: Thread) => {
    const known = titles.get(nameOf(thread.id));
    return known && known.count <= thread.count ? known.text : undefined;
  };
  const missing = threads.find((each) => each.count > 0 && titleOf(each) === undefined && !failed.has(each.id));
  useEffect(() => {
    if (!missing) return;
    let isOver = false;
    const { id, count } = missing;
    api.messages(scope, id, { after: 0, limit: 1 }).then(
      ({ messages }) => {
        titles.set(nameOf(id), { text: (messages[0]?.text ?? "").slice(0, TITLE_CHARACTERS), count });
        if (!isOver) setRound((n) => n + 1);
      },
      () => !isOver && setFailed((before) => new Set(before).add(id)),
    );
    return () => {
      isOver = true;
    };
  }, [missing && `${nameOf(missing.id)} ${missing.count}`]);
  return new Map(threads.map((each) => [each.id, plainOf(titleOf(each) ?? "") || each.id]));
}

function ThreadList({ threads: { rows: threads, again, hasMore, more, moreError, isLoading, error }, named, chosen, isRead, isPast }: { threads: Paged<Thread>; named: ReadonlyMap<string, string>; chosen: string | undefined; isRead: boolean; isPast: boolean }) {
  const { t } = useAround();
  const { scope } = useHere();
  const isNew = isRead && !isPast && chosen !== undefined && !threads.some((each) => each.id === chosen);
  return (
    <nav className="threads" aria-label={t("chat.threads")}>
      <button type="button" className="new-thread" onClick={() => go(linkTo(["chat", newName("talk")], scope, { on: "", known: "" }))}>
        <Icon name="plus" />
        {t("chat.new")}
      </button>
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
        {newestFirst(threads).map((each) => (
          <li key={each.id}>
            <a className={each.id === chosen ? "thread here" : "thread"} aria-current={each.id === chosen ? "page" : undefined} href={linkTo(["chat", each.id], scope)}>
              <span className="thread-name" title={each.id}>{named.get(each.id)}</span>
              <span className="thread-about">
                {!isPast && <>{t("chat.count", { count: each.count })} · </>}<When at={each.created_at} />
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

function Talk({ thread, called, days, model, wanted, quotes, isPanelOpen, togglePanel, changed, leave }: {
  thread: string;
  /** What it begins with, as far as the list of threads knows it. */
  called: string | undefined;
  days: Days;
  model: string | null;
  wanted: string | null;
  quotes: string[];
  isPanelOpen: boolean;
  togglePanel: () => void;
  changed: () => void;
  /** Go to another thread, because this one is erased. */
  leave: () => void;
}) {
  const { t } = useAround();
  const { me, scope, can } = useHere();
  const [round, setRound] = useState(0);
  const settled = useLater(round, 30);
  const until = momentOf(days);
  const isPast = until !== "";
  const memories = useAsked(() => (isPast ? inferredThen(scope, days) : inferred(scope)), [scope, settled, days]);
  const known = useLatest(memories.value);
  const state = useAsked(() => api.thread(scope, thread).catch((error: unknown) => (isGone(error) ? null : Promise.reject(error))), [scope, thread, settled]);
  const standing = useLatest(state.value);
  const refresh = useCallback(() => {
    setRound((n) => n + 1);
    changed();
  }, [changed]);
  useChanges(scope, refresh);
  const talk = useTalk(thread, { wanted, until }, settled, refresh);
  const [text, setText] = useDraft(placeOf(me.prefix ?? me.scope, scope, thread));
  const ended = useLatest(useAsked(() => (isPast ? Promise.resolve(NOTHING_ENDED) : endedNow(scope, thread)), [scope, thread, settled, isPast]).value);
  // As many as the panel shows: what was rejected, or waits for a review, is not inferred.
  const inForce = useMemo(() => (known ?? []).filter((each) => each.state === "active"), [known]);
  const brought = useMemo(
    () => withEnded(broughtBy(inForce, thread), ended?.named ?? [], ended?.memories ?? []),
    [inForce, ended, thread],
  );
  const title = talk.hasEarlier || !talk.shown[0] ? (standing ? (called ?? thread) : t(standing === null ? "chat.untitled" : "chat")) : plainOf(talk.shown[0].text);
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
            {inForce.length > 0 && <span className="count">{inForce.length}</span>}
          </button>
          </div>
        </header>
        <Messages thread={thread} talk={talk} wanted={wanted} quotes={quotes} brought={brought} isPast={isPast} isKnown={inForce.length > 0} changed={refresh} edit={edit} begin={can("write") && known ? begin : undefined} />
        {isPast && <div className="composer composer-past"><p>{t("chat.past", { day: wording.day(until.slice(0, 10)) })}</p><ToToday /></div>}
        {!isPast && can("write") && <Composer text={text} setText={setText} isAnswering={talk.isAnswering} say={talk.say} stop={talk.stop} />}
      </section>
      {isPanelOpen && (
        <Boundary about={thread}>
          <MemoriesPanel thread={thread} isPast={isPast} standing={standing ?? null} memories={known} error={isAway(memories.error) && isAway(talk.error) ? undefined : memories.error} refresh={refresh} close={togglePanel} />
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

/** What was inferred by a day. */
async function inferredThen(scope: Scope, days: Days): Promise<Memory[]> {
  return (await api.memories(scope, { order: "newest", limit: MEMORIES_READ, ...momentsOf(days), known_at: momentOf(days) })).memories;
}

/** What the last formations ended because of messages of a thread, and those memories as they are. */
async function endedNow(scope: Scope, thread: string): Promise<typeof NOTHING_ENDED> {
  const { formations } = await api.formations(scope, null, FORMATIONS_READ);
  const named = endedIn(formations, thread);
  const memories = await Promise.all(named.map((each) => api.memory(scope, each.type, each.key).catch(() => null)));
  return { named, memories: memories.filter((each) => each !== null) };
}

/** What was inferred; of more than can be shown, what the last formations stored before the rest. */
async function inferred(scope: Scope): Promise<Memory[]> {
  const { memories, cursor } = await api.memories(scope, { limit: MEMORIES_READ });
  if (!cursor) return memories;
  const { formations } = await api.formations(scope, null, FORMATIONS_READ);
  const outcomes = formations.flatMap((each) => each.receipt.outcomes ?? []).slice(0, FRESH_READ);
  const addresses = new Map(outcomes.map((each) => [`${each.type}/${each.key}`, each]));
  const asked = [...addresses.values()].map((each) => api.memory(scope, each.type, each.key).catch(() => null));
  const fresh = (await Promise.all(asked)).filter((each) => each !== null);
  return [...fresh, ...memories.filter((each) => !addresses.has(`${each.type}/${each.key}`))];
}
