/** The frame: who is here, where they can go, and the screen that they are on. */

import { useEffect, useMemo, useRef, useState, type ComponentType } from "react";
import { api, storedKey, storeKey, watchRefusedKey } from "./api/client";
import { Problem, unreachable } from "./api/problem";
import type { Scope } from "./api/shapes";
import { useAsked } from "./lib/asking";
import { lookAgain, useChanges, useCutOff } from "./lib/changes";
import { useErasures } from "./lib/erasures";
import { noteTypes } from "./lib/field_order";
import { noteKeyFrom } from "./lib/key_handover";
import { setOwner } from "./lib/owned_shelf";
import { go, linkHere, linkTo, useRoute } from "./lib/route";
import { daysIn, isToday } from "./lib/time";
import { HereContext, sentenceOf, useAround, useHere } from "./lib/session";
import { keyIn } from "./lib/sign_in";
import { forgetSought, SOUGHT } from "./lib/sought";
import { titleOf } from "./lib/title";
import { useShortcuts } from "./lib/shortcuts";
import { useDecided } from "./lib/waiting";
import { Field, Toasts } from "./parts/basics";
import { Boundary } from "./parts/boundary";
import { Icon, type IconName } from "./parts/icons";
import { lazyDialog, lazyScreen, withLate } from "./parts/lazy_screen";
import { Empty, Failure, Loading } from "./parts/states";
import { DayButton, DayStrip } from "./parts/day_strip";
import type { Word } from "./words";

/** The screens, whose scripts come when they are first gone to: who begins with one needs no other. */
const LOADERS = {
  overview: () => import("./screens/overview"),
  chat: () => import("./screens/chat"),
  memories: () => import("./screens/memories"),
  recall: () => withLate(import("./screens/recall")),
  profile: () => withLate(import("./screens/profile")),
  graph: () => withLate(import("./screens/graph")),
  review: () => withLate(import("./screens/review")),
  formation: () => withLate(import("./screens/formation")),
  types: () => withLate(import("./screens/types")),
  settings: () => withLate(import("./screens/settings")),
  api: () => withLate(import("./screens/api")),
};
const ChooseScope = lazyDialog("choose_scope", async () => ({ default: (await import("./parts/frame_dialogs")).ChooseScope }));
const Shortcuts = lazyDialog("shortcuts", async () => ({ default: (await import("./parts/frame_dialogs")).Shortcuts }));
const LAZY: Record<string, ComponentType> = Object.fromEntries(Object.entries(LOADERS).map(([name, load]) => [name, lazyScreen(name, load)]));

/** Fetch the script of the place that a reader begins with, while nothing else is known yet. */
export function fetchScreen([name = "overview", ...rest]: readonly string[]): void {
  LOADERS[name as keyof typeof LOADERS]?.().catch(() => undefined);
  if (name === "memories" && rest.length) withLate(import("./screens/memory")).catch(() => undefined);
}

interface Place {
  name: "overview" | "chat" | "memories" | "recall" | "profile" | "graph" | "review" | "formation" | "types" | "settings" | "api";
  icon: IconName;
  letter: string;
}

/** So many places stand in the bar of a narrow window; the others are behind a button. */
const BAR = 4;

const PLACES: readonly Place[] = [
  { name: "overview", icon: "home", letter: "o" },
  { name: "chat", icon: "chat", letter: "c" },
  { name: "memories", icon: "memory", letter: "m" },
  { name: "recall", icon: "recall", letter: "r" },
  { name: "profile", icon: "time", letter: "p" },
  { name: "graph", icon: "graph", letter: "g" },
  { name: "review", icon: "review", letter: "v" },
  { name: "formation", icon: "form", letter: "f" },
  { name: "types", icon: "types", letter: "t" },
  { name: "settings", icon: "settings", letter: "s" },
  { name: "api", icon: "api", letter: "a" },
];

export function App() {
  const { t } = useAround();
  const { scope: wanted, parts } = useRoute();
  const isApi = parts[0] === "api";
  const me = useAsked(() => api.me(), []);
  const subject = JSON.stringify(wanted);
  const here = useMemo(() => {
    if (!me.value) return null;
    const { permissions } = me.value;
    // What this page still holds of another store or scope, in its screens and elsewhere, goes with it.
    if (setOwner(me.value)) {
      forgetSought();
      location.reload();
    }
    return {
      me: me.value,
      scope: JSON.parse(subject) as Scope,
      can: (permission: string) => permissions.includes(permission) || permissions.includes("*"),
    };
  }, [me.value, subject]);
  const [refused, setRefused] = useState<Problem | null>(null);
  useEffect(() => watchRefusedKey(setRefused), []);
  useEffect(() => setRefused(null), [me.value]);
  // As long as nobody is known to be here there is no frame that says that the service is away.
  const error = refused ?? me.error ?? (me.isWaiting && !me.value ? unreachable() : undefined);
  // What the routes are is told to whoever asks.
  if (error && isApi) return <main className="content alone-wide"><Boundary about="api"><Screen place="api" /></Boundary><Toasts /></main>;
  if (error instanceof Problem && (error.status === 401 || error.status === 403)) return <main className="alone"><AskKey error={error} entered={me.again} /></main>;
  if (error) return <main className="alone"><h1 className="brand"><Logo />Recollect</h1><Failure error={error} again={me.again} /></main>;
  if (!here) return <main className="alone" aria-busy="true"><h1 className="unseen">Recollect</h1><Loading rows={2} /></main>;
  return (
    <HereContext value={here}>
      <a className="skip" href="#content" onClick={(event) => { event.preventDefault(); document.getElementById("content")?.focus(); }}>{t("skip")}</a>
      <Frame />
      <Toasts />
    </HereContext>
  );
}

function Logo() {
  return <svg className="logo" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" /><path d="M10 24V8h7a5 5 0 0 1 1.4 9.8L22 24h-3.6l-3.3-6H13v6z M13 10.7v4.6h3.8a2.3 2.3 0 0 0 0-4.6z" fillRule="evenodd" /></svg>;
}

function AskKey({ error, entered }: { error: unknown; entered: () => void }) {
  const { t } = useAround();
  const [key, setKey] = useState("");
  return (
    <form className="ask-key" onSubmit={(event) => { event.preventDefault(); storeKey(keyIn(key)); noteKeyFrom("typed"); entered(); }}>
      <h1 className="brand"><Logo />Recollect</h1>
      <p className="about">{t("key.about")}</p>
      <Field label={t("key.ask")} hint={t("key.hint")}>{(id) => <input id={id} type="password" autoComplete="off" autoFocus required value={key} onChange={(event) => setKey(event.target.value)} />}</Field>
      {storedKey() && <div className="wrong" role="alert"><Icon name="warn" /><p>{sentenceOf(error, t)}</p></div>}
      <button type="submit" className="accent">{t("key.enter")}</button>
      <p className="hint">{t("key.none")} <code>recollect keys create</code></p>
    </form>
  );
}

/** Screens that ask once for what they show, and not again when something changes: after an erase they begin anew. */
const ASKED_ONCE: ReadonlySet<string> = new Set(["recall", "graph"]);

function Frame() {
  const { t } = useAround();
  const { parts, query } = useRoute();
  const { scope, can } = useHere();
  const days = daysIn(query);
  const [isChoosingDay, setChoosingDay] = useState(false);
  const place = PLACES.find((each) => each.name === parts[0])?.name ?? (parts.length ? "missing" : "overview");
  const isBehind = PLACES.slice(BAR).some((each) => each.name === place);
  const [isHelping, setHelping] = useState(false);
  const [isMore, setMore] = useState(false);
  const isFirst = useRef(true);
  const [erasures, setErasures] = useState(0);
  useChanges(scope, () => undefined);
  useErasures(scope, () => {
    setErasures((n) => n + 1);
    const asked = SOUGHT.filter((each) => query.has(each));
    if (asked.length) go(linkHere(Object.fromEntries(asked.map((each) => [each, ""]))), true);
  });
  // Where talk, formation or a verdict may change it: in a large scope the count is no small matter.
  const counted = ["overview", "chat", "review", "formation"].includes(place) ? place : "";
  const waiting = useAsked(async () => (await api.memories(scope, { state: "quarantined", order: "newest", limit: 1 })).counts?.total, [scope, counted]);
  useAsked(async () => noteTypes((await api.types(scope)).types), [scope]);
  useDecided((fewer) => {
    if (fewer && waiting.value !== undefined) waiting.set(Math.max(0, waiting.value - fewer));
    waiting.again();
  });
  useShortcuts(PLACES.map((each) => [each.letter, () => go(linkTo([each.name], scope))]), () => setHelping(true));
  useEffect(() => {
    document.title = titleOf(t(place === "missing" ? "not_found" : place));
    setMore(false);
    setHelping(false);
    if (isFirst.current) isFirst.current = false;
    else document.getElementById("content")?.focus({ preventScroll: true });
  }, [place, t]);
  return (
    <div className="frame">
      <nav className="side" aria-label={t("nav")}>
        <a className="brand" aria-label="Recollect" href={linkTo(["overview"], scope)}><Logo /><span>Recollect</span></a>
        <ScopePicker />
        <DayButton days={days} isOpen={isChoosingDay} toggle={() => setChoosingDay(!isChoosingDay)} />
        <ul className={isMore ? "places opened" : "places"} id="places">
          {PLACES.map((each, at) => (
            <li key={each.name} className={`${each.name === "profile" || each.name === "settings" ? "gap" : ""}${at < BAR ? "" : " behind"}`}>
              <a className={each.name === place ? "side-link here" : "side-link"} aria-current={each.name === place ? "page" : undefined} href={linkTo([each.name], scope)}>
                <Icon name={each.icon} /><span>{t(each.name satisfies Word)}</span>
                {each.name === "review" && waiting.value ? <span className="count">{waiting.value}</span> : null}
              </a>
            </li>
          ))}
          <li className="more-places">
            <button type="button" className={isBehind ? "side-link here" : "side-link"} aria-expanded={isMore} aria-controls="places" onClick={() => setMore(!isMore)}>
              <Icon name={isMore ? "close" : "more"} /><span>{t("nav.more")}</span>
              {waiting.value && !isMore ? <span className="dot" aria-hidden="true" /> : null}
            </button>
          </li>
        </ul>
        <button type="button" className="plain side-help" onClick={() => setHelping(true)}>{t("shortcuts")}</button>
      </nav>
      <CutOff />
      <main id="content" tabIndex={-1} className={place === "chat" || place === "memories" ? "content wide" : "content"}>
        {(isChoosingDay || !isToday(days) || place === "memories") && <DayStrip key={JSON.stringify(scope)} place={place} days={days} isAsked={isChoosingDay} />}
        <Boundary about={`${place} ${JSON.stringify(scope)}`}>
          <Screen key={JSON.stringify([scope, ASKED_ONCE.has(place) ? erasures : 0])} place={place} />
        </Boundary>
        {!can("read") && <p className="notice">{t("key.no_read")}</p>}
      </main>
      {isHelping && <Shortcuts places={PLACES} close={() => setHelping(false)} />}
    </div>
  );
}

/** The service is gone while a screen is shown: what it shows may be out of date. */
function CutOff() {
  const { t } = useAround();
  const isCutOff = useCutOff();
  return (
    <div className="cut-off-place" role="status">
      {isCutOff && <p className="cut-off"><Icon name="warn" /><span>{t("cut_off")}</span><button type="button" className="small" onClick={lookAgain}>{t("cut_off.look")}</button></p>}
    </div>
  );
}

function NotFound() {
  const { t } = useAround();
  const { scope } = useHere();
  return <div className="page"><Empty icon="look" title={t("not_found")}><p>{t("not_found.about")}</p><a className="button" href={linkTo(["overview"], scope)}>{t("not_found.home")}</a></Empty></div>;
}

function Screen({ place }: { place: Place["name"] | "missing" }) {
  if (place === "missing") return <NotFound />;
  const Lazy = LAZY[place] as ComponentType;
  return <Lazy />;
}

function ScopePicker() {
  const { t } = useAround();
  const { parts } = useRoute();
  const { scope, me, can } = useHere();
  const [isOpen, setOpen] = useState(false);
  // The way back leads to another place, and not to a dialog over it.
  useEffect(() => setOpen(false), [JSON.stringify([scope, parts])]);
  const own = (me.prefix ?? me.scope).join(" / ") || t("scope.own");
  return (
    <>
      <button type="button" className="scope-button" onClick={() => setOpen(true)} aria-haspopup="dialog" title={t("scope.choose")}>
        <span className="scope-label">{t("scope")}</span>
        <span className="scope-name">{scope.length ? scope.join(" / ") : own}</span>
      </button>
      {isOpen && <ChooseScope close={() => setOpen(false)} canList={can("below")} choose={(chosen) => { setOpen(false); go(linkTo([parts[0] ?? "overview"], chosen)); }} />}
    </>
  );
}
