/** The messages of a thread as they are shown, and saying something in it. */

import { useCallback, useEffect, useMemo, useState } from "react";
import { api } from "../api/client";
import { cut, mayBeDone, Problem, problemIn, type ToldProblem } from "../api/problem";
import type { Message, Prompt } from "../api/shapes";
import { ownerOf } from "../lib/owned_shelf";
import { newKey, outbox, placeOf, useOutbox, type Unsent } from "../lib/outbox";
import { useAround, useHere } from "../lib/session";
import { turns, type TurnUse } from "../lib/turns";
import { referencesIn, type SourceReference } from "../lib/answer_sources";
import { settled } from "../lib/talk";
import { noteSent, unansweredAs } from "../lib/unanswered";
import { useThread, type TalkPlace } from "./chat_thread";

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
  /** What it refers to as given, if it is an answer. */
  references: readonly SourceReference[];
  /** What has not gone as it should, and can be sent again. */
  unsent?: Unsent;
}

interface Done {
  user: Message | null;
  assistant: Message | null;
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
  /** Whether the service is away: what is shown may not be all that there is. */
  isWaiting: boolean;
  /** When the last reading of the thread that went well was begun. */
  readAt: number;
  again: () => void;
  isAnswering: boolean;
  hasEarlier: boolean;
  earlier: () => void;
  earlierError: unknown;
  isTooFar: boolean;
  between: number | undefined;
  fill: () => void;
  say: (text: string, assistant?: string) => void;
  sayAgain: (unsent: Unsent) => void;
  takeBack: (unsent: Unsent) => void;
  stop: () => void;
  /** Differs when something was said here. */
  said: number;
}

/** The answers that are being given, by the key of what they answer: they outlast a look at another screen. */
const answering = new Map<string, AbortController>();

/** Read a thread, again with each `round`, and talk in it; `changed` is called after each turn. */
export function useTalk(thread: string, at: TalkPlace, round: number, changed: () => void): TalkShown {
  const { me, scope } = useHere();
  const { t, tell, settings } = useAround();
  const where = JSON.stringify([scope, thread]);
  const place = placeOf(ownerOf(me), scope, thread);
  const waiting = useOutbox(place);
  const read = useThread(scope, thread, at, round);
  const { known, add } = read;
  const [answer, setAnswer] = useState<Answering | null>(null);
  const [said, setSaid] = useState(0);

  useEffect(() => {
    for (const each of waiting) {
      const found = settled(each, known);
      // Other windows can ask again from now on.
      if (each.message && each.state === "unanswered") noteSent(each.message, found === "answered" ? null : { key: each.key, assistant: each.assistant, at: 0 });
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
        noteSent(message, { key, assistant, at: Date.now() });
        add(kept);
        outbox.change(key, { message });
      };
      const settle = () => {
        outbox.drop(key);
        if (message) noteSent(message, null);
      };
      try {
        const body = { thread, text, prompt: true, language: settings.language.replace("_", "-"), ...(assistant ? { assistant } : {}) };
        for await (const event of api.chat(scope, body, key, stop.signal)) {
          const told = JSON.parse(event.data) as Partial<Done> & { text?: string } & ToldProblem;
          if (told.user) keep(told.user);
          if (event.event === "token") setAnswer((before) => before && { ...before, text: before.text + (told.text ?? "") });
          else if (event.event === "error") throw problemIn(told, told.status ?? 0, "");
          else if (event.event === "done") {
            isDone = true;
            const { assistant: given, prompt = null } = told;
            if (given) {
              turns.note(place, given.id, { prompt });
              add(given);
            } else tell(me.model ? (told.reason ?? t("chat.kept_only")) : t("chat.kept_only"));
          }
        }
        if (!isDone) throw cut();
        settle();
        setAnswer(null);
      } catch (error) {
        setAnswer((before) => (before?.text ? { ...before, isInterrupted: true } : null));
        if (stop.signal.aborted && message) settle();
        else outbox.change(key, failed(stop.signal.aborted ? new Problem(0, "stopped", "", "") : error, message));
      } finally {
        answering.delete(key);
        changed();
      }
    },
    [where, add, changed, t, tell, me.model, settings.language],
  );

  const isRead = !read.isLoading && !read.error && !read.isWaiting;
  const say = useCallback(
    (text: string, assistant = "") => {
      setSaid((n) => n + 1);
      const after = isRead ? (known[known.length - 1]?.position ?? 0) : Number.MAX_SAFE_INTEGER;
      void send(outbox.add({ key: newKey(), place, text, assistant, after }));
    },
    [send, place, known, isRead],
  );
  const sending = waiting.find((each) => each.state === "sending");

  const isPast = at.until !== "";
  // Apart from what is being answered, so that a turn is not drawn again with every word of an answer.
  const kept = useMemo(() => {
    const byMessage = new Map(waiting.map((each) => [each.message, each]));
    return known.map((each, at) => {
      const isLast = at === known.length - 1 && each.role === "user" && !isPast && !byMessage.has(each.id);
      const [use, unsent] = [turns.of(place, each.id), isLast ? leftBare(each, place) : failing(byMessage.get(each.id))];
      return use || unsent ? { ...shownOf(each), use, unsent } : shownOf(each);
    });
  }, [known, waiting, place, isPast]);
  const shown = useMemo(() => {
    if (at.until) return kept;
    const ids = new Set(known.map((each) => each.id));
    const drafts = waiting.filter((each) => each.message === null || !ids.has(each.message)).map((each) => ({ ...draft(each.key, "user", each.text), unsent: failing(each) }));
    const given = isKept(answer, waiting, known) ? null : (answer ?? (sending && { key: sending.key, text: "", isInterrupted: false }));
    const giving = given ? [{ ...draft(`answer-${given.key}`, "assistant", given.text), isInterrupted: given.isInterrupted }] : [];
    return [...kept, ...drafts, ...giving];
  }, [kept, known, waiting, answer, sending, at.until]);

  return {
    shown,
    isLoading: read.isLoading || (read.isWaiting && !shown.length),
    error: read.error,
    isWaiting: read.isWaiting,
    readAt: read.readAt,
    again: read.again,
    isAnswering: sending !== undefined,
    hasEarlier: read.hasEarlier,
    earlier: read.earlier,
    earlierError: read.earlierError,
    isTooFar: read.isTooFar,
    between: read.between,
    fill: read.fill,
    say,
    sayAgain: (unsent) => {
      setSaid((n) => n + 1);
      void send(outbox.add(unsent));
    },
    takeBack: (unsent) => outbox.drop(unsent.key),
    stop: () => sending && answering.get(sending.key)?.abort(),
    said,
  };
}

/** What a message on its way is, after an attempt that failed: without or with the service having said that it has it. */
function failed(error: unknown, message: string | null): Partial<Unsent> {
  const { status = 0, code = "", title = "", detail = "", reason = undefined } = error instanceof Problem ? error : { detail: error instanceof Error ? error.message : "" };
  return { state: message ? "unanswered" : "unsent", isUnsure: !message && mayBeDone(error), failedAt: Date.now(), error: { status, code, title, detail, reason } };
}

/** Whether the answer that was being given is among the messages by now. */
function isKept(answer: Answering | null, waiting: readonly Unsent[], known: readonly Message[]): boolean {
  if (!answer) return false;
  const asked = waiting.find((each) => each.key === answer.key)?.message;
  const at = known.find((each) => each.id === asked)?.position;
  if (at === undefined) return answer.isInterrupted && known[known.length - 1]?.role === "assistant";
  return known.some((each) => each.position > at && each.role === "assistant");
}

/** A question that another window of this browser asked, and to which no answer came: why is not known here. */
function leftBare({ id, text }: Message, place: string): Unsent | undefined {
  const sent = unansweredAs(id);
  return sent && { ...sent, place, text, after: 0, message: id, state: "unanswered", isUnsure: false, error: null };
}

const failing = (entry: Unsent | undefined): Unsent | undefined => (entry && entry.state !== "sending" ? entry : undefined);

const plain = new WeakMap<Message, Shown>();

/** A message as it is shown: the same object each time. */
function shownOf(message: Message): Shown {
  const { id, position, role, name, text, time, metadata } = message;
  const found = plain.get(message) ?? { id, position, role, name, text, time, isInterrupted: metadata?.interrupted === true, references: referencesIn(metadata) };
  plain.set(message, found);
  return found;
}

const NO_REFERENCES: readonly SourceReference[] = [];
const draft = (id: string, role: Message["role"], text: string): Shown => ({ id, position: null, role, name: null, text, time: null, isInterrupted: false, references: NO_REFERENCES });
