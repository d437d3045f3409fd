/** The messages of a thread that are read: the newest, those before them, and some around a message far back. */

import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { api } from "../api/client";
import { isGone } from "../api/problem";
import type { Message, Scope } from "../api/shapes";
import { useErasures } from "../lib/erasures";
import { isAway, useAgainWhenBack, useIsWaiting } from "../lib/reach";
import { keptTalks } from "../lib/kept_talks";
import { withEarlier, withKept, withNewest } from "../lib/talk";

const PAGE = 60;
/** A message that a link leads to is looked for in larger steps, and so far back. */
const FAR_PAGE = 200;
const FAR_PAGES_MAX = 100;
/** Where no more are passed on the way to it, they are all shown. */
const NEAR = 400;

export interface TalkPlace {
  /** The message that a link leads to. */
  wanted: string | null;
  /** Messages that were said later are left out; "" is now. */
  until: string;
  /** Nothing was said in it yet, and there is nothing to read. */
  isEmpty: boolean;
}

interface ThreadRead {
  known: readonly Message[];
  isLoading: boolean;
  error: unknown;
  /** Whether the service is away: the thread is read again once it answers. */
  isWaiting: boolean;
  /** When the last reading that went well was begun: what had failed before is known by it. */
  readAt: number;
  /** Read the newest messages again. */
  again: () => void;
  add: (message: Message) => void;
  hasEarlier: boolean;
  earlier: () => void;
  earlierError: unknown;
  /** The message that is wanted was looked for as far back as is done. */
  isTooFar: boolean;
  /** The position after which messages are not shown, if there is one, and what shows some of them. */
  between: number | undefined;
  fill: () => void;
}

/** The messages of a thread: the newest, those before them as far as was asked for, and the one that is wanted. */
export function useThread(scope: Scope, thread: string, { wanted, until, isEmpty }: TalkPlace, round: number): ThreadRead {
  const [known, setKnown] = useState<readonly Message[]>([]);
  /** The position of the first message of the thread, once it is known. */
  const [start, setStart] = useState(1);
  const [isLoading, setLoading] = useState(true);
  const [error, setError] = useState<unknown>();
  const [readAt, setReadAt] = useState(0);
  const [earlierError, setEarlierError] = useState<unknown>();
  const [tries, setTries] = useState(0);
  const added = useRef(0);
  const where = JSON.stringify([scope, thread]);

  const last = useCallback(
    async (before?: number, size = PAGE): Promise<Message[]> => {
      const { messages } = await api.messages(scope, thread, { last: size, before, until });
      if (messages.length < size) setStart(messages[0]?.position ?? before ?? 1);
      return messages;
    },
    [where, until],
  );

  useEffect(() => {
    let isOver = false;
    const load = async () => {
      const begun = Date.now();
      if (isEmpty) {
        setReadAt(begun);
        setLoading(false);
        return;
      }
      try {
        // What was added while the service was asked may be missing in its answer.
        for (let before = -1; before !== added.current && !isOver; ) {
          before = added.current;
          const newest = await last();
          if (before === added.current && !isOver) setKnown((all) => withNewest(all, newest, newest.length < PAGE));
        }
        if (isOver) return;
        setReadAt(begun);
        setError(undefined);
      } catch (problem) {
        if (isOver) return;
        if (isGone(problem)) {
          setKnown([]);
          setReadAt(begun);
        }
        // While the service is away, what was read of the talk before is better than nothing.
        if (isAway(problem)) setKnown((all) => (all.length ? all : (keptTalks.messagesOf(where + until) ?? all)));
        setError(isGone(problem) ? undefined : problem);
      }
      if (!isOver) setLoading(false);
    };
    void load();
    return () => {
      isOver = true;
    };
  }, [round, tries, last, isEmpty]);

  /** Messages that were read before an erase, other than the newest, may be gone by now. */
  useErasures(scope, () => {
    added.current += 1;
    void presentAmong(scope, thread, all).then((present) => {
      const left = (before: readonly Message[]) => before.filter((each) => each.position > present.until || present.ids.has(each.id));
      setKnown(left);
      setFar(left);
    }).catch(() => undefined);
  });

  useEffect(() => {
    if (known.length) keptTalks.keep(where + until, known);
  }, [known, where, until]);
  const again = useCallback(() => setTries((n) => n + 1), []);
  useAgainWhenBack(error, again, () => {
    setError(undefined);
    setLoading(!known.length);
  });
  const isWaiting = useIsWaiting(error);

  /** Around a message that a link led to, far before the newest ones: what is between is not shown, until it is asked for. */
  const [far, setFar] = useState<readonly Message[]>([]);
  const all = useMemo(() => (far.length ? withEarlier(known, far) : known), [known, far]);
  const first = all[0]?.position ?? 0;
  const hasEarlier = first > start;
  const isFar = far.length > 0;
  const earlier = useCallback(() => {
    setEarlierError(undefined);
    last(first).then((found) => (isFar ? setFar : setKnown)((before) => withEarlier(before, found)), setEarlierError);
  }, [last, first, isFar]);
  useAgainWhenBack(earlierError, earlier);
  const isEarlierWaiting = useIsWaiting(earlierError);

  const [tooFar, setTooFar] = useState<string | null>(null);
  const isTooFar = wanted !== null && tooFar === wanted;
  const isMissing = wanted !== null && hasEarlier && !isTooFar && !earlierError && !all.some((each) => each.id === wanted);
  useEffect(() => {
    if (!isMissing) return undefined;
    let isOver = false;
    const look = async () => {
      const passed: Message[] = [];
      let found: Message | undefined;
      let place = known[0]?.position;
      for (let pages = 0; pages < FAR_PAGES_MAX && !found && !isOver; pages++) {
        const page = await last(place, FAR_PAGE);
        found = page.find((each) => each.id === wanted);
        passed.unshift(...page);
        place = page[0]?.position;
        if (page.length < FAR_PAGE) break;
      }
      if (isOver) return;
      if (!found) setTooFar(wanted);
      else if (passed.length <= NEAR) setKnown((newest) => withEarlier(newest, passed));
      else setFar(passed.filter((each) => Math.abs(each.position - found.position) <= PAGE / 2));
    };
    look().catch((problem: unknown) => !isOver && setEarlierError(problem));
    return () => {
      isOver = true;
    };
  }, [isMissing, wanted, last]);

  const between = far[far.length - 1]?.position;
  const fill = useCallback(() => {
    const until = known[0]?.position ?? Infinity;
    setEarlierError(undefined);
    api.messages(scope, thread, { after: between, limit: PAGE }).then(({ messages }) => {
      const next = messages.filter((each) => each.position < until);
      if (next.length === PAGE) return setFar((before) => [...before, ...next]);
      setKnown((newest) => withEarlier(newest, [...far, ...next]));
      setFar([]);
    }, setEarlierError);
  }, [where, between, far, known]);

  return {
    known: all,
    isLoading,
    error: isWaiting ? undefined : error,
    isWaiting,
    readAt,
    again,
    add: useCallback((message: Message) => {
      added.current += 1;
      setKnown((all) => withKept(all, message));
    }, []),
    hasEarlier,
    earlier,
    earlierError: isEarlierWaiting ? undefined : earlierError,
    isTooFar,
    between,
    fill,
  };
}

/** Which of the messages are still there, up to the last of them. */
async function presentAmong(scope: Scope, thread: string, read: readonly Message[]): Promise<{ ids: ReadonlySet<string>; until: number }> {
  const until = read[read.length - 1]?.position ?? 0;
  const ids = new Set<string>();
  for (let after = (read[0]?.position ?? 1) - 1; after < until; ) {
    const messages = await api.messages(scope, thread, { after, limit: FAR_PAGE }).then((answer) => answer.messages, (error: unknown) => (isGone(error) ? [] : Promise.reject(error)));
    for (const each of messages) ids.add(each.id);
    if (messages.length < FAR_PAGE) break;
    after = messages[messages.length - 1]?.position ?? until;
  }
  return { ids, until };
}

/** Those of threads in which something had been said by a moment: what was imported was said before its thread was stored. */
export async function spokenInBy(scope: Scope, threads: readonly string[], until: string): Promise<ReadonlySet<string>> {
  const spoken = threads.map((id) => api.messages(scope, id, { last: 1, until }).then(({ messages }) => (messages.length ? id : ""), (error: unknown) => (isGone(error) ? "" : Promise.reject(error))));
  return new Set(await Promise.all(spoken));
}
