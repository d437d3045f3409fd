/** What changes in a scope, heard once for all parts of the page: a browser has six connections to a service, for all its tabs together. */

import { useEffect, useRef, useSyncExternalStore } from "react";
import { api } from "../api/client";
import type { Scope } from "../api/shapes";
import { noteErasure } from "./erasures";
import { isAway, reach } from "./reach";

const RETRY_MS = 3_000;
const RETRY_MS_MAX = 60_000;
const AT_ONCE_MS = 100;
const GATHER_MS = 150;
/** So long a feed that nobody listens to stays open: the next screen mostly wants the same one. */
const LINGER_MS = 1_000;

interface Feed {
  listeners: Set<() => void>;
  end: () => void;
  closing?: ReturnType<typeof setTimeout>;
}

const feeds = new Map<string, Feed>();
/** What wakes each feed that finds no service: while there is one, what is shown may be out of date. */
const cutOff = new Map<string, () => void>();
const watchers = new Set<() => void>();

function setCutOff(subject: string, wake: (() => void) | null): void {
  if (wake ? cutOff.has(subject) : !cutOff.has(subject)) return;
  if (wake) cutOff.set(subject, wake);
  else cutOff.delete(subject);
  for (const each of [...watchers]) each();
}

export const isCutOff = (): boolean => cutOff.size > 0 || reach.standing() === "away";

function watchCutOff(watcher: () => void): () => void {
  const leave = reach.watch(watcher);
  watchers.add(watcher);
  return () => {
    leave();
    watchers.delete(watcher);
  };
}

/** Whether the service is not there although the page is shown: found out where it was looked for again, not at the first break of a feed. */
export const useCutOff = (): boolean => useSyncExternalStore(watchCutOff, isCutOff);

/** Look for the service now, and not only when the wait is over. */
export function lookAgain(): void {
  reach.lookNow();
  for (const wake of [...cutOff.values()]) wake();
}

/**
 * Call back a moment after something of the scope changed, in this page or elsewhere.
 *
 * When the service is heard again after a break it is called as well: what changed meanwhile was not told.
 */
export function useChanges(scope: Scope, changed: () => void): void {
  const callback = useRef(changed);
  callback.current = changed;
  const subject = JSON.stringify(scope);
  useEffect(() => listenTo(subject, () => callback.current()), [subject]);
}

/** Join the listeners of a scope, written as JSON; the answer leaves them. */
export function listenTo(subject: string, changed: () => void): () => void {
  const feed = feeds.get(subject) ?? openFeed(subject);
  feeds.set(subject, feed);
  clearTimeout(feed.closing);
  feed.listeners.add(changed);
  return () => {
    feed.listeners.delete(changed);
    if (feed.listeners.size) return;
    feed.closing = setTimeout(() => {
      feeds.delete(subject);
      feed.end();
    }, LINGER_MS);
  };
}

/** Follow a scope, while the page can be seen: a tab in the background leaves its connection to the others, and catches up later. */
function openFeed(subject: string): Feed {
  const scope = JSON.parse(subject) as Scope;
  const listeners = new Set<() => void>();
  let stop = new AbortController();
  let isOver = false;
  let isBehind = document.hidden;
  let isOpened = false;
  // With its last place a feed is told of an erase that it missed.
  let last = "";
  let wait_ms = RETRY_MS;
  let wake: () => void = () => undefined;
  let gathering: ReturnType<typeof setTimeout> | undefined;

  const tell = () => {
    gathering ??= setTimeout(() => {
      gathering = undefined;
      for (const each of [...listeners]) each();
    }, GATHER_MS);
  };
  const opened = () => {
    wait_ms = RETRY_MS;
    isOpened = true;
    setCutOff(subject, null);
    if (isBehind) tell();
    isBehind = true;
  };
  const rest = (ms: number) => new Promise<void>((done) => {
    const timer = setTimeout(done, ms);
    wake = () => {
      clearTimeout(timer);
      done();
    };
  });
  const follow = async (): Promise<void> => {
    while (!isOver) {
      if (!document.hidden) {
        stop = new AbortController();
        isOpened = false;
        try {
          for await (const event of api.changes(scope, opened, stop.signal, last, (id) => (last = id))) {
            if (event.event === "reset") void noteErasure(scope).catch(() => undefined);
            if (event.event === "change" || event.event === "reset") tell();
          }
        } catch (error) {
          if (!stop.signal.aborted) wait_ms = Math.min(wait_ms * 2, RETRY_MS_MAX);
          // A stream that breaks off is begun again first: proxies end them now and then.
          if (!stop.signal.aborted && !isOpened) setCutOff(subject, isAway(error) ? () => wake() : null);
        }
      }
      if (isOver) return;
      const leave = cutOff.has(subject) ? reach.await(() => wake()) : undefined;
      await rest(document.hidden ? RETRY_MS_MAX : wait_ms);
      leave?.();
    }
  };
  const turned = () => {
    if (document.hidden) stop.abort();
    wake();
  };
  /** A connection that the network took with it may not be known to be broken. */
  const online = () => {
    reach.lookNow();
    wait_ms = AT_ONCE_MS;
    stop.abort();
    wake();
  };
  document.addEventListener("visibilitychange", turned);
  // One listener for all feeds, however often it is added; each begins anew by itself.
  addEventListener("offline", reach.doubt);
  addEventListener("online", online);
  void follow();
  const end = () => {
    isOver = true;
    setCutOff(subject, null);
    document.removeEventListener("visibilitychange", turned);
    removeEventListener("online", online);
    clearTimeout(gathering);
    stop.abort();
    wake();
  };
  return { listeners, end };
}
