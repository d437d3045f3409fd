/** What is shown in the place of what cannot be shown: it loads, there is none, it failed, there is more. */

import { useEffect, useState, type ReactNode } from "react";
import { canPass, Problem } from "../api/problem";
import type { Act } from "../lib/act";
import { isSilent, useAgainWhenBack, useStanding } from "../lib/reach";
import { sentenceOf, useAround, useHere } from "../lib/session";
import { Icon, type IconName } from "./icons";

/** What went wrong in a sentence, and what can be done: `again` does once more what failed. */
export function Failure({ error, again, isBusy = false, isOfAct = false, children }: {
  error: unknown;
  again?: () => void;
  isBusy?: boolean;
  /** Of an act it is told that it may not be done: that the service is away is said above, and no longer than it is. */
  isOfAct?: boolean;
  children?: ReactNode;
}) {
  const { t } = useAround();
  useAgainWhenBack(isOfAct ? error : undefined, () => undefined);
  if (!error) return null;
  return (
    <div className="wrong" role="alert">
      <Icon name="warn" />
      <p>{isOfAct && isSilent(error) ? t("act.unanswered") : sentenceOf(error, t)}{children}</p>
      {again && (
        <button type="button" className="small" disabled={isBusy} onClick={again}>
          {t("again")}
        </button>
      )}
    </div>
  );
}

/** How an act failed, to be shown where it was done. It is offered again if that can go well. */
export function ActFailure({ act }: { act: Act }) {
  const { t } = useAround();
  if (!act.error) return null;
  return (
    <div className="act-failure">
      <Failure error={act.error} again={canPass(act.error) ? act.again : undefined} isBusy={act.isBusy} isOfAct>{act.error instanceof Problem && act.error.href && <> <a href={act.error.href}>{t("panel.open")}</a></>}</Failure>
      <button type="button" className="plain icon-button" aria-label={t("close")} onClick={act.dismiss}>
        <Icon name="close" />
      </button>
    </div>
  );
}

export function Reload() {
  const { t } = useAround();
  return <button type="button" className="small" onClick={() => location.reload()}>{t("reload")}</button>;
}

/** Where nothing was found, for a key that sees one scope: a link of somebody else's counts scopes from those of their key. */
export function WhereLooked() {
  const { t } = useAround();
  const { me, scope, can } = useHere();
  if (!scope.length || can("below")) return null;
  return <p className="hint">{t("scope.looked", { scope: [...(me.prefix ?? []), ...scope].join(" / ") })}</p>;
}

export function Empty({ icon, title, children }: { icon: IconName; title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <Icon name={icon} />
      <p className="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** So long the shape of what comes is enough; then it is said that the service is slow. */
const SLOW_MS = 4_000;

export function Loading({ rows = 3, isScreen = false }: { rows?: number; /** Nothing else is shown below the frame: then it is said here, too, that it comes once the service is back. */ isScreen?: boolean }) {
  const { t } = useAround();
  const [isSlow, setSlow] = useState(false);
  // One that is away is not slow: that is said above, and the wait begins anew when it is back.
  const isThere = useStanding() === "there";
  useEffect(() => {
    setSlow(false);
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, [isThere]);
  const word = isThere ? isSlow && "loading.slow" : isScreen && "loading.away";
  return (
    <div className="loading" role="status">
      <span className={word ? "hint" : "unseen"}>{t(word || "loading")}</span>
      {Array.from({ length: rows }, (_, place) => (
        <div key={place} className="bone" />
      ))}
    </div>
  );
}

/** The end of a list of which there is more; with `error`, more of it could not be had. */
export function More({ hasMore, isLoading, more, error }: { hasMore: boolean; isLoading: boolean; more: () => void; error?: unknown }) {
  const { t } = useAround();
  if (error) return <Failure error={error} again={more} isBusy={isLoading} />;
  if (!hasMore) return null;
  return (
    <button type="button" className="more" disabled={isLoading} onClick={more}>
      {t("more")}
    </button>
  );
}

/** What stands where something cannot be shown at all: why, what to do, and the buttons for it. */
export function Broken({ title, why, children }: { title: string; why: string; children: ReactNode }) {
  return (
    <div className="broken" role="alert">
      <Icon name="warn" />
      <h1 tabIndex={-1}>{title}</h1>
      <p>{why}</p>
      <div className="broken-acts">{children}</div>
    </div>
  );
}
