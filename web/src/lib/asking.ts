/** Asking the service from a component: the answer, its error, and asking again. */

import { useCallback, useEffect, useRef, useState } from "react";
import { api, type Listed } from "../api/client";
import type { Scope } from "../api/shapes";

export interface Asked<T> {
  value: T | undefined;
  error: unknown;
  isLoading: boolean;
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
  return {
    value: isSame ? state.value : undefined,
    error: isSame ? state.error : undefined,
    isLoading: !isSame || !state.done,
    again: useCallback(() => setRound((n) => n + 1), []),
    set: useCallback((value: T) => setState({ subject, value, done: true }), [subject]),
  };
}

export interface Paged<R> {
  rows: R[];
  error: unknown;
  isLoading: boolean;
  hasMore: boolean;
  more: () => void;
  again: () => void;
  replace: (change: (rows: R[]) => R[]) => void;
}

export function usePages<R, A extends Listed>(
  ask: (cursor: string | null, signal: AbortSignal) => Promise<A>,
  rowsOf: (answer: A) => R[],
  about: readonly unknown[],
): Paged<R> {
  const [pages, setPages] = useState<{ subject: string; rows: R[]; cursor: string | null } | null>(null);
  const [cursor, setCursor] = useState<string | null>(null);
  const subject = JSON.stringify(about);
  const asked = useAsked(async (signal) => {
    const answer = await ask(cursor, signal);
    setPages((before) => ({
      subject,
      rows: cursor && before?.subject === subject ? [...before.rows, ...rowsOf(answer)] : rowsOf(answer),
      cursor: answer.cursor ?? null,
    }));
    return true;
  }, [subject, cursor]);
  useEffect(() => setCursor(null), [subject]);
  const isSame = pages?.subject === subject;
  return {
    rows: isSame ? pages.rows : [],
    error: asked.error,
    isLoading: !isSame || asked.isLoading,
    hasMore: isSame && pages.cursor !== null,
    more: () => isSame && setCursor(pages.cursor),
    again: useCallback(() => {
      setCursor(null);
      asked.again();
    }, [asked.again]),
    replace: (change) => setPages((before) => before && { ...before, rows: change(before.rows) }),
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

const RETRY_MS = 3_000;
const RETRY_MS_MAX = 60_000;
const GATHER_MS = 150;

/** Call back a moment after something of the scope changed, in this page or elsewhere. */
export function useChanges(scope: Scope, changed: () => void): void {
  const callback = useRef(changed);
  callback.current = changed;
  const subject = JSON.stringify(scope);
  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let wait_ms = RETRY_MS;
    const follow = async (): Promise<void> => {
      while (!stop.signal.aborted) {
        try {
          for await (const event of api.changes(JSON.parse(subject) as Scope, stop.signal)) {
            wait_ms = RETRY_MS;
            if (event.event !== "change" && event.event !== "reset") continue;
            timer ??= setTimeout(() => {
              timer = undefined;
              callback.current();
            }, GATHER_MS);
          }
        } catch {
          wait_ms = Math.min(wait_ms * 2, RETRY_MS_MAX);
        }
        if (!stop.signal.aborted) await new Promise((done) => setTimeout(done, wait_ms));
      }
    };
    void follow();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [subject]);
}
