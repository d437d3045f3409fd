/** A long listing, of which only the parts in sight are asked for. */

import { useCallback, useEffect, useRef, useState } from "react";
import type { MemoryCounts } from "../api/shapes";
import { useAgainWhenBack, useIsWaiting } from "./reach";

export const PART = 100;
/** So long a part has to be in sight before it is asked for: who drags the bar passes over many. */
const REST_MS = 80;

export interface ListedPart<R> {
  rows: readonly R[];
  counts: MemoryCounts;
}

export interface Listing<R> {
  /** None before the first answer. */
  counts: MemoryCounts | undefined;
  /** Whether what is shown is the listing before, until that which was asked for is there. */
  isFormer: boolean;
  /** The row at a place, if its part was had. */
  at: (place: number) => R | undefined;
  /** How often the row at a place was recalled, where the listing is by that. */
  recallsAt: (place: number) => number | undefined;
  /** Say which places are in sight, so that their rows are asked for. */
  look: (first: number, last: number) => void;
  error: unknown;
  isLoading: boolean;
  /** Ask again for what is in sight; what is shown stays until the answer is there. */
  again: () => void;
}

interface Held<R> {
  subject: string;
  counts: MemoryCounts | undefined;
  parts: ReadonlyMap<number, ListedPart<R>>;
}

/** The parts that some places lie in. */
export function partsOf(first: number, last: number, total: number): number[] {
  const from = Math.max(0, Math.floor(first / PART));
  const until = Math.min(Math.floor(Math.max(first, last) / PART), Math.max(0, Math.ceil(total / PART) - 1));
  return Array.from({ length: Math.max(0, until - from + 1) }, (_, place) => from + place);
}

export function useListing<R>(ask: (offset: number, limit: number, signal: AbortSignal) => Promise<ListedPart<R>>, about: readonly unknown[]): Listing<R> {
  const subject = JSON.stringify(about);
  const [held, setHeld] = useState<Held<R>>({ subject, counts: undefined, parts: new Map() });
  const [failed, setFailed] = useState<{ subject: string; error: unknown }>();
  const [flights, setFlights] = useState(0);
  const asking = useRef(ask);
  asking.current = ask;
  const flying = useRef(new Map<number, AbortController>());
  const inSight = useRef<readonly number[]>([0]);
  const now = useRef(held);
  now.current = held;

  const fetchPart = useCallback(async (part: number, isFirst = false): Promise<void> => {
    flying.current.get(part)?.abort();
    const stop = new AbortController();
    flying.current.set(part, stop);
    setFlights((count) => count + 1);
    try {
      const answer = await asking.current(part * PART, PART, stop.signal);
      if (stop.signal.aborted) return;
      setFailed(undefined);
      setHeld((before) => ({ subject, counts: answer.counts, parts: new Map(before.subject === subject && !isFirst ? before.parts : []).set(part, answer) }));
    } catch (error) {
      if (!stop.signal.aborted) setFailed({ subject, error });
    } finally {
      if (flying.current.get(part) === stop) flying.current.delete(part);
      setFlights((count) => count - 1);
    }
  }, [subject]);

  const stopAll = () => {
    for (const each of flying.current.values()) each.abort();
    flying.current.clear();
  };
  useEffect(() => {
    inSight.current = [0];
    void fetchPart(0, true);
    return stopAll;
  }, [fetchPart]);

  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const look = useCallback((first: number, last: number) => {
    if (now.current.subject !== subject || now.current.counts === undefined) return;
    inSight.current = partsOf(first, last, now.current.counts.total);
    for (const [part, stop] of flying.current) {
      if (part !== 0 && !inSight.current.includes(part)) {
        stop.abort();
        flying.current.delete(part);
      }
    }
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      for (const part of inSight.current) if (!now.current.parts.has(part) && !flying.current.has(part)) void fetchPart(part);
    }, REST_MS);
  }, [subject, fetchPart]);

  const again = useCallback(() => {
    const seen = inSight.current.length ? inSight.current : [0];
    // What is out of sight is asked for when somebody looks there.
    setHeld((before) => ({ ...before, parts: new Map([...before.parts].filter(([part]) => seen.includes(part))) }));
    for (const part of seen) void fetchPart(part);
  }, [fetchPart]);

  const error = failed?.subject === subject ? failed.error : undefined;
  useAgainWhenBack(error, again, () => setFailed(undefined));
  const isWaiting = useIsWaiting(error);
  const isSame = held.subject === subject;
  const partAt = (place: number) => held.parts.get(Math.floor(place / PART));
  return {
    counts: held.counts,
    isFormer: !isSame,
    at: (place) => partAt(place)?.rows[place % PART],
    recallsAt: (place) => partAt(place)?.counts.recalls?.[place % PART],
    look,
    error: isWaiting ? undefined : error,
    isLoading: flights > 0 || !isSame || isWaiting,
    again,
  };
}
