/** Waiting for a service that is away: whatever failed because of that is asked again once the service answers. */

import { useEffect, useRef } from "react";
import { Problem } from "../api/problem";

const LOOK_MS = 3_000;
const LOOK_MS_MAX = 30_000;
/** A service that answered so long is back; one that fails again sooner is looked for more and more seldom. */
const STEADY_MS = 20_000;

/** What a gateway answers in the place of a service that is away. */
const AWAY: ReadonlySet<number> = new Set([502, 503, 504]);

/** Whether a request failed because nobody was there. */
export const isAway = (error: unknown): boolean => error instanceof Problem && (error.code === "unreachable" || error.code === "cut" || (error.code === "" && AWAY.has(error.status)));

type Probe = () => Promise<boolean>;
const probeOf = (path: string): Probe => () => fetch(new URL(path, document.baseURI), { cache: "no-store", credentials: "omit" }).then(({ ok }) => ok, () => false);

/** Looks for the service as long as somebody waits for it, and calls all of them when it is there. */
export class Reach {
  private waiting = new Set<() => void>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private wait_ms = LOOK_MS;
  private back_at = -Infinity;

  constructor(private readonly probe: Probe, private readonly now: () => number = Date.now) {}

  /** Call back once the service answers; the answer gives that up. */
  await(back: () => void): () => void {
    this.waiting.add(back);
    if (this.timer === undefined) {
      this.wait_ms = this.now() - this.back_at < STEADY_MS ? Math.min(this.wait_ms * 2, LOOK_MS_MAX) : LOOK_MS;
      this.look();
    }
    return () => {
      this.waiting.delete(back);
      if (this.waiting.size) return;
      clearTimeout(this.timer);
      this.timer = undefined;
    };
  }

  /** The service has answered: to whatever was asked. */
  answered(): void {
    if (!this.waiting.size) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.back_at = this.now();
    const all = [...this.waiting];
    this.waiting.clear();
    for (const each of all) each();
  }

  private look(): void {
    this.timer = setTimeout(() => {
      // A tab that nobody sees asks nothing.
      const there = typeof document !== "undefined" && document.hidden ? Promise.resolve(false) : this.probe();
      void there.then((isThere) => {
        if (!this.waiting.size) return;
        if (isThere) this.answered();
        else this.look();
      });
    }, this.wait_ms);
  }
}

export const reach = new Reach(probeOf("health/live"));

/** Ask again, once the service answers, what failed because it was away. */
export function useAgainWhenBack(error: unknown, again: () => void): void {
  const callback = useRef(again);
  callback.current = again;
  useEffect(() => (isAway(error) ? reach.await(() => callback.current()) : undefined), [error]);
}
