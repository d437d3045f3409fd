/** The messages of a thread as they are shown, and saying something in it. */

import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { api } from "../api/client";
import { cut, isGone, mayBeDone, Problem } from "../api/problem";
import type { Message, Prompt, RecallEntry, Scope } from "../api/shapes";
import { newKey, outbox, placeOf, useOutbox, type Unsent } from "../lib/outbox";
import { useAround, useHere } from "../lib/session";
import { turns, type TurnUse } from "../lib/turns";
import { settled, withEarlier, withKept, withNewest } from "../lib/talk";

const PAGE = 60;
const PAGES_MAX = 100;

/** A message of the thread, one on its way to it, or an answer that is being given. */
export interface Shown {
  id: string;
  role: Message["role"];
  name: string | null;
  text: string;
  time: string | null;
  position: number | null;
  isInterrupted: boolean;
  /** What it was given, if it is an answer of this page. */
  use?: TurnUse;
  /** What has not gone as it should, and can be sent again. */
  unsent?: Unsent;
}

interface Done {
  user: Message | null;
  assistant: Message | null;
  recalled?: Partial<RecallEntry>[];
  prompt?: Prompt;
  reason?: string | null;
}

interface Answering {
  key: string;
  text: string;
  isInterrupted: boolean;
}

export interface TalkShown {
  shown: Shown[];
  isLoading: boolean;
  /** Why the thread could not be read. */
  error: unknown;
  again: () => void;
  isAnswering: boolean;
  hasEarlier: boolean;
  earlier: () => void;
  earlierError: unknown;
  say: (text: string, assistant?: string) => void;
  sayAgain: (unsent: Unsent) => void;
  takeBack: (unsent: Unsent) => void;
  stop: () => void;
  /** Differs when something was said here. */
  said: number;
}

/** The answers that are being given, by the key of what they answer: they outlast a look at another screen. */
const answering = new Map<string, AbortController>();

export interface TalkPlace {
  /** The message that a link leads to. */
  wanted: string | null;
  /** Messages that were said later are left out; "" is now. */
  until: string;
}

/** Read a thread, again with each `round`, and talk in it; `changed` is called after each turn. */
export function useTalk(thread: string, at: TalkPlace, round: number, changed: () => void): TalkShown {
  const { me, scope } = useHere();
  const { t, tell } = useAround();
  const where = JSON.stringify([scope, thread]);
  const place = placeOf(me.prefix ?? me.scope, scope, thread);
  const waiting = useOutbox(place);
  const read = useThread(scope, thread, at, round);
  const { known, add } = read;
  const [answer, setAnswer] = useState<Answering | null>(null);
  const [said, setSaid] = useState(0);

  useEffect(() => {
    for (const each of waiting) {
      const found = settled(each, known);
      if (found === "answered") outbox.drop(each.key);
      else if (found) outbox.change(each.key, { message: found.message, state: "unanswered", isUnsure: false });
    }
  }, [waiting, known]);

  const send = useCallback(
    async (entry: Unsent): Promise<void> => {
      const { key, text, assistant } = entry;
      const stop = new AbortController();
      answering.set(key, stop);
      outbox.change(key, { state: "sending", error: null });
      setAnswer({ key, text: "", isInterrupted: false });
      let message = entry.message;
      let isDone = false;
      const keep = (kept: Message) => {
        message = kept.id;
        add(kept);
        outbox.change(key, { message });
      };
      try {
        const body = { thread, text, prompt: true, ...(assistant ? { assistant } : {}) };
        for await (const event of api.chat(scope, body, key, stop.signal)) {
          const told = JSON.parse(event.data) as Partial<Done> & { text?: string } & Partial<Problem>;
          if (told.user) keep(told.user);
          if (event.event === "token") setAnswer((before) => before && { ...before, text: before.text + (told.text ?? "") });
          else if (event.event === "error") throw new Problem(told.status ?? 0, told.code ?? "", told.title ?? "", told.detail ?? "");
          else if (event.event === "done") {
            isDone = true;
            const { assistant: given, recalled = [], prompt = null } = told;
            if (given) {
              turns.note(place, given.id, { recalled, prompt });
              add(given);
            } else tell(told.reason ?? t("chat.kept_only"));
          }
        }
        if (!isDone) throw cut();
        outbox.drop(key);
        setAnswer(null);
      } catch (error) {
        setAnswer((before) => (before?.text ? { ...before, isInterrupted: true } : null));
        if (stop.signal.aborted && message) outbox.drop(key);
        else outbox.change(key, failed(stop.signal.aborted ? new Problem(0, "stopped", "", "") : error, message));
      } finally {
        answering.delete(key);
        changed();
      }
    },
    [where, add, changed, t, tell],
  );

  const isRead = !read.isLoading && !read.error;
  const say = useCallback(
    (text: string, assistant = "") => {
      setSaid((n) => n + 1);
      const after = isRead ? (known[known.length - 1]?.position ?? 0) : Number.MAX_SAFE_INTEGER;
      void send(outbox.add({ key: newKey(), place, text, assistant, after }));
    },
    [send, place, known, isRead],
  );
  const sending = waiting.find((each) => each.state === "sending");

  const shown = useMemo(() => {
    const byMessage = new Map(waiting.map((each) => [each.message, each]));
    const kept = known.map((each) => ({ ...shownOf(each), use: turns.of(place, each.id), unsent: failing(byMessage.get(each.id)) }));
    if (at.until) return kept;
    const ids = new Set(known.map((each) => each.id));
    const drafts = waiting.filter((each) => each.message === null || !ids.has(each.message)).map((each) => ({ ...draft(each.key, "user", each.text), unsent: failing(each) }));
    const given = isKept(answer, waiting, known) ? null : (answer ?? (sending && { key: sending.key, text: "", isInterrupted: false }));
    const giving = given ? [{ ...draft(`answer-${given.key}`, "assistant", given.text), isInterrupted: given.isInterrupted }] : [];
    return [...kept, ...drafts, ...giving];
  }, [known, waiting, answer, place, sending, at.until]);

  return {
    shown,
    isLoading: read.isLoading,
    error: read.error,
    again: read.again,
    isAnswering: sending !== undefined,
    hasEarlier: read.hasEarlier,
    earlier: read.earlier,
    earlierError: read.earlierError,
    say,
    sayAgain: (unsent) => {
      setSaid((n) => n + 1);
      void send(unsent);
    },
    takeBack: (unsent) => outbox.drop(unsent.key),
    stop: () => sending && answering.get(sending.key)?.abort(),
    said,
  };
}

/** What a message on its way is, after an attempt that failed: without or with the service having said that it has it. */
function failed(error: unknown, message: string | null): Partial<Unsent> {
  const { status = 0, code = "", title = "", detail = "" } = error instanceof Problem ? error : { detail: error instanceof Error ? error.message : "" };
  return { state: message ? "unanswered" : "unsent", isUnsure: !message && mayBeDone(error), error: { status, code, title, detail } };
}

/** Whether the answer that was being given is among the messages by now. */
function isKept(answer: Answering | null, waiting: readonly Unsent[], known: readonly Message[]): boolean {
  if (!answer) return false;
  const asked = waiting.find((each) => each.key === answer.key)?.message;
  const at = known.find((each) => each.id === asked)?.position;
  if (at === undefined) return answer.isInterrupted && known[known.length - 1]?.role === "assistant";
  return known.some((each) => each.position > at && each.role === "assistant");
}

const failing = (entry: Unsent | undefined): Unsent | undefined => (entry && entry.state !== "sending" ? entry : undefined);

const shownOf = (message: Message): Shown => ({
  id: message.id,
  position: message.position,
  role: message.role,
  name: message.name,
  text: message.text,
  time: message.time,
  isInterrupted: message.metadata?.interrupted === true,
});

const draft = (id: string, role: Message["role"], text: string): Shown => ({ id, position: null, role, name: null, text, time: null, isInterrupted: false });

interface ThreadRead {
  known: readonly Message[];
  isLoading: boolean;
  error: unknown;
  /** Read the newest messages again. */
  again: () => void;
  add: (message: Message) => void;
  hasEarlier: boolean;
  earlier: () => void;
  earlierError: unknown;
}

/** The messages of a thread: the newest, those before them as far as was asked for, and the one that is wanted. */
function useThread(scope: Scope, thread: string, { wanted, until }: TalkPlace, round: number): ThreadRead {
  const [known, setKnown] = useState<readonly Message[]>([]);
  /** The position of the first message of the thread, once it is known. */
  const [start, setStart] = useState(1);
  const [isLoading, setLoading] = useState(true);
  const [error, setError] = useState<unknown>();
  const [earlierError, setEarlierError] = useState<unknown>();
  const [tries, setTries] = useState(0);
  const added = useRef(0);
  const where = JSON.stringify([scope, thread]);

  const last = useCallback(
    async (before?: number): Promise<Message[]> => {
      const { messages } = await api.messages(scope, thread, { last: PAGE, before, until });
      if (messages.length < PAGE) setStart(messages[0]?.position ?? before ?? 1);
      return messages;
    },
    [where, until],
  );

  useEffect(() => {
    let isOver = false;
    const load = async () => {
      try {
        // What was added while the service was asked may be missing in its answer.
        for (let before = -1; before !== added.current && !isOver; ) {
          before = added.current;
          const newest = await last();
          if (before === added.current && !isOver) setKnown((all) => withNewest(all, newest));
        }
        if (!isOver) setError(undefined);
      } catch (problem) {
        if (isOver) return;
        if (isGone(problem)) setKnown([]);
        setError(isGone(problem) ? undefined : problem);
      }
      if (!isOver) setLoading(false);
    };
    void load();
    return () => {
      isOver = true;
    };
  }, [round, tries, last]);

  const first = known[0]?.position ?? 0;
  const hasEarlier = first > start;
  const earlier = useCallback(() => {
    setEarlierError(undefined);
    last(first).then((found) => setKnown((all) => withEarlier(all, found)), setEarlierError);
  }, [last, first]);

  // A message that a link leads to is looked for further and further back.
  const pages = useRef(0);
  const isMissing = wanted !== null && hasEarlier && !known.some((each) => each.id === wanted);
  useEffect(() => {
    if (isMissing && pages.current++ < PAGES_MAX) earlier();
  }, [isMissing, first]);

  return {
    known,
    isLoading,
    error,
    again: useCallback(() => setTries((n) => n + 1), []),
    add: useCallback((message: Message) => {
      added.current += 1;
      setKnown((all) => withKept(all, message));
    }, []),
    hasEarlier,
    earlier,
    earlierError,
  };
}
