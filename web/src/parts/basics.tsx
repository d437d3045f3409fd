/** Small pieces that all screens share. */

import { useEffect, useId, useRef, type FormEvent, type ReactNode } from "react";
import type { Memory, Scope } from "../api/shapes";
import { sentenceOf, useAround, useWording } from "../lib/session";
import { linkTo } from "../lib/route";
import { Icon, type IconName } from "./icons";

export function Wrong({ error, again }: { error: unknown; again?: () => void }) {
  const { t } = useAround();
  if (!error) return null;
  return (
    <div className="wrong" role="alert">
      <Icon name="warn" />
      <p>{sentenceOf(error, t)}</p>
      {again && (
        <button type="button" className="small" onClick={again}>
          {t("again")}
        </button>
      )}
    </div>
  );
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

export function Loading({ rows = 3 }: { rows?: number }) {
  const { t } = useAround();
  return (
    <div className="loading" role="status">
      <span className="unseen">{t("loading")}</span>
      {Array.from({ length: rows }, (_, place) => (
        <div key={place} className="bone" />
      ))}
    </div>
  );
}

export function More({ hasMore, isLoading, more }: { hasMore: boolean; isLoading: boolean; more: () => void }) {
  const { t } = useAround();
  if (!hasMore) return null;
  return (
    <button type="button" className="more" disabled={isLoading} onClick={more}>
      {t("more")}
    </button>
  );
}

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

export function StateBadge({ memory }: { memory: Pick<Memory, "state" | "valid_until"> }) {
  const { t } = useAround();
  if (memory.state === "rejected") return <Badge kind="wrong">{t("state.rejected")}</Badge>;
  if (memory.state === "quarantined") return <Badge kind="warn">{t("state.quarantined")}</Badge>;
  if (memory.valid_until && Date.parse(memory.valid_until) <= Date.now()) return <Badge>{t("state.ended")}</Badge>;
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
export function Dialog({ title, close, children, act }: {
  title: string;
  close: () => void;
  children: ReactNode;
  act?: (event: FormEvent) => void;
}) {
  const { t } = useAround();
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const element = dialog.current;
    if (element && !element.open) element.showModal();
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={heading} onClose={close} onCancel={close}>
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
  const { toasts, dismiss, complain, t } = useAround();
  return (
    <div className="toasts" role="status" aria-live="polite">
      {toasts.map((toast) => (
        <div key={toast.id} className={`toast toast-${toast.kind}`}>
          <span>{toast.text}</span>
          {toast.undo && (
            <button
              type="button"
              className="plain toast-undo"
              onClick={() => {
                dismiss(toast.id);
                Promise.resolve(toast.undo?.()).catch(complain);
              }}
            >
              {t("undo")}
            </button>
          )}
          <button type="button" className="plain icon-button" aria-label={t("close")} onClick={() => dismiss(toast.id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
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
