/** The state of what a person does in one place: under way, done, or failed and to be tried again. */

import { useCallback, useEffect, useRef, useState } from "react";
import { mayBeDone } from "../api/problem";
import { useAround } from "./session";

export interface Attempt<T> {
  /** Do it; null if the person, asked once more, would rather not: then nothing was done. */
  request: () => Promise<T | null>;
  /**
   * What came of a request whose answer was lost, or nothing if it was not carried out.
   *
   * It is asked when a request fails so, and before it is made again, so that nothing is done twice.
   */
  outcome?: () => Promise<T | undefined>;
  succeed?: (result: T) => void;
}

export interface Act {
  isBusy: boolean;
  error: unknown;
  /** Do it, unless something is under way here; the answer is whether it was done. */
  run: <T>(attempt: Attempt<T>) => Promise<boolean>;
  /** Do again what failed last. */
  again: () => void;
  dismiss: () => void;
}

interface Failed {
  attempt: Attempt<unknown>;
  error: unknown;
}

/** Do one thing at a time; call `settled` after each, whether it went well or not. */
export function useAct(settled?: () => void): Act {
  const { complain } = useAround();
  const [isBusy, setBusy] = useState(false);
  const [failed, setFailed] = useState<Failed | null>(null);
  const underWay = useRef(false);
  const isShown = useRef(true);
  const after = useRef(settled);
  after.current = settled;
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);

  const start = useCallback(
    async (attempt: Attempt<unknown>, before: unknown): Promise<boolean> => {
      if (underWay.current) return false;
      underWay.current = true;
      setBusy(true);
      try {
        const result = await settledOf(attempt, before);
        setFailed(null);
        if (result === null) return false;
        attempt.succeed?.(result);
        return true;
      } catch (error) {
        setFailed({ attempt, error });
        // Who has left the place where it was done is told where they are now.
        if (!isShown.current) complain(error, () => start(attempt, error));
        return false;
      } finally {
        underWay.current = false;
        setBusy(false);
        after.current?.();
      }
    },
    [complain],
  );
  const run = useCallback(<T,>(attempt: Attempt<T>) => start(attempt as Attempt<unknown>, undefined), [start]);
  return {
    isBusy,
    error: failed?.error,
    run,
    again: () => void (failed && start(failed.attempt, failed.error)),
    dismiss: useCallback(() => setFailed(null), []),
  };
}

/** Make a request, unless what failed `before` was carried out all the same; and look for that if this one fails. */
async function settledOf<T>(attempt: Attempt<T>, before: unknown): Promise<T | null> {
  if (before !== undefined && attempt.outcome && mayBeDone(before)) {
    const known = await attempt.outcome();
    if (known !== undefined) return known;
  }
  try {
    return await attempt.request();
  } catch (error) {
    const known = attempt.outcome && mayBeDone(error) ? await attempt.outcome().catch(() => undefined) : undefined;
    if (known === undefined) throw error;
    return known;
  }
}
