/** Small pieces that all screens share. */

import { useEffect, useId, useRef, useState, type FormEvent, type ReactNode } from "react";
import { canPass } from "../api/problem";
import type { Memory, Scope } from "../api/shapes";
import { useAct } from "../lib/act";
import { isEnded, isLater } from "../lib/past";
import { useAround, useWording, type Toast } from "../lib/session";
import { linkTo } from "../lib/route";
import { Icon } from "./icons";
import { ActFailure } from "./states";

export function Field({ label, hint, children }: { label: string; hint?: string; children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(id)}
      {hint && <p className="hint">{hint}</p>}
    </div>
  );
}

export function Badge({ kind, children }: { kind?: string; children: ReactNode }) {
  return <span className={kind ? `badge badge-${kind}` : "badge"}>{children}</span>;
}

/** What keeps a memory from being in force: the day beside it is that on which it began, so an end has its own. */
export function StateBadge({ memory, now = Date.now() }: { memory: Pick<Memory, "state" | "valid_from" | "valid_until">; now?: number }) {
  const { t } = useAround();
  const wording = useWording();
  if (memory.state === "rejected") return <Badge kind="wrong">{t("state.rejected")}</Badge>;
  if (memory.state === "quarantined") return <Badge kind="warn">{t("state.quarantined")}</Badge>;
  if (isEnded(memory, now)) return <Badge>{t("state.ended", { when: wording.ago(memory.valid_until ?? "") })}</Badge>;
  if (isLater(memory, now)) return <Badge>{t("state.later")}</Badge>;
  return null;
}

export function When({ at }: { at: string | null | undefined }) {
  const wording = useWording();
  if (!at) return null;
  return (
    <time dateTime={at} title={wording.moment(at)}>
      {wording.ago(at)}
    </time>
  );
}

export function ScopeName({ scope }: { scope: Scope }) {
  const { t } = useAround();
  if (!scope.length) return <span>{t("scope.own")}</span>;
  return <span>{scope.join(" / ")}</span>;
}

export function memoryLink(memory: Pick<Memory, "type" | "key">, scope: Scope): string {
  return linkTo(["memories", memory.type, memory.key], scope);
}

/** A modal dialog: the browser keeps the focus in it, and Escape closes it. */
export function Dialog({ title, close, children, act, isWide = false }: {
  title: string;
  close: () => void;
  children: ReactNode;
  act?: (event: FormEvent) => void;
  isWide?: boolean;
}) {
  const { t } = useAround();
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    if (element && !element.open) element.showModal();
    // Else the button that closes it has the focus, and what is typed at once is lost.
    element?.querySelector<HTMLElement>("[data-first]")?.focus();
    // A dialog that is taken away leaves the focus nowhere: it goes back to where it was asked for.
    return () => {
      if (document.activeElement === document.body && before instanceof HTMLElement) before.focus({ preventScroll: true });
    };
  }, []);
  return (
    <dialog ref={dialog} className={isWide ? "wide" : undefined} aria-labelledby={heading} onClose={close} onCancel={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          act?.(event);
        }}
      >
        <header className="dialog-head">
          <h2 id={heading}>{title}</h2>
          <button type="button" className="plain icon-button" onClick={close} aria-label={t("close")}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </form>
    </dialog>
  );
}

export function Toasts() {
  const { toasts } = useAround();
  return (
    <div className="toasts" role="status" aria-live="polite">
      {toasts.map((toast) => <Told key={toast.id} toast={toast} />)}
    </div>
  );
}

const TOAST_MS = 5_000;
/** What leads somewhere, or can be undone, stays for longer: it has to be read, and reached. Later, the Undo is where the change is listed. */
const LONG_TOAST_MS = 12_000;

/** What was told: it goes by itself, but not while it is looked at, or what it offers is under way or has failed. */
function Told({ toast }: { toast: Toast }) {
  const { dismiss, t } = useAround();
  const act = useAct();
  const [share, setShare] = useState<number | null>(null);
  const [isHeld, setHeld] = useState({ hover: false, focus: false });
  // What was refused, as the Undo of what was changed since, is not offered again: then the notice goes, too.
  const isRefused = Boolean(act.error) && !canPass(act.error);
  const [isOver, setOver] = useState(false);
  useEffect(() => toast.act?.do.watch?.(() => setOver(true)), []);
  const offered = isRefused || isOver ? undefined : toast.act;
  const stays = isHeld.hover || isHeld.focus || act.isBusy || (Boolean(act.error) && !isRefused) || (toast.kind === "wrong" && offered !== undefined);
  const isLong = Boolean(toast.link ?? toast.act);
  const box = useRef<HTMLDivElement>(null);
  // A button that goes from under the pointer, or with the focus, tells of neither.
  useEffect(() => setHeld({ hover: false, focus: Boolean(box.current?.contains(document.activeElement)) }), [offered === undefined]);
  useEffect(() => {
    if (stays) return;
    const timer = setTimeout(() => dismiss(toast.id), isLong ? LONG_TOAST_MS : TOAST_MS);
    return () => clearTimeout(timer);
  }, [stays, toast.id, isLong, dismiss]);
  return (
    <div
      ref={box}
      className={`toast toast-${toast.kind}`}
      onPointerEnter={() => setHeld((before) => ({ ...before, hover: true }))}
      onPointerLeave={() => setHeld((before) => ({ ...before, hover: false }))}
      onFocus={() => setHeld((before) => ({ ...before, focus: true }))}
      onBlur={() => setHeld((before) => ({ ...before, focus: false }))}
    >
      <span>{toast.text}</span>
      {toast.link && <a className="toast-link" href={toast.link.href} onClick={() => dismiss(toast.id)}>{t(toast.link.word)}</a>}
      {act.isBusy && share !== null && <progress value={share} aria-label={t("undo.going")} />}
      {offered && (
        <button
          type="button"
          className="plain toast-undo"
          disabled={act.isBusy}
          onClick={() => void act.run({ request: async () => offered.do((done, of) => setShare(done / of)), succeed: () => dismiss(toast.id) })}
        >
          {t(offered.word)}
        </button>
      )}
      <button type="button" className="plain icon-button" aria-label={t("close")} onClick={() => dismiss(toast.id)}>
        <Icon name="close" />
      </button>
      <ActFailure act={act} />
    </div>
  );
}

export function PageHead({ title, about, children }: { title: string; about?: string; children?: ReactNode }) {
  return (
    <header className="page-head">
      <div>
        <h1 tabIndex={-1}>{title}</h1>
        {about && <p className="about">{about}</p>}
      </div>
      {children && <div className="page-acts">{children}</div>}
    </header>
  );
}
