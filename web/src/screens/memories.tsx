/** Memories: a list that the service pages, filters and searches, and one memory in full beside it. */

import { useEffect, useState } from "react";
import { api } from "../api/client";
import { Problem } from "../api/problem";
import type { JsonObject, Memory, MemoryType } from "../api/shapes";
import { useAct } from "../lib/act";
import { useAsked, useChanges, useLater, usePages } from "../lib/asking";
import { dayOf, earliestOf, endOf } from "../lib/days";
import { standing } from "../lib/memory_acts";
import { isSame } from "../lib/outcomes";
import { speakerOf, timeOf } from "../lib/past";
import { go, linkTo, useRoute } from "../lib/route";
import { faultsIn } from "../lib/schema_form";
import { useAround, useHere } from "../lib/session";
import { useTitle } from "../lib/title";
import { Dialog, Field, memoryLink, PageHead, ScopeName, StateBadge, When } from "../parts/basics";
import { Boundary } from "../parts/boundary";
import { DaySlider } from "../parts/day_slider";
import { Icon } from "../parts/icons";
import { Said, TypeName, TypeSign } from "../parts/said";
import { ActFailure, Empty, Failure, Loading, More } from "../parts/states";
import { useValueDraft, ValueForm } from "../parts/value_form";
import { newName } from "./chat";
import { MemoryView } from "./memory";

const PAGE = 40;
/** Of a type that nobody described: it is written as JSON. */
const NO_SCHEMA: JsonObject = {};
const NOTHING: JsonObject = {};
const STATES = ["active", "quarantined", "rejected"] as const;

export default function Memories() {
  const { t } = useAround();
  const { parts, query } = useRoute();
  const { scope, can } = useHere();
  const [, type, key] = parts;
  const filters = { type: query.get("type") ?? "", state: query.get("state") ?? "", q: query.get("q") ?? "", below: query.get("below") ?? "", on: query.get("on") ?? "" };
  const link = (changed: Partial<typeof filters>) => linkTo(type && key ? ["memories", type, key] : ["memories"], scope, { ...filters, ...changed });
  const [typed, setTyped] = useState(filters.q);
  const words = useLater(typed, 250);
  useEffect(() => {
    if (words !== filters.q) go(link({ q: words }), true);
  }, [words]);
  const types = useAsked(() => api.types(scope), [scope]);
  const memories = usePages(
    (cursor, signal) => api.memories(scope, queryOf(filters, cursor), signal),
    (answer) => answer.memories,
    [scope, filters],
  );
  useChanges(scope, memories.again);
  const [first, setFirst] = useState<string>();
  useEffect(() => setFirst((before) => earliestOf(memories.rows, before)), [memories.rows]);
  const [isAdding, setAdding] = useState(false);
  const names = [...new Set([...(types.value?.types ?? []).map((each) => each.name), ...memories.rows.map((each) => each.type)])];
  const isOpen = Boolean(type && key);
  useTitle(t("memories"), isOpen ? undefined : "");
  return (
    <div className={isOpen ? "halves open" : "halves"}>
      <section className="half-list" aria-label={t("memories")}>
        <PageHead title={t("memories")} about={isOpen ? undefined : t("memories.about")}>
          {can("write") && <button type="button" onClick={() => setAdding(true)}><Icon name="plus" />{t("memories.add")}</button>}
        </PageHead>
        <search className="filters">
          <input type="search" id="search" value={typed} placeholder={t("memories.search")} aria-label={t("memories.search")} onChange={(event) => setTyped(event.target.value)} />
          <select aria-label={t("memories.type")} value={filters.type} onChange={(event) => go(link({ type: event.target.value }), true)}>
            <option value="">{t("memories.all_types")}</option>
            {names.map((name) => <option key={name}>{name}</option>)}
          </select>
          <select aria-label={t("memories.state")} value={filters.state} onChange={(event) => go(link({ state: event.target.value }), true)}>
            <option value="">{t("memories.all_states")}</option>
            {STATES.map((state) => <option key={state} value={state}>{t(`state.${state}`)}</option>)}
          </select>
          {can("below") && (
            <label className="check">
              <input type="checkbox" checked={filters.below === "1"} onChange={(event) => go(link({ below: event.target.checked ? "1" : "" }), true)} />
              {t("memories.below")}
            </label>
          )}
        </search>
        {first && first < dayOf(Date.now()) && <DaySlider key={first} first={first} day={filters.on} change={(on) => go(link({ on }), true)} />}
        <Failure error={types.error} again={types.again} />
        <Failure error={memories.error} again={memories.again} isBusy={memories.isLoading} />
        {memories.isLoading && !memories.rows.length && !memories.error && <Loading rows={6} />}
        {!memories.isLoading && !memories.rows.length && !memories.error && (
          filters.q || filters.type || filters.state || filters.on
            ? <Empty icon="recall" title={t("memories.none_found")}><button type="button" onClick={() => { setTyped(""); go(link({ q: "", type: "", state: "", on: "" }), true); }}>{t("memories.clear")}</button></Empty>
            : <Empty icon="memory" title={t("memories.none")}><p>{t("memories.none_about")}</p><a className="button" href={linkTo(["chat"], scope)}>{t("memories.to_chat")}</a></Empty>
        )}
        <ul className="rows">
          {memories.rows.map((memory) => (
            <Row key={`${memory.scope.join("/")} ${memory.type} ${memory.key}`} memory={memory} isHere={memory.type === type && memory.key === key} href={linkTo(["memories", memory.type, memory.key], filters.below ? memory.scope : scope, filters)} showScope={filters.below === "1"} />
          ))}
        </ul>
        <More hasMore={memories.hasMore} isLoading={memories.isLoading} more={memories.more} error={memories.moreError} />
      </section>
      {type && key && (
        <Boundary about={`${type} ${key}`}>
          <MemoryView key={`${type} ${key} ${JSON.stringify(scope)}`} type={type} name={key} back={linkTo(["memories"], scope, filters)} changed={memories.again} />
        </Boundary>
      )}
      {isAdding && <Add types={types.value?.types ?? []} close={() => setAdding(false)} added={(memory) => { setAdding(false); memories.again(); go(memoryLink(memory, scope)); }} />}
    </div>
  );
}

/** What is asked for: the filters, on a day the memories that were true at its end. */
const queryOf = ({ on, below, ...named }: { type: string; state: string; q: string; below: string; on: string }, cursor: string | null) => ({
  ...named, below: below === "1", valid_at: on ? endOf(on) : undefined, cursor, limit: PAGE,
});

function Row({ memory, isHere, href, showScope }: { memory: Memory; isHere: boolean; href: string; showScope: boolean }) {
  return (
    <li>
      <a className={isHere ? "row here" : "row"} aria-current={isHere ? "true" : undefined} href={href}>
        <TypeSign type={memory.type} />
        <span className="row-body">
          <Said memory={memory} />
          <span className="row-about">
            <TypeName type={memory.type} />
            {speakerOf(memory) && <span className="memory-key">{speakerOf(memory)}</span>}
            <StateBadge memory={memory} />
            {showScope && <span className="row-scope"><ScopeName scope={memory.scope} /></span>}
            <span className="row-when"><When at={timeOf(memory)} /></span>
          </span>
        </span>
      </a>
    </li>
  );
}

function Add({ types, close, added }: { types: readonly MemoryType[]; close: () => void; added: (memory: Memory) => void }) {
  const { t } = useAround();
  const { scope } = useHere();
  const names = types.map((each) => each.name);
  const [type, setType] = useState(names.includes("Note") ? "Note" : (names[0] ?? "Note"));
  const [key, setKey] = useState(() => newName().replace("talk", "memory"));
  const draft = useValueDraft(types.find((each) => each.name === type)?.parameters ?? NO_SCHEMA, NOTHING);
  const act = useAct();
  const { value } = draft;
  const save = () => {
    draft.reveal();
    if (draft.isFaulty || !value) return;
    void act.run({
      request: () => api.put(scope, type, key, { value }),
      outcome: async () => {
        const now = await standing(scope, { type, key });
        return now && isSame(now.value, value) ? now : undefined;
      },
      succeed: added,
    });
  };
  return (
    <Dialog title={t("memories.add")} close={close} act={save}>
      <Field label={t("memories.type")}>{(id) => <><input id={id} list={`${id}-types`} value={type} required onChange={(event) => setType(event.target.value)} /><datalist id={`${id}-types`}>{names.map((name) => <option key={name} value={name} />)}</datalist></>}</Field>
      <Field label={t("memory.key")}>{(id) => <input id={id} value={key} required onChange={(event) => setKey(event.target.value)} />}</Field>
      <ValueForm {...draft.props} told={act.error instanceof Problem ? faultsIn(act.error.detail, draft.fields) : undefined} />
      <ActFailure act={act} />
      <footer className="dialog-acts">
        <button type="button" onClick={close}>{t("cancel")}</button>
        <button type="submit" className="accent" disabled={act.isBusy}>{t("save")}</button>
      </footer>
    </Dialog>
  );
}
