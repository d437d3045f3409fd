/** The messages of a thread as they are shown, and saying something in it. */

import { useCallback, useEffect, useRef, useState } from "react";
import { api, Problem } from "../api/client";
import type { Message, RecallEntry } from "../api/shapes";
import { useAround, useHere } from "../lib/session";

const PAGE = 60;
const PAGES_MAX = 100;

export interface Shown {
  id: string;
  position: number | null;
  role: Message["role"];
  name: string | null;
  text: string;
  time: string | null;
  isInterrupted: boolean;
  recalled?: Partial<RecallEntry>[];
}

interface Done {
  user: Message | null;
  assistant: Message | null;
  recalled?: Partial<RecallEntry>[];
  reason?: string | null;
}

export interface TalkShown {
  shown: Shown[];
  isLoading: boolean;
  isAnswering: boolean;
  hasEarlier: boolean;
  earlier: () => void;
  error: unknown;
  say: (text: string, assistant?: string) => void;
  stop: () => void;
}

const shownOf = (message: Message): Shown => ({
  id: message.id,
  position: message.position,
  role: message.role,
  name: message.name,
  text: message.text,
  time: message.time,
  isInterrupted: message.metadata?.interrupted === true,
});

function joined(earlier: readonly Shown[], later: readonly Shown[]): Shown[] {
  const known = new Set(later.map((each) => each.id));
  return [...earlier.filter((each) => !known.has(each.id)), ...later];
}

export function useTalk(thread: string, wanted: string | null, changed: () => void): TalkShown {
  const { scope } = useHere();
  const { t, tell } = useAround();
  const [shown, setShown] = useState<Shown[]>([]);
  const [isLoading, setLoading] = useState(true);
  const [isAnswering, setAnswering] = useState(false);
  const [error, setError] = useState<unknown>();
  const answering = useRef<AbortController | null>(null);
  const where = JSON.stringify([scope, thread]);

  const before = useCallback(
    async (position: number) => {
      const { messages } = await api.messages(scope, thread, { after: Math.max(0, position - PAGE - 1), limit: PAGE });
      return messages.filter((each) => each.position < position).map(shownOf);
    },
    [where],
  );

  useEffect(() => {
    let isOver = false;
    const load = async () => {
      try {
        let found = (await api.messages(scope, thread, { last: PAGE })).messages.map(shownOf);
        for (let page = 0; wanted && page < PAGES_MAX; page++) {
          const first = found[0]?.position ?? 0;
          if (found.some((each) => each.id === wanted) || first <= 1) break;
          found = joined(await before(first), found);
        }
        if (!isOver) setShown(found);
      } catch (problem) {
        if (!isOver && !(problem instanceof Problem && problem.status === 404)) setError(problem);
      } finally {
        if (!isOver) setLoading(false);
      }
    };
    void load();
    return () => {
      isOver = true;
    };
  }, [where, wanted, before]);

  useEffect(() => () => answering.current?.abort(), [where]);

  const first = shown.find((each) => each.position !== null)?.position ?? 0;
  const earlier = useCallback(() => {
    before(first).then((found) => setShown((all) => joined(found, all)), setError);
  }, [before, first]);

  const say = useCallback(
    (text: string, assistant?: string) => {
      const stop = new AbortController();
      answering.current = stop;
      setError(undefined);
      setAnswering(true);
      const said = draft("user", text);
      const answer = draft("assistant", "");
      setShown((all) => [...all, said, answer]);
      const change = (id: string, by: (each: Shown) => Shown | null) =>
        setShown((all) => all.flatMap((each) => (each.id === id ? (by(each) ?? []) : each)));
      const run = async () => {
        let isDone = false;
        try {
          const body = { thread, text, ...(assistant ? { assistant } : {}) };
          for await (const event of api.chat(scope, body, stop.signal)) {
            const told = JSON.parse(event.data) as Done & { text?: string } & Partial<Problem>;
            if (event.event === "token") change(answer.id, (each) => ({ ...each, text: each.text + (told.text ?? "") }));
            else if (event.event === "error") throw new Problem(told.status ?? 0, told.code ?? "", told.title ?? "", told.detail ?? "");
            else if (event.event === "done") {
              isDone = true;
              if (told.user) change(said.id, () => shownOf(told.user as Message));
              change(answer.id, () => (told.assistant ? { ...shownOf(told.assistant), recalled: told.recalled } : null));
              if (!told.assistant) tell(told.reason ?? t("chat.kept_only"));
            }
          }
          if (!isDone) throw new Problem(0, "cut", "", t("chat.cut"));
        } catch (problem) {
          if (!stop.signal.aborted) setError(problem);
          change(answer.id, (each) => (each.text ? { ...each, isInterrupted: true } : null));
        } finally {
          setAnswering(false);
          changed();
        }
      };
      void run();
    },
    [where, changed, t, tell],
  );

  return {
    shown, isLoading, isAnswering, hasEarlier: first > 1, earlier, error, say,
    stop: useCallback(() => answering.current?.abort(), []),
  };
}

let drafts = 0;

function draft(role: Message["role"], text: string): Shown {
  return { id: `draft-${++drafts}`, position: null, role, name: null, text, time: null, isInterrupted: false };
}
