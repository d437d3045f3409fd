/** The Memories panel beside a talk: what was inferred so far, and when the next formation is. */

import { useEffect, useRef, useState } from "react";
import type { Memory, MemoryCounts, Thread } from "../api/shapes";
import { clock, useFormNow } from "../lib/form_now";
import { useNow } from "../lib/asking";
import { isEnded, isLater, newestFirst, ownFirst, speakerOf, timeOf } from "../lib/past";
import { linkTo } from "../lib/route";
import { isDocument } from "../lib/sentences";
import { useAround, useHere, useWording } from "../lib/session";
import { memoryLink, StateBadge, When } from "../parts/basics";
import { Icon } from "../parts/icons";
import { TypeName, TypeSign } from "../parts/said";
import { ActFailure, Empty, Failure, Loading } from "../parts/states";
import { Value } from "../parts/value";

const POLL_MS = 1_500;

export function MemoriesPanel({ thread, until, standing, isGivenUp, memories, counts, error, refresh, close }: {
  thread: string;
  /** The moment that is looked at; "" is now. */
  until: string;
  standing: Thread | null;
  /** Whether messages of it were given up: the thread itself counts them as formed. */
  isGivenUp: boolean;
  memories: Memory[] | undefined;
  /** How many are in force, where these are not all. */
  counts: MemoryCounts | undefined;
  error: unknown;
  refresh: () => void;
  close: () => void;
}) {
  const { t } = useAround();
  const { scope } = useHere();
  const wording = useWording();
  const isPast = until !== "";
  const at = isPast ? Date.parse(until) : Date.now();
  const active = (memories ?? []).filter((each) => each.state === "active");
  const names = byNewest(active);
  const fresh = useFresh(active);
  const panel = useRef<HTMLElement>(null);
  const newest = [...fresh].join(" ");
  useEffect(() => {
    if (newest) panel.current?.querySelector(".fresh")?.scrollIntoView({ block: "nearest" });
  }, [newest]);
  return (
    <aside ref={panel} className="panel" id="memories-panel" aria-label={t("memories")}>
      <header className="panel-head">
        <h2>{t("panel.title")}</h2>
        <button type="button" className="plain icon-button" onClick={close} aria-label={t("close")}><Icon name="close" /></button>
      </header>
      {!isPast && <Countdown thread={thread} standing={standing} isGivenUp={isGivenUp} refresh={refresh} />}
      <Failure error={error} again={refresh} />
      {!memories && !error && <Loading />}
      {memories && !active.length && (
        <Empty icon="memory" title={t(isPast ? "profile.nothing_then" : "panel.empty")}>{!isPast && <p>{t("panel.empty_about")}</p>}</Empty>
      )}
      {names.map((name) => (
        <section key={name} className="panel-type">
          <h3><TypeSign type={name} /><TypeName type={name} /> <span className="faint">{wording.number(counts?.types[name] ?? active.filter((each) => each.type === name && !isEnded(each, at) && !isLater(each, at)).length)}</span></h3>
          <ul>
            {trueFirst(active.filter((each) => each.type === name), at).map((memory) => (
              <li key={memory.key} className={`panel-memory${fresh.has(`${memory.type}/${memory.key}/${memory.version}`) ? " fresh" : ""}${isEnded(memory, at) ? " ended" : ""}`}>
                {isDocument(memory)
                  ? <Value value={memory.value} scope={scope} />
                  : <a className="said" href={memoryLink(memory, scope)}>{memory.sentence}</a>}
                <footer>
                  <StateBadge memory={memory} now={at} />
                  {speakerOf(memory) && <span className="memory-key">{speakerOf(memory)}</span>}
                  {isDocument(memory) && <a href={memoryLink(memory, scope)}>{t("panel.open")}</a>}
                  <When at={timeOf(memory)} />
                </footer>
              </li>
            ))}
          </ul>
        </section>
      ))}
      {counts && <a href={linkTo(["memories"], scope)}>{t("overview.all")}</a>}
    </aside>
  );
}

/** When it was said, whenever it is true from: one formation writes at once what was said over some minutes. */
const saidAt = (memory: Memory): number => Date.parse(timeOf({ ...memory, valid_from: null }));

/** What was said last stands first; what is over stands below what is true. */
const trueFirst = (memories: readonly Memory[], at: number): Memory[] => ownFirst([...memories].sort((one, other) => saidAt(other) - saidAt(one))).sort((one, other) => Number(isEnded(one, at)) - Number(isEnded(other, at)));

/** The types, that first of which something was written last. */
const byNewest = (memories: readonly Memory[]): string[] => [...new Set(newestFirst(memories).map((each) => each.type))];

/** Addresses with versions that were not there when the panel was first filled. */
function useFresh(memories: readonly Memory[]): ReadonlySet<string> {
  const first = useRef<Set<string> | null>(null);
  const names = memories.map((each) => `${each.type}/${each.key}/${each.version}`);
  if (first.current === null && names.length) first.current = new Set(names);
  return new Set(names.filter((name) => !first.current?.has(name)));
}

function Countdown({ thread, standing, isGivenUp, refresh }: { thread: string; standing: Thread | null; isGivenUp: boolean; refresh: () => void }) {
  const { t } = useAround();
  const { me, scope, can } = useHere();
  const forming = useFormNow(refresh);
  const isForming = forming.isBusy;
  const [arrived, setArrived] = useState(Date.now());
  useEffect(() => setArrived(Date.now()), [standing]);
  const isPending = standing !== null && standing.formed < standing.last;
  const now = useNow(250, isPending);
  const left_s = isPending && standing.due_in_s !== null ? Math.max(0, standing.due_in_s - (now - arrived) / 1000) : null;
  const isDue = isPending && left_s !== null && left_s <= 0;
  useEffect(() => {
    if (!isDue || !me.model) return;
    const timer = setInterval(refresh, POLL_MS);
    return () => clearInterval(timer);
  }, [isDue, refresh, me.model]);
  if (!me.model) return <p className="countdown"><Icon name="form" /><span>{t("panel.no_model")}</span></p>;
  const whole_s = Math.max(me.quiet_s, 1);
  return (
    <div className="countdown">
      <Ring share={left_s === null ? 0 : Math.min(1, left_s / whole_s)} />
      <div className="countdown-words">
        {!isPending && <strong>{t(isGivenUp ? "given_up" : "panel.nothing_pending")}</strong>}
        {isPending && standing.state === "paused" && <strong>{t("panel.paused")}</strong>}
        {isPending && standing.state !== "paused" && (
          <strong>{isDue || isForming ? t("panel.forming") : left_s === null ? t("panel.waiting") : t("panel.in", { time: clock(left_s) })}</strong>
        )}
        {isPending && <span className="faint">{t("panel.messages", { count: standing.waiting })}</span>}
        {isGivenUp && <a href={linkTo(["formation"], scope)}>{t("formation")}</a>}
      </div>
      {can("write") && <button type="button" className="small" disabled={!isPending || isForming} onClick={() => forming.form(thread)}>{t("panel.form_now")}</button>}
      <ActFailure act={forming} />
    </div>
  );
}

function Ring({ share }: { share: number }) {
  const length = 2 * Math.PI * 9;
  return (
    <svg className="ring" viewBox="0 0 24 24" aria-hidden="true">
      <circle cx="12" cy="12" r="9" className="ring-back" />
      <circle cx="12" cy="12" r="9" className="ring-front" strokeDasharray={length} strokeDashoffset={length * (1 - share)} />
    </svg>
  );
}
