/** A screen whose script is fetched when it is first gone to, from a service that may have stopped or been renewed. */

import { useMemo, useState, type ComponentType } from "react";
import { unreachable } from "../api/problem";
import { missingBecause } from "../lib/deployment";
import { useAsked } from "../lib/asking";
import { useAgainWhenBack, useStanding } from "../lib/reach";
import { useAround } from "../lib/session";
import { loadLateWords } from "../words";
import { Dialog } from "./basics";
import { Broken, Loading, Reload } from "./states";

/** What `screen` brings, once the words and styles that only the later screens need are there, too. */
export const withLate = async <T,>(screen: Promise<T>): Promise<T> => (await Promise.all([screen, loadLateWords(), import("../late.css")]))[0];

const fetched = new Map<string, unknown>();

/** Show what `load` brings; where it brings nothing, say why and what to do. */
export function lazyScreen<P extends object>(name: string, load: () => Promise<{ default: ComponentType<P> }>): ComponentType<P> {
  return function LazyScreen(props: P) {
    const asked = useAsked(async () => ({ Screen: (await load()).default }), [name]);
    const Screen = (fetched.get(name) as ComponentType<P> | undefined) ?? asked.value?.Screen;
    if (Screen) {
      fetched.set(name, Screen);
      return <Screen {...props} />;
    }
    if (asked.error) return <Missing />;
    return <div className="page"><Loading isScreen /></div>;
  };
}

/** A dialog that `load` brings: nothing is shown until it is there, unless it does not come. */
export function lazyDialog<P extends { close: () => void }>(name: string, load: () => Promise<{ default: ComponentType<P> }>): ComponentType<P> {
  return function LazyDialog(props: P) {
    const { t } = useAround();
    const asked = useAsked(async () => ({ Shown: (await load()).default }), [name]);
    if (asked.value) return <asked.value.Shown {...props} />;
    if (!asked.error && !asked.isWaiting) return null;
    return <Dialog title={t("missing")} close={props.close}>{asked.error ? <Missing /> : <Loading isScreen />}</Dialog>;
  };
}

/** Why the script did not come. The browser does not fetch it again for this page: once the service answers, the page is reloaded. */
function Missing() {
  const { t } = useAround();
  const cause = useAsked(() => missingBecause(), []);
  const [isTrying, setTrying] = useState(false);
  const [tries, setTries] = useState(0);
  // Another one after each try that failed: the service is waited for anew, less and less often.
  const away = useMemo(() => (cause.value === "unreachable" ? unreachable() : undefined), [cause.value, tries]);
  useAgainWhenBack(away, () => void tryAgain());
  const tryAgain = async () => {
    setTrying(true);
    const now = await missingBecause();
    if (now !== "unreachable") location.reload();
    cause.set(now);
    setTries((count) => count + 1);
    setTrying(false);
  };
  const isAway = useStanding() === "away";
  if (!cause.value || isAway) return <div className="page"><Loading isScreen /></div>;
  return (
    <Broken title={t("missing")} why={t(`missing.${cause.value}`)}>
      {cause.value === "unreachable"
        ? <button type="button" className="accent" disabled={isTrying} onClick={() => void tryAgain()}>{t("again")}</button>
        : <Reload />}
    </Broken>
  );
}
