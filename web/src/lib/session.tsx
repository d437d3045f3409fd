/** Who is here: the key's rights, the scope that is looked at, language, look, and what is told. */

import { createContext, useCallback, useContext, useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { Problem, unreachable } from "../api/problem";
import type { Me, Scope } from "../api/shapes";
import { LANGUAGES, languageOf, loadWords, translated, usualName, type Language, type Word } from "../words";
import { dayFormat, daysAgo, isWholeDay } from "./days";
import { listenToErasures } from "./erasures";
import type { YesNo } from "./pointer";
import { isSilent } from "./reach";
import { TOLD_CODES, whyRefused } from "./refusals";
import { browserShelf } from "./storage";

export type Theme = "auto" | "light" | "dark";

/** Told how much of a long act is done. */
export type Progress = (done: number, of: number) => void;

/** Takes back what was told of, or does again what failed. */
export interface ToastAct {
  (progress: Progress): Promise<unknown> | void;
  /** The change that it takes back, where that is listed, too. */
  of?: string;
  /** Call back once it can only fail; the answer gives that up. */
  watch?: (isOver: () => void) => () => void;
}

export interface Toast {
  id: number;
  text: string;
  kind: "done" | "wrong";
  act?: { word: "undo" | "again"; do: ToastAct };
  /** Leads to what was told of. */
  link?: ToastLink;
}

export interface ToastLink {
  word: Word;
  href: string;
  /** It leads to the receipt of an erase: the notice has none of the words that were erased. */
  isOfErase?: boolean;
}

interface Settings {
  language: Language;
  theme: Theme;
  shortcuts: boolean;
}

interface Around {
  settings: Settings;
  change: (settings: Partial<Settings>) => void;
  t: (word: Word, values?: Record<string, string | number>) => string;
  /** A type, a field, or what is said of one, in the reader's language where it is a usual one. */
  named: (text: string) => string;
  toasts: Toast[];
  tell: (text: string, undo?: ToastAct, link?: ToastLink) => void;
  complain: (error: unknown, again?: () => Promise<unknown>) => void;
  dismiss: (id: number) => void;
}

const SETTINGS_NAME = "recollect.page";
const AroundContext = createContext<Around | null>(null);

export function storedSettings(): Settings {
  const language = languageOf(navigator.languages);
  const usual: Settings = { language, theme: "auto", shortcuts: true };
  try {
    const stored = { ...usual, ...(JSON.parse(browserShelf.get(SETTINGS_NAME) ?? "{}") as Partial<Settings>) };
    return { ...stored, language: Object.hasOwn(LANGUAGES, stored.language) ? stored.language : language };
  } catch {
    return usual;
  }
}

export function AroundProvider({ children }: { children: ReactNode }) {
  const [settings, setSettings] = useState(storedSettings);
  const [toasts, setToasts] = useState<Toast[]>([]);
  const next = useRef(1);
  const t = useCallback(
    (word: Word, values?: Record<string, string | number>) => translated(settings.language, word, values),
    [settings.language],
  );
  const named = useCallback((text: string) => usualName(settings.language, text), [settings.language]);
  const dismiss = useCallback((id: number) => setToasts((all) => all.filter((each) => each.id !== id)), []);
  // Most quote what they tell of; that of the erase itself counts only.
  useEffect(() => listenToErasures(() => setToasts((all) => all.filter((each) => each.link?.isOfErase))), []);
  const show = useCallback((toast: Omit<Toast, "id">) => {
    const id = next.current++;
    // More than two, or the same one twice, would only lie over what they tell of.
    setToasts((all) => [...all.filter((each) => each.text !== toast.text).slice(-1), { ...toast, id }]);
  }, []);
  const tell = useCallback(
    (text: string, undo?: ToastAct, link?: ToastLink) => show({ text, kind: "done", act: undo && { word: "undo", do: undo }, link }),
    [show],
  );
  const complain = useCallback(
    (error: unknown, again?: () => Promise<unknown>) => show({ text: again && isSilent(error) ? t("act.unanswered") : sentenceOf(error, t), kind: "wrong", act: again && { word: "again", do: again } }),
    [show, t],
  );
  const change = useCallback((changed: Partial<Settings>) => {
    const set = () => setSettings((before) => {
      const after = { ...before, ...changed };
      browserShelf.set(SETTINGS_NAME, JSON.stringify(after));
      return after;
    });
    if (!changed.language) set();
    else loadWords(changed.language).then(set, () => complain(unreachable()));
  }, [complain]);
  useEffect(() => {
    const root = document.documentElement;
    root.lang = LANGUAGES[settings.language].tag;
    if (settings.theme === "auto") delete root.dataset.theme;
    else root.dataset.theme = settings.theme;
  }, [settings]);
  const value = useMemo(
    () => ({ settings, change, t, named, toasts, tell, complain, dismiss }),
    [settings, change, t, named, toasts, tell, complain, dismiss],
  );
  return <AroundContext.Provider value={value}>{children}</AroundContext.Provider>;
}

export function useAround(): Around {
  const around = useContext(AroundContext);
  if (!around) throw new Error("useAround() is used outside AroundProvider");
  return around;
}

/** How a yes or no in a value is said in the reader's language: as the form says it. */
export function useYesNo(): YesNo {
  const { t } = useAround();
  return useCallback((value: boolean) => t(value ? "form.yes" : "form.no"), [t]);
}

export function sentenceOf(error: unknown, t: Around["t"]): string {
  if (error instanceof Problem) {
    const own = OWN_CODES.find((each) => each === error.code);
    if (own) return t(`error.${own}`);
    const reason = whyRefused(error.reason, t);
    if (reason) return reason;
    if (error.detail) return t(`error.${wordedCode(error.code, t)}`, { detail: error.detail });
    return error.title ? t("error.untold", { title: error.title }) : t("error.unknown");
  }
  return error instanceof Error ? t("error.page", { message: error.message }) : t("error.unknown");
}

/** The codes of problems that the page itself finds. */
const OWN_CODES = ["unreachable", "cut", "garbled", "left", "stopped", "unreadable", "folder"] as const;
/** The code whose words are there: those of the rarer ones come with the problem. */
const wordedCode = (code: string, t: Around["t"]): (typeof TOLD_CODES)[number] | "told" =>
  TOLD_CODES.find((each) => each === code) ?? (code && t(`error.${code}` as Word) ? (code as (typeof TOLD_CODES)[number]) : "told");

interface Here {
  me: Me;
  scope: Scope;
  can: (permission: string) => boolean;
}

export const HereContext = createContext<Here | null>(null);

export function useHere(): Here {
  const here = useContext(HereContext);
  if (!here) throw new Error("useHere() is used outside a session");
  return here;
}

export interface Wording {
  number: (value: number, digits?: number) => string;
  moment: (iso: string | null | undefined) => string;
  day: (iso: string | number) => string;
  ago: (iso: string) => string;
}

/** How numbers and times are written in the language that was chosen. */
export function useWording(): Wording {
  const { settings } = useAround();
  return useMemo(() => {
    const { locale } = LANGUAGES[settings.language];
    const moment = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
    const day = dayFormat(locale);
    const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" });
    return {
      number: (value, digits = 0) =>
        new Intl.NumberFormat(locale, { maximumFractionDigits: digits, minimumFractionDigits: digits }).format(value),
      moment: (iso) => (!iso ? "" : isWholeDay(iso) ? day(iso) : moment.format(new Date(iso))),
      day,
      ago: (iso) => {
        if (isWholeDay(iso)) return Math.abs(daysAgo(iso)) < 30 ? relative.format(-daysAgo(iso), "day") : day(iso);
        const seconds = (Date.parse(iso) - Date.now()) / 1000;
        const size = Math.abs(seconds);
        if (size < 50) return relative.format(Math.round(seconds), "second");
        if (size < 3000) return relative.format(Math.round(seconds / 60), "minute");
        if (size < 80_000) return relative.format(Math.round(seconds / 3600), "hour");
        if (size < 30 * 86_400) return relative.format(Math.round(seconds / 86_400), "day");
        return day(iso);
      },
    };
  }, [settings.language]);
}
