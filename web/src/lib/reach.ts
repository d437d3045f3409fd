/** Waiting for a service that is away: whatever failed because of that is asked again once the service answers. */

import { useEffect, useRef, useSyncExternalStore } from "react";
import { Problem } from "../api/problem";

const LOOK_MS = 3_000;
const LOOK_MS_MAX = 30_000;
/** A service that answered so long is back; one that answers, while a request to it fails again sooner, is asked more and more seldom. */
const STEADY_MS = 20_000;

/** What a gateway answers in the place of a service that is away. */
const AWAY: ReadonlySet<number> = new Set([502, 503, 504]);

/** Whether a request failed because nobody was there. */
export const isAway = (error: unknown): boolean => error instanceof Problem && (error.code === "unreachable" || error.code === "cut" || (error.code === "" && AWAY.has(error.status)));

/** Whether no answer of the service came, and none that broke off: who asks in vain knows no more than that it is away. */
export const isSilent = (error: unknown): boolean => isAway(error) && error instanceof Problem && error.code !== "cut";

type Probe = () => Promise<boolean>;
const PROBE_MS_MAX = 5_000;
const probeOf = (path: string): Probe => () => fetch(new URL(path, document.baseURI), { cache: "no-store", credentials: "omit", signal: AbortSignal.timeout(PROBE_MS_MAX) }).then(({ ok }) => ok, () => false);

/** Whether the service is there; asked is when a request has just failed, and the service itself is being asked. */
type Standing = "there" | "asked" | "away";

/** Looks for the service as long as it is away or somebody waits for it, and calls all who wait when it is there. */
export class Reach {
  private waiting = new Set<() => void>();
  private watchers = new Set<() => void>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private wait_ms = LOOK_MS;
  private back_at = -Infinity;
  private state: Standing = "there";
  private looks = 0;

  constructor(private readonly probe: Probe, private readonly now: () => number = Date.now) {}

  /** Call back once the service answers; the answer gives that up. */
  await(back: () => void): () => void {
    this.waiting.add(back);
    if (this.timer === undefined) {
      const isSteady = this.now() - this.back_at >= STEADY_MS;
      this.wait_ms = isSteady ? LOOK_MS : Math.min(this.wait_ms * 2, LOOK_MS_MAX);
      // Where it answers and one request fails again and again, the failure must not come and go.
      if (isSteady) this.stand("asked");
      this.look();
      void this.check();
    }
    return () => {
      this.waiting.delete(back);
      if (this.isNeeded()) return;
      clearTimeout(this.timer);
      this.timer = undefined;
      this.stand("there");
    };
  }

  /** The service has answered: to whatever was asked. */
  answered(): void {
    if (!this.isNeeded()) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.back_at = this.now();
    this.stand("there");
    const all = [...this.waiting];
    this.waiting.clear();
    for (const each of all) each();
  }

  /** Look whether it is still there: a browser without a network may reach a service on its own machine. */
  readonly doubt = (): void => {
    void this.probe().then((isThere) => {
      if (isThere) return;
      this.stand("away");
      if (this.timer === undefined) this.look((this.wait_ms = LOOK_MS));
    });
  };

  /** Look for it now, and not only when the wait is over. */
  lookNow(): void {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    this.look(0);
  }

  readonly standing = (): Standing => this.state;

  readonly watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => void this.watchers.delete(watcher);
  };

  /** Who leaves a screen while the service is away goes to another one that waits as well. */
  private isNeeded(): boolean {
    return this.waiting.size > 0 || this.state === "away";
  }

  private stand(state: Standing): void {
    if (this.state === state) return;
    this.state = state;
    for (const each of [...this.watchers]) each();
  }

  /** Whether the service as a whole is away, or only one request to it has failed. */
  private async check(): Promise<void> {
    if (isUnseen()) return;
    const isThere = await this.probe();
    if (!this.isNeeded() || this.timer === undefined) return;
    this.stand(isThere ? "there" : "away");
    if (isThere) return;
    clearTimeout(this.timer);
    this.look((this.wait_ms = LOOK_MS));
  }

  private look(wait_ms = this.wait_ms): void {
    const look = ++this.looks;
    this.timer = setTimeout(() => {
      const there = isUnseen() ? Promise.resolve(false) : this.probe();
      void there.then((isThere) => {
        // Another look may have been asked for while this one was under way.
        if (look !== this.looks || !this.isNeeded()) return;
        if (isThere) return this.answered();
        if (!isUnseen()) this.stand("away");
        this.look();
      });
    }, wait_ms);
  }
}

/** A tab that nobody sees asks nothing. */
const isUnseen = (): boolean => typeof document !== "undefined" && document.hidden;

export const reach = new Reach(probeOf("health/live"));

export const useStanding = (): Standing => useSyncExternalStore(reach.watch, reach.standing);

/** Whether this waits for the service: the frame says once that it is away, and nothing that waits for it says so again. */
export function useIsWaiting(error: unknown): boolean {
  const isThere = useStanding() === "there";
  return !isThere && isAway(error);
}

/**
 * Ask again, once the service answers, what failed because it was away.
 *
 * `forget` drops the failure at once where the frame told of it: else it would be told here until the answer has come.
 */
export function useAgainWhenBack(error: unknown, again: () => void, forget?: () => void): void {
  const isWaiting = useIsWaiting(error);
  const callback = useRef(again);
  callback.current = () => {
    if (isWaiting) forget?.();
    again();
  };
  useEffect(() => (isAway(error) ? reach.await(() => callback.current()) : undefined), [error]);
}
