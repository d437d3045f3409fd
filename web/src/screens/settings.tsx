/** Settings: looks, what is kept and used, keys, export and import, erase with a preview, the audit. */

import { Fragment, useEffect, useId, useState, type ReactNode } from "react";
import { api, storeKey, storedKey } from "../api/client";
import { isGone, mayBeDone } from "../api/problem";
import type { ErasePreview, EraseTarget, Key } from "../api/shapes";
import { useAct } from "../lib/act";
import { useAsked, useLater, usePages } from "../lib/asking";
import { actionSaid, namedOnce, objectsSaid, threadNamed } from "../lib/audit_words";
import { useChanges } from "../lib/changes";
import { forgetDrafts } from "../lib/drafts";
import { noteKeyFrom } from "../lib/key_handover";
import { isNothing } from "../lib/erase_reach";
import { forgetAllChanges } from "../lib/kept_changes";
import { keptTalks } from "../lib/kept_talks";
import { outbox } from "../lib/outbox";
import { lastDays, type Day } from "../lib/overview";
import { linkTo, useRoute } from "../lib/route";
import { useAround, useHere, useWording, type Theme } from "../lib/session";
import { modelName } from "../lib/model_name";
import { forgetSought } from "../lib/sought";
import { forgetAllUnanswered } from "../lib/unanswered";
import { daysIn } from "../lib/usage";
import { forgetAllWritten } from "../lib/written_here";
import { Badge, Dialog, Field, PageHead, ScopeName, When } from "../parts/basics";
import { Boundary } from "../parts/boundary";
import { CopyButton } from "../parts/copy_button";
import { DayInput } from "../parts/day_input";
import { ActFailure, Failure, Loading, More } from "../parts/states";
import { ThreadName } from "../parts/thread_name";
import { LANGUAGE_NAMES, LANGUAGES, type Language, type Word } from "../words";
import { Export, Import } from "./archive";
import { ConfirmErase, nothingWord } from "./erase_dialog";
import { EraseReceipts } from "./erase_receipts";
import { HealthReport } from "./settings_health";

export default function Settings() {
  const { t } = useAround();
  const { me, can } = useHere();
  return (
    <div className="page">
      <PageHead title={t("settings")} about={t("settings.about", { version: me.version })} />
      {can("admin") && <Ways />}
      <div className="two">
        <Looks />
        <About />
      </div>
      <div className="two">
        {can("write") && <Part id="import" title={t("import")} about={t("import.about")}><Import /></Part>}
        <div className="stack">
          <Part id="export" title={t("export")} about={t("export.about")}><Export /></Part>
          {can("erase") && <Erase />}
        </div>
      </div>
      {can("admin") && <Keys />}
      {can("admin") && <Usage />}
      {can("admin") && <Part id="health" title={t("health")} about={t("health.about")}><HealthReport /></Part>}
      {can("admin") && <Audit />}
    </div>
  );
}

const WAYS = ["import", "export", "erase", "keys", "usage", "health", "audit"] as const;

/** The way to each part of a long screen. */
function Ways() {
  const { t } = useAround();
  const { scope, can } = useHere();
  const { query } = useRoute();
  const part = query.get("part");
  useEffect(() => {
    if (part) document.getElementById(part)?.scrollIntoView({ block: "start" });
  }, [part]);
  const ways = WAYS.filter((each) => (each !== "import" || can("write")) && (each !== "erase" || can("erase")));
  return (
    <nav className="ways" aria-label={t("settings.ways")}>
      {ways.map((each) => <a key={each} className="chip" href={linkTo(["settings"], scope, { part: each })} onClick={() => document.getElementById(each)?.scrollIntoView({ block: "start" })}>{t(each)}</a>)}
    </nav>
  );
}

function Part({ id, title, about, children }: { id?: string; title: string; about?: string; children: ReactNode }) {
  return (
    <section className="block" id={id}>
      <h2>{title}</h2>
      {about && <p className="hint">{about}</p>}
      <Boundary about={title}>{children}</Boundary>
    </section>
  );
}

/** Forget the key, and with it what was said and not yet sent under it. */
function leave() {
  storeKey(null);
  noteKeyFrom("left");
  outbox.clear();
  forgetDrafts();
  forgetSought();
  keptTalks.forget();
  forgetAllChanges();
  forgetAllWritten();
  forgetAllUnanswered();
  location.reload();
}

function Looks() {
  const { t, settings, change } = useAround();
  return (
    <Part title={t("settings.looks")}>
      <Field label={t("settings.language")}>{(id) => <select id={id} value={settings.language} onChange={(event) => change({ language: event.target.value as Language })}>{LANGUAGE_NAMES.map((each) => <option key={each} value={each} lang={LANGUAGES[each].tag}>{LANGUAGES[each].name}</option>)}</select>}</Field>
      <Field label={t("settings.theme")}>{(id) => <select id={id} value={settings.theme} onChange={(event) => change({ theme: event.target.value as Theme })}><option value="auto">{t("theme.auto")}</option><option value="light">{t("theme.light")}</option><option value="dark">{t("theme.dark")}</option></select>}</Field>
      <label className="check"><input type="checkbox" checked={settings.shortcuts} onChange={(event) => change({ shortcuts: event.target.checked })} />{t("settings.shortcuts")}</label>
    </Part>
  );
}

function About() {
  const { t } = useAround();
  const { me } = useHere();
  const rows = [
    [t("scope"), (me.prefix ?? me.scope).join(" / ") || t("scope.own")],
    [t("settings.permissions"), PERMISSIONS.filter((each) => me.permissions.includes(each)).map((each) => t(`permission.${each}`)).join(t("permission.between"))],
    [t("settings.model"), me.model ? modelName(me.model, t) : t("settings.none")],
    [t("settings.embedder"), me.embedder && me.embedder !== "none" ? me.embedder : t("settings.none")],
  ] as const;
  return (
    <Part title={t("settings.here")}>
      <dl className="facts">{rows.map(([label, value]) => <div key={label}><dt>{label}</dt><dd>{value}</dd></div>)}</dl>
      {storedKey() && <button type="button" onClick={leave}>{t("settings.leave")}</button>}
    </Part>
  );
}

function Usage() {
  const { t } = useAround();
  const { me, scope } = useHere();
  const wording = useWording();
  const usage = useAsked(() => api.usage(scope), [scope]);
  useChanges(scope, () => void setTimeout(usage.again, COUNTED_MS));
  const days = usage.value ? daysIn(usage.value) : [];
  const quotas = QUOTAS.flatMap((name) => { const most = me.limits[`${name}_a_day`]; return most ? [`${countName(name, t)} ${wording.number(most)}`] : []; });
  // Requests are counted where their key is bound: in a scope below it "0" would be said to whoever has just asked.
  const names = [...new Set(days.flatMap((each) => Object.keys(each.counts)))].filter((name) => name !== "requests" || days.some(({ counts }) => counts[name]));
  // Plots of nothing but zeros say no more than a sentence.
  const isUsed = days.some((each) => Object.values(each.counts).some((count) => count > 0));
  return (
    <Part id="usage" title={t("usage")} about={t("usage.about")}>
      {quotas.length > 0 && <p>{t("usage.quotas", { tenant: me.prefix?.[0] ?? t("scope.own"), quotas: quotas.join(" · ") })}</p>}
      <Failure error={usage.error} again={usage.again} />
      {!usage.value && !usage.error && <Loading rows={2} />}
      {usage.value && !isUsed && <p className="faint">{t("usage.none")}</p>}
      {isUsed && <div className="usage">{names.map((name) => <Bars key={name} name={name} days={days} />)}</div>}
    </Part>
  );
}

const DAYS = 30;
/** The service writes its counts down every five seconds. */
const COUNTED_MS = 6_000;
/** What a tenant may write in a day, where the service limits it. */
const QUOTAS = ["messages", "memories", "bytes"] as const;
const COUNTS = ["requests", "messages", "memories", "bytes", "recalls", "calls", "tokens"] as const;

function countName(name: string, t: ReturnType<typeof useAround>["t"]): string {
  const known = COUNTS.find((each) => each === name);
  return known ? t(`count.${known}`) : name.replaceAll("_", " ");
}

function Bars({ name, days }: { name: string; days: readonly Day[] }) {
  const { t } = useAround();
  const wording = useWording();
  const shown = lastDays(days, name, DAYS, Date.now());
  const most = Math.max(1, ...shown.map((each) => each.value));
  const sum = shown.reduce((total, each) => total + each.value, 0);
  return (
    <figure className="bars">
      <figcaption>{countName(name, t)} <strong>{wording.number(sum)}</strong></figcaption>
      <svg viewBox={`0 0 ${DAYS * 10} 40`} preserveAspectRatio="none" role="img" aria-label={`${countName(name, t)}: ${wording.number(sum)}`}>
        {shown.map((each, place) => {
          const height = (each.value / most) * 38;
          return <rect key={each.day} x={place * 10 + 1} y={40 - height} width={8} height={height}><title>{`${wording.day(each.day)}: ${wording.number(each.value)}`}</title></rect>;
        })}
      </svg>
    </figure>
  );
}

const PERMISSIONS = ["read", "write", "erase", "below", "admin"] as const;

function Keys() {
  const { t } = useAround();
  const keys = useAsked(() => api.keys(), []);
  const [isMaking, setMaking] = useState(false);
  const [shown, setShown] = useState<Key | null>(null);
  return (
    <Part id="keys" title={t("keys")} about={t("keys.about")}>
      <Failure error={keys.error} again={keys.again} />
      {!keys.value && !keys.error && <Loading rows={2} />}
      {keys.value && !keys.value.keys.length && <p className="faint">{t("keys.none")}</p>}
      {keys.value && keys.value.keys.length > 0 && (
        <div className="scrolled" tabIndex={0} role="region" aria-label={t("keys")}>
          <table className="plain-table">
            <thead><tr><th scope="col">{t("keys.name")}</th><th scope="col">{t("scope")}</th><th scope="col">{t("settings.permissions")}</th><th scope="col">{t("keys.used")}</th><th scope="col">{t("keys.expires")}</th><th scope="col"><span className="unseen">{t("memory.acts")}</span></th></tr></thead>
            <tbody>
              {keys.value.keys.map((key) => <KeyRow key={key.id} of={key} changed={keys.again} show={setShown} />)}
            </tbody>
          </table>
        </div>
      )}
      <button type="button" onClick={() => setMaking(true)}>{t("keys.make")}</button>
      {isMaking && <MakeKey close={() => setMaking(false)} made={(key) => { setMaking(false); setShown(key); }} changed={keys.again} />}
      {shown && (
        <Dialog title={t("keys.once")} close={() => setShown(null)} act={() => setShown(null)}>
          <p>{t("keys.once_about")}</p>
          <div data-copied><code className="secret">{shown.key}</code><CopyButton text={shown.key ?? ""} /></div>
          <footer className="dialog-acts"><button type="submit" className="accent">{t("keys.noted")}</button></footer>
        </Dialog>
      )}
    </Part>
  );
}

/** The name that the service gives the key which it makes itself. */
const FIRST_KEY = "first";

function KeyRow({ of: key, changed, show }: { of: Key; changed: () => void; show: (key: Key) => void }) {
  const { t, tell } = useAround();
  const wording = useWording();
  const act = useAct(changed);
  const rotate = () =>
    void act.run({
      request: () => api.rotateKey(key.id),
      succeed: (rotated) => {
        show(rotated);
        tell(t("keys.rotated"));
      },
    });
  const revoke = () =>
    void act.run({
      request: () => api.removeKey(key.id).then(() => true),
      outcome: async () => !(await api.keys()).keys.some((each) => each.id === key.id) || undefined,
      succeed: () => tell(t("keys.revoked")),
    });
  return (
    <>
      <tr>
        <td>{key.name}<br /><code className="faint">{key.id}</code>{key.name === FIRST_KEY && <p className="hint">{t("keys.first")}</p>}</td>
        <td><ScopeName scope={key.scope} /></td>
        <td>{PERMISSIONS.filter((each) => key.permissions.includes(each)).map((each) => t(`permission.${each}`)).join(t("permission.between"))}</td>
        <td>{key.last_used_at ? <When at={key.last_used_at} /> : <span className="faint">{t("health.never")}</span>}</td>
        <td>{key.expires_at ? <>{wording.moment(key.expires_at)}{Date.parse(key.expires_at) <= Date.now() && <> <Badge kind="wrong">{t("keys.expired")}</Badge></>}</> : <span className="faint">{t("keys.no_end")}</span>}</td>
        <td><div className="table-acts">
          <button type="button" className="small" disabled={act.isBusy} onClick={rotate}>{t("keys.rotate")}</button>
          <button type="button" className="small danger" disabled={act.isBusy} onClick={revoke}>{t("keys.revoke")}</button>
        </div></td>
      </tr>
      {Boolean(act.error) && <tr><td colSpan={6}><ActFailure act={act} /></td></tr>}
    </>
  );
}

function MakeKey({ close, made, changed }: { close: () => void; made: (key: Key) => void; changed: () => void }) {
  const { t } = useAround();
  const { scope, me } = useHere();
  const [name, setName] = useState("");
  const [where, setWhere] = useState(scope.join("\n"));
  const [permissions, setPermissions] = useState<string[]>(["read", "write"]);
  const [expires, setExpires] = useState("");
  const act = useAct(changed);
  const make = () =>
    void act.run({
      request: () => api.makeKey({ name, scope: where.split("\n").filter(Boolean), permissions, expires_at: expires ? new Date(expires).toISOString() : null }),
      succeed: made,
    });
  return (
    <Dialog title={t("keys.make")} close={close} act={make}>
      <Field label={t("keys.name")}>{(id) => <input id={id} value={name} required onChange={(event) => setName(event.target.value)} />}</Field>
      <Field label={t("scope")} hint={t("keys.scope_hint")}>{(id) => <textarea id={id} rows={3} value={where} onChange={(event) => setWhere(event.target.value)} />}</Field>
      <fieldset className="checks">
        <legend>{t("settings.permissions")}</legend>
        {PERMISSIONS.filter((each) => me.permissions.includes(each)).map((each) => (
          <label key={each} className="check"><input type="checkbox" checked={permissions.includes(each)} onChange={(event) => setPermissions(event.target.checked ? [...permissions, each] : permissions.filter((other) => other !== each))} />{t(`permission.${each}`)}</label>
        ))}
      </fieldset>
      <Field label={t("keys.expires")}>{(id) => <DayInput id={id} value={expires} onChange={(event) => setExpires(event.target.value)} />}</Field>
      <ActFailure act={act} />
      {Boolean(act.error) && mayBeDone(act.error) && <p className="notice">{t("keys.maybe_made")}</p>}
      <footer className="dialog-acts"><button type="button" onClick={close}>{t("cancel")}</button><button type="submit" className="accent" disabled={act.isBusy}>{t("keys.make")}</button></footer>
    </Dialog>
  );
}

type TargetKind = "thread" | "message" | "memory" | "source" | "scope";
const TARGETS: readonly TargetKind[] = ["thread", "message", "memory", "source", "scope"];
const TARGET_WORDS = {
  thread: "erase.thread_target", message: "erase.message_target", memory: "erase.memory", source: "erase.source_target", scope: "erase.scope",
} as const;

function Erase() {
  const { t } = useAround();
  const { scope } = useHere();
  const [kind, setKind] = useState<TargetKind>("thread");
  const [one, setOne] = useState("");
  const [other, setOther] = useState("");
  const [preview, setPreview] = useState<{ target: EraseTarget; found: ErasePreview } | null>(null);
  const [none, setNone] = useState<Word | null>(null);
  const known = useErasable(kind, one);
  const list = useId();
  const receipts = useAsked(() => api.receipts(scope), [scope]);
  const previewing = useAct();
  const ask = () => {
    const target = targetOf(kind, one.trim(), other.trim());
    setNone(null);
    void previewing.run({ request: () => api.previewErase(scope, target), succeed: (found) => (isNothing(found) ? setNone(nothingWord(target)) : setPreview({ target, found })) });
  };
  const needsTwo = kind === "memory" || kind === "message";
  return (
    <Part id="erase" title={t("erase")} about={t("erase.about")}>
      <form className="erase" onSubmit={(event) => { event.preventDefault(); ask(); }}>
        <Field label={t("erase.what")}>{(id) => <select id={id} value={kind} onChange={(event) => { setKind(event.target.value as TargetKind); setOne(""); setOther(""); setNone(null); }}>{TARGETS.map((each) => <option key={each} value={each}>{t(TARGET_WORDS[each])}</option>)}</select>}</Field>
        {kind !== "scope" && <Field label={t(kind === "memory" ? "memories.type" : kind === "source" ? "erase.source" : "chat.talk")} hint={kind === "thread" || kind === "message" ? t("erase.thread_about") : undefined}>{(id) => <input id={id} value={one} required autoComplete="off" list={`${list}-one`} onChange={(event) => setOne(event.target.value)} />}</Field>}
        {needsTwo && <Field label={t(kind === "memory" ? "memory.key" : "erase.message")}>{(id) => <input id={id} value={other} required autoComplete="off" list={`${list}-other`} onChange={(event) => setOther(event.target.value)} />}</Field>}
        <datalist id={`${list}-one`}>{known.ones.map((each) => <option key={each.value} value={each.value}>{each.label}</option>)}</datalist>
        <datalist id={`${list}-other`}>{known.others.map((each) => <option key={each.value} value={each.value}>{each.label}</option>)}</datalist>
        {none && <p className="notice" role="alert">{t(none)}</p>}
        <ActFailure act={previewing} />
        <button type="submit" className="danger" disabled={previewing.isBusy || (kind !== "scope" && !one.trim()) || (needsTwo && !other.trim())}>{t("erase.preview")}</button>
      </form>
      <Failure error={receipts.error} again={receipts.again} />
      {receipts.value && <EraseReceipts receipts={receipts.value.receipts} />}
      {preview && <ConfirmErase target={preview.target} preview={preview.found} close={() => setPreview(null)} done={() => { setPreview(null); setOne(""); setOther(""); receipts.again(); }} />}
    </Part>
  );
}

interface Offered {
  value: string;
  label: string;
}

/** What can be chosen for the fields, each named by what it says: ids say nothing to people. */
function useErasable(kind: TargetKind, one: string): { ones: Offered[]; others: Offered[] } {
  const { scope } = useHere();
  const ones = useAsked(() => firstOffered(scope, kind), [scope, kind]);
  const named = useLater(one.trim(), 300);
  const others = useAsked(() => (named ? secondOffered(scope, kind, named) : Promise.resolve([])), [scope, kind, named]);
  return { ones: ones.value ?? [], others: others.value ?? [] };
}

async function firstOffered(scope: string[], kind: TargetKind): Promise<Offered[]> {
  if (kind === "memory") return (await api.types(scope)).types.map(({ name }) => ({ value: name, label: name }));
  if (kind !== "thread" && kind !== "message") return [];
  const { threads } = await api.threads(scope, { limit: 50 });
  const first = await Promise.all(threads.map((each) => api.messages(scope, each.id, { after: 0, limit: 1 }).then(({ messages }) => messages[0]?.text ?? "", () => "")));
  return threads.map(({ id }, at) => ({ value: id, label: (first[at] || id).slice(0, OFFERED_CHARACTERS) }));
}

async function secondOffered(scope: string[], kind: TargetKind, one: string): Promise<Offered[]> {
  if (kind === "memory") return (await api.memories(scope, { type: one, limit: 200 })).memories.map(({ key, sentence }) => ({ value: key, label: sentence.slice(0, OFFERED_CHARACTERS) }));
  if (kind !== "message") return [];
  return (await api.messages(scope, one, { last: 200 })).messages.reverse().map(({ id, text }) => ({ value: id, label: text.slice(0, OFFERED_CHARACTERS) }));
}

const OFFERED_CHARACTERS = 100;

function targetOf(kind: TargetKind, one: string, other: string): EraseTarget {
  if (kind === "scope") return { scope: true };
  if (kind === "memory") return { memory: { type: one, key: other } };
  if (kind === "message") return { message: { thread: one, id: other } };
  return kind === "thread" ? { thread: one } : { source: one };
}

/** An object of an audited change; a thread, or that of a message, by its first words. */
function AuditName({ name }: { name: string }) {
  const { t } = useAround();
  const { scope } = useHere();
  const thread = threadNamed(name);
  return thread ? <>{t("chat.talk")} <ThreadName thread={thread} scope={scope} id={name} /></> : name;
}

function Audit() {
  const { t, tell } = useAround();
  const { scope } = useHere();
  const verifying = useAct();
  const audit = usePages((cursor) => api.audit(scope, cursor), (answer) => answer.audit, [scope]);
  useChanges(scope, audit.again);
  // Each thread that is named is asked for: not before somebody looks.
  const [isOpen, setOpen] = useState(false);
  const verify = () =>
    void verifying.run({
      request: () => api.verifyAudit(scope),
      succeed: (answer) => tell(answer.ok ? t("audit.ok", { count: answer.rows }) : t("audit.broken", { row: answer.broken_at ?? 0 })),
    });
  if (isGone(audit.error)) return null;
  return (
    <Part id="audit" title={t("audit")} about={t("audit.about")}>
      <p><button type="button" disabled={verifying.isBusy} onClick={verify}>{t("audit.verify")}</button></p>
      <ActFailure act={verifying} />
      <Failure error={audit.error} again={audit.again} />
      {audit.rows.length > 0 && (
        <details className="fold" onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>{t("audit.rows")}</summary>
          {isOpen && <>
          <div className="scrolled" tabIndex={0} role="region" aria-label={t("audit")}>
            <table className="plain-table">
              <tbody>{audit.rows.map((row) => <tr key={row.n}><td className="faint">{row.n}</td><td><When at={row.at} /></td><td>{row.actor}</td><td title={row.action}>{actionSaid(row.action, t)}</td><td>{row.names?.length ? namedOnce(row.names).map((name, place) => <Fragment key={name}>{place > 0 && t("recall.part_between")}<AuditName name={name} /></Fragment>) : objectsSaid(row, t)}</td></tr>)}</tbody>
            </table>
          </div>
          <More hasMore={audit.hasMore} isLoading={audit.isLoading} more={audit.more} error={audit.moreError} />
          </>}
        </details>
      )}
    </Part>
  );
}
