/** Chat: threads, the talk with what each turn brought into memory, and the Memories panel. */

import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { api } from "../api/client";
import type { Memory, Message, Thread, Scope } from "../api/shapes";
import { useAsked, useChanges, useLater, usePages } from "../lib/asking";
import { broughtBy, type Brought } from "../lib/past";
import { spoken } from "../lib/pointer";
import { marked } from "../lib/quotes";
import { useMemoryActs } from "../lib/memory_acts";
import { go, linkTo, useRoute } from "../lib/route";
import { useAround, useHere, useWording } from "../lib/session";
import { Badge, Empty, Loading, memoryLink, More, When, Wrong } from "../parts/basics";
import { Icon } from "../parts/icons";
import { MemoriesPanel } from "./chat_memories";
import { useTalk, type Shown } from "./chat_talk";

const MEMORIES_READ = 200;
const FORMATIONS_READ = 10;
const FRESH_READ = 30;

export function newName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return `talk-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

export default function Chat() {
  const { parts, query } = useRoute();
  const { me, scope } = useHere();
  const [fresh] = useState(newName);
  const chosen = parts[1];
  const threads = usePages(
    (cursor) => api.threads(scope, { cursor, limit: 50 }),
    (answer) => answer.threads,
    [scope],
  );
  useEffect(() => {
    if (chosen || threads.isLoading) return;
    const latest = newestFirst(threads.rows)[0];
    go(linkTo(["chat", latest?.id ?? fresh], scope), true);
  }, [chosen, threads.isLoading, threads.rows, fresh, scope]);
  const [isOpen, setOpen] = useState(() => matchMedia("(min-width: 1080px)").matches);
  return (
    <div className={isOpen ? "chat with-panel" : "chat"}>
      <ThreadList again={threads.again} threads={threads.rows} chosen={chosen} hasMore={threads.hasMore} more={threads.more} isLoading={threads.isLoading} error={threads.error} />
      {chosen && (
        <Talk
          key={`${chosen} ${JSON.stringify(scope)}`}
          thread={chosen}
          model={me.model}
          wanted={query.get("message")}
          quotes={query.getAll("quote")}
          isPanelOpen={isOpen}
          togglePanel={() => setOpen(!isOpen)}
          changed={threads.again}
        />
      )}
    </div>
  );
}

function newestFirst(threads: readonly Thread[]): Thread[] {
  return [...threads].sort((one, other) => Date.parse(other.created_at) - Date.parse(one.created_at));
}

const TITLE_CHARACTERS = 80;
const titles = new Map<string, string>();

/** What each thread begins with: threads have ids, people remember what they said. */
function useTitles(threads: readonly Thread[]): ReadonlyMap<string, string> {
  const { scope } = useHere();
  const [, setRound] = useState(0);
  const nameOf = (thread: string) => `${JSON.stringify(scope)} ${thread}`;
  const missing = threads.find((each) => each.count > 0 && !titles.has(nameOf(each.id)));
  useEffect(() => {
    if (!missing) return;
    let isOver = false;
    const keep = (text: string) => {
      titles.set(nameOf(missing.id), text.slice(0, TITLE_CHARACTERS));
      if (!isOver) setRound((n) => n + 1);
    };
    api.messages(scope, missing.id, { after: 0, limit: 1 }).then(({ messages }) => keep(messages[0]?.text ?? ""), () => keep(""));
    return () => {
      isOver = true;
    };
  }, [missing && nameOf(missing.id)]);
  return new Map(threads.map((each) => [each.id, titles.get(nameOf(each.id)) || each.id]));
}

function ThreadList({ again, threads, chosen, hasMore, more, isLoading, error }: {
  again: () => void;
  threads: readonly Thread[];
  chosen: string | undefined;
  hasMore: boolean;
  more: () => void;
  isLoading: boolean;
  error: unknown;
}) {
  const { t } = useAround();
  const { scope } = useHere();
  const named = useTitles(threads);
  const isNew = chosen !== undefined && !threads.some((each) => each.id === chosen);
  return (
    <nav className="threads" aria-label={t("chat.threads")}>
      <button type="button" className="new-thread" onClick={() => go(linkTo(["chat", newName()], scope))}>
        <Icon name="plus" />
        {t("chat.new")}
      </button>
      <Wrong error={error} again={again} />
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
                {t("chat.count", { count: each.count })} · <When at={each.created_at} />
                {each.formed < each.last && <span className="pending-dot" title={t("chat.pending")} />}
              </span>
            </a>
          </li>
        ))}
      </ul>
      <More hasMore={hasMore} isLoading={isLoading} more={more} />
    </nav>
  );
}

function Talk({ thread, model, wanted, quotes, isPanelOpen, togglePanel, changed }: {
  thread: string;
  model: string | null;
  wanted: string | null;
  quotes: string[];
  isPanelOpen: boolean;
  togglePanel: () => void;
  changed: () => void;
}) {
  const { t } = useAround();
  const { scope, can } = useHere();
  const [round, setRound] = useState(0);
  const settled = useLater(round, 30);
  const memories = useAsked(() => inferred(scope), [scope, settled]);
  const [known, setKnown] = useState<Memory[] | undefined>();
  useEffect(() => {
    if (memories.value) setKnown(memories.value);
  }, [memories.value]);
  const state = useAsked(
    () => api.thread(scope, thread).catch((error: { status?: number }) => (error.status === 404 ? null : Promise.reject(error))),
    [scope, thread, settled],
  );
  const [standing, setStanding] = useState<Thread | null | undefined>();
  useEffect(() => {
    if (state.value !== undefined) setStanding(state.value);
  }, [state.value]);
  const refresh = useCallback(() => {
    setRound((n) => n + 1);
    changed();
  }, [changed]);
  useChanges(scope, refresh);
  const talk = useTalk(thread, wanted, refresh);
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  const acts = useMemoryActs(null, refresh);
  const brought = useMemo(() => broughtBy((known ?? []).filter((each) => each.state === "active"), thread), [known, thread]);
  const takeBack = async (memory: Memory, message: string) => {
    const name = `${message} ${memory.type} ${memory.key} ${memory.version}`;
    setGone((before) => new Set(before).add(name));
    if (!(await acts.takeBack(memory, thread, message))) {
      setGone((before) => new Set([...before].filter((each) => each !== name)));
    }
  };
  return (
    <>
      <section className="talk" aria-label={t("chat.talk")}>
        <header className="talk-head">
          <div className="talk-title">
            <h1 tabIndex={-1} title={thread}>{talk.hasEarlier || !talk.shown[0] ? (standing ? thread : t("chat.untitled")) : talk.shown[0].text}</h1>
            <p className="about">{model ? t("chat.with", { model }) : t("chat.no_model")}</p>
          </div>
          <button type="button" className={isPanelOpen ? "memories-button on" : "memories-button"} aria-expanded={isPanelOpen} aria-controls="memories-panel" onClick={togglePanel}>
            <Icon name="memory" />
            {t("memories")}
            {known !== undefined && known.length > 0 && <span className="count">{known.length}</span>}
          </button>
        </header>
        <Messages shown={talk.shown} isLoading={talk.isLoading} hasEarlier={talk.hasEarlier} earlier={talk.earlier} wanted={wanted} quotes={quotes} brought={brought} gone={gone} takeBack={takeBack} formed={standing?.formed ?? 0} isAnswering={talk.isAnswering} />
        <Wrong error={talk.error} />
        {can("write") && <Composer isAnswering={talk.isAnswering} say={talk.say} stop={talk.stop} />}
      </section>
      {isPanelOpen && <MemoriesPanel thread={thread} standing={standing ?? null} memories={known} error={memories.error} refresh={refresh} close={togglePanel} />}
    </>
  );
}

function Messages({ shown, isLoading, hasEarlier, earlier, wanted, quotes, brought, gone, takeBack, formed, isAnswering }: {
  shown: readonly Shown[];
  isLoading: boolean;
  hasEarlier: boolean;
  earlier: () => void;
  wanted: string | null;
  quotes: string[];
  brought: ReadonlyMap<string, Brought[]>;
  gone: ReadonlySet<string>;
  takeBack: (memory: Memory, message: string) => void;
  formed: number;
  isAnswering: boolean;
}) {
  const { t } = useAround();
  const box = useRef<HTMLDivElement>(null);
  const last = shown[shown.length - 1];
  useEffect(() => {
    if (!wanted && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [wanted, shown.length, last?.text.length]);
  const isThere = shown.some((each) => each.id === wanted);
  useEffect(() => {
    if (!wanted || !isThere) return;
    const element = document.getElementById(`message-${wanted}`);
    element?.scrollIntoView({ block: "center" });
    element?.focus({ preventScroll: true });
  }, [wanted, isThere]);
  if (isLoading) return <div className="messages"><Loading /></div>;
  return (
    <div className="messages" ref={box} role="log" aria-label={t("chat.talk")} aria-busy={isAnswering} tabIndex={0}>
      {!shown.length && (
        <Empty icon="chat" title={t("chat.empty")}>
          <p>{t("chat.empty_about")}</p>
        </Empty>
      )}
      {hasEarlier && <button type="button" className="more" onClick={earlier}>{t("chat.earlier")}</button>}
      {shown.map((each) => (
        <Turn key={each.id} message={each} quotes={each.id === wanted ? quotes : []} isWanted={each.id === wanted} isFormed={each.position !== null && each.position <= formed} brought={brought.get(each.id) ?? []} gone={gone} takeBack={takeBack} />
      ))}
    </div>
  );
}

function Turn({ message, quotes, isWanted, brought, gone, takeBack }: {
  message: Shown;
  quotes: string[];
  isWanted: boolean;
  isFormed: boolean;
  brought: Brought[];
  gone: ReadonlySet<string>;
  takeBack: (memory: Memory, message: string) => void;
}) {
  const { t } = useAround();
  const wording = useWording();
  const { scope, can } = useHere();
  const left = brought.filter(({ memory }) => !gone.has(`${message.id} ${memory.type} ${memory.key} ${memory.version}`));
  const words = [...quotes, ...(isWanted ? left.flatMap((each) => each.quotes) : [])];
  return (
    <article id={`message-${message.id}`} tabIndex={-1} className={`turn turn-${message.role}${isWanted ? " wanted" : ""}`}>
      <header className="turn-head">
        <span className="turn-who">{message.name ?? t(`role.${message.role}`)}</span>
        {message.time && <time dateTime={message.time}>{wording.moment(message.time)}</time>}
        {message.isInterrupted && <Badge>{t("chat.interrupted")}</Badge>}
      </header>
      <p className="turn-text">
        {message.text
          ? marked(message.text, words).map((span, place) => (span.marked ? <mark key={place}>{span.text}</mark> : span.text))
          : <span className="thinking" role="status"><span className="unseen">{t("chat.thinking")}</span></span>}
      </p>
      {left.length > 0 && (
        <ul className="marks" aria-label={t("chat.remembered")}>
          {left.map(({ memory, pointers, quotes }) => (
            <li key={`${memory.type}/${memory.key}`} className="stored-mark">
              <Icon name="memory" />
              <a href={memoryLink(memory, scope)}>
                {memory.type}
                {pointers.some(Boolean) && <span> · {pointers.filter(Boolean).map((each) => spoken(each)).join(", ")}</span>}
              </a>
              {!pointers.some(Boolean) && <span className="mark-words">“{quotes[0] ?? memory.text}”</span>}
              {can("write") && (
                <button type="button" className="plain mark-undo" onClick={() => takeBack(memory, message.id)} aria-label={t("chat.undo_label", { type: memory.type })}>
                  {t("undo")}
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      {message.recalled && message.recalled.length > 0 && (
        <details className="recalled">
          <summary>{t("chat.recalled", { count: message.recalled.length })}</summary>
          <ul>
            {message.recalled.map((each, place) => (
              <li key={place}>{each.type ? <a href={memoryLink({ type: each.type, key: each.key ?? "" }, scope)}>{each.text || each.type}</a> : each.thread ? <a href={linkTo(["chat", each.thread], scope, { message: each.id })}>{each.text}</a> : each.text}</li>
            ))}
          </ul>
        </details>
      )}
    </article>
  );
}

function Composer({ isAnswering, say, stop }: { isAnswering: boolean; say: (text: string, assistant?: string) => void; stop: () => void }) {
  const { t } = useAround();
  const { me } = useHere();
  const [text, setText] = useState("");
  const [assistant, setAssistant] = useState("");
  const area = useRef<HTMLTextAreaElement>(null);
  const send = () => {
    if (!text.trim() || isAnswering) return;
    say(text.trim(), assistant || undefined);
    setText("");
    area.current?.focus();
  };
  const most = me.limits.message_characters;
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        ref={area}
        id="composer"
        rows={Math.min(8, Math.max(1, text.split("\n").length))}
        value={text}
        maxLength={most}
        placeholder={t("chat.say")}
        aria-label={t("chat.say")}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault();
            send();
          }
        }}
      />
      {me.assistants.length > 0 && (
        <select aria-label={t("chat.assistant")} value={assistant} onChange={(event) => setAssistant(event.target.value)}>
          <option value="">{t("chat.usual_assistant")}</option>
          {me.assistants.map((name) => <option key={name}>{name}</option>)}
        </select>
      )}
      {isAnswering ? (
        <button type="button" onClick={stop} className="send"><Icon name="stop" />{t("chat.stop")}</button>
      ) : (
        <button type="submit" className="accent send" disabled={!text.trim()}><Icon name="send" />{t("chat.send")}</button>
      )}
    </form>
  );
}

export type { Message };

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
