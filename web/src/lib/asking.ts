/** Asking the service from a component: the answer, its error, and asking again. */

import { useCallback, useEffect, useRef, useState } from "react";
import type { Listed } from "../api/client";
import { useAgainWhenBack, useIsWaiting } from "./reach";

export interface Asked<T> {
  value: T | undefined;
  /** Why it could not be had; not while the service is away, which is told once for the whole page. */
  error: unknown;
  isLoading: boolean;
  /** Whether the service is away: it is asked again once it answers. */
  isWaiting: boolean;
  again: () => void;
  set: (value: T) => void;
}

export function useAsked<T>(ask: (signal: AbortSignal) => Promise<T>, about: readonly unknown[]): Asked<T> {
  const subject = JSON.stringify(about);
  const [state, setState] = useState<{ subject: string; value?: T; error?: unknown; done: boolean }>({ subject, done: false });
  const [round, setRound] = useState(0);
  const asking = useRef(ask);
  asking.current = ask;
  useEffect(() => {
    const stop = new AbortController();
    asking.current(stop.signal).then(
      (value) => !stop.signal.aborted && setState({ subject, value, done: true }),
      (error: unknown) => {
        if (stop.signal.aborted) return;
        setState((before) => ({ ...before, subject, value: before.subject === subject ? before.value : undefined, error, done: true }));
      },
    );
    return () => stop.abort();
  }, [subject, round]);
  const isSame = state.subject === subject;
  const again = useCallback(() => setRound((n) => n + 1), []);
  const error = isSame ? state.error : undefined;
  useAgainWhenBack(error, again, () => setState((before) => ({ ...before, error: undefined, done: false })));
  const isWaiting = useIsWaiting(error);
  return {
    value: isSame ? state.value : undefined,
    error: isWaiting ? undefined : error,
    isLoading: !isSame || !state.done || isWaiting,
    isWaiting,
    again,
    set: useCallback((value: T) => setState({ subject, value, done: true }), [subject]),
  };
}

export interface Paged<R> {
  rows: R[];
  /** Why the rows could not be had. */
  error: unknown;
  /** Why there are no more of them, although there are. */
  moreError: unknown;
  isLoading: boolean;
  /** Whether the service is away: it is asked again once it answers. */
  isWaiting: boolean;
  hasMore: boolean;
  more: () => void;
  /** Ask again for as many pages as are shown, so that what is read stays where it is. */
  again: () => void;
}

interface Pages<R> {
  subject: string;
  rows: R[];
  cursor: string | null;
  count: number;
}

export function usePages<R, A extends Listed>(
  ask: (cursor: string | null, signal: AbortSignal) => Promise<A>,
  rowsOf: (answer: A) => R[],
  about: readonly unknown[],
): Paged<R> {
  const subject = JSON.stringify(about);
  const [pages, setPages] = useState<Pages<R> | null>(null);
  const [failed, setFailed] = useState<{ subject: string; error: unknown; isOfMore: boolean } | null>(null);
  const [isFetching, setFetching] = useState(true);
  const [round, setRound] = useState(0);
  const known = useRef({ ask, rowsOf, pages });
  known.current = { ask, rowsOf, pages };
  const fetching = useRef<AbortController | null>(null);
  const wanted = useRef({ subject, count: 1 });

  const fetchFrom = useCallback(
    async (before: Pages<R>, count: number, isOfMore: boolean): Promise<void> => {
      wanted.current = { subject, count };
      fetching.current?.abort();
      const stop = new AbortController();
      fetching.current = stop;
      setFetching(true);
      try {
        let found = before;
        do {
          const answer = await known.current.ask(found.cursor, stop.signal);
          found = { subject, rows: [...found.rows, ...known.current.rowsOf(answer)], cursor: answer.cursor ?? null, count: found.count + 1 };
        } while (found.cursor !== null && found.count < count && !stop.signal.aborted);
        if (stop.signal.aborted) return;
        setPages(found);
        setFailed(null);
      } catch (error) {
        if (!stop.signal.aborted) setFailed({ subject, error, isOfMore });
      }
      if (!stop.signal.aborted) setFetching(false);
    },
    [subject],
  );
  useEffect(() => {
    const count = wanted.current.subject === subject ? wanted.current.count : 1;
    void fetchFrom({ subject, rows: [], cursor: null, count: 0 }, count, false);
    return () => fetching.current?.abort();
  }, [subject, round, fetchFrom]);

  const isSame = pages?.subject === subject;
  const error = failed?.subject === subject ? failed : null;
  const again = useCallback(() => setRound((n) => n + 1), []);
  useAgainWhenBack(error?.error, again, () => {
    setFailed(null);
    setFetching(true);
  });
  const isWaiting = useIsWaiting(error?.error);
  const told = isWaiting ? null : error;
  return {
    rows: isSame ? pages.rows : [],
    error: told && !told.isOfMore ? told.error : undefined,
    moreError: told?.isOfMore ? told.error : undefined,
    isLoading: isFetching || isWaiting || (!isSame && !error),
    isWaiting,
    hasMore: isSame && pages.cursor !== null,
    more: () => void (isSame && pages.cursor !== null && fetchFrom(pages, pages.count + 1, true)),
    again,
  };
}

export function useNow(every_ms: number, isOn = true): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => setNow(Date.now()), every_ms);
    return () => clearInterval(timer);
  }, [every_ms, isOn]);
  return now;
}

export function useLater<T>(value: T, wait_ms: number): T {
  const [later, setLater] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLater(value), wait_ms);
    return () => clearTimeout(timer);
  }, [value, wait_ms]);
  return later;
}
