/** Forming now what waits, how long that waits otherwise, and what came of it in a sentence. */

import { api } from "../api/client";
import { Problem } from "../api/problem";
import { useAct, type Act } from "./act";
import { formedBy } from "./receipts";
import { useAround, useHere } from "./session";

export interface FormNow extends Act {
  /** Form a thread, or all that waits in the scope. */
  form: (thread?: string) => void;
}

export function useFormNow(settled: () => void): FormNow {
  const { t, tell } = useAround();
  const { scope } = useHere();
  const act = useAct(settled);
  const told = ({ isAny, written, waiting, refused }: ReturnType<typeof formedBy>): string => {
    if (!isAny) return t("formed.none_done");
    const parts = [written && t("formed.written", { count: written }), waiting && t("formed.waiting", { count: waiting }), refused && t("formed.refused", { count: refused })].filter(Boolean);
    return parts.length ? parts.join(" ") : t("formed.nothing");
  };
  const form = (thread?: string) =>
    void act.run({
      request: async () => {
        const formed = formedBy(await api.form(scope, thread));
        // The service has answered well, but not what it was asked to do.
        if (formed.failure !== null) throw new Problem(503, "formation", t("formation.failed"), formed.failure ? t("formed.failed", { reason: formed.failure }) : t("formed.unusable"));
        return formed;
      },
      succeed: (formed) => tell(told(formed)),
    });
  return { ...act, form };
}

/** The time that is left until a formation. */
export function clock(seconds: number): string {
  const whole = Math.ceil(seconds);
  const minutes = Math.floor(whole / 60);
  if (minutes >= 60) return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${String(whole % 60).padStart(2, "0")}`;
  return `${minutes}:${String(whole % 60).padStart(2, "0")}`;
}
