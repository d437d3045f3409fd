/** Memories: a list of any length in an order, filtered and on any day; several changed at once; one in full beside it. */

import { useEffect, useRef, useState } from "react";
import { api } from "../api/client";
import type { Memory, MemoryCounts } from "../api/shapes";
import { useAsked, useLater } from "../lib/asking";
import { nameOf } from "../lib/chosen";
import { useChanges } from "../lib/changes";
import { useSought } from "../lib/erasures";
import { PART, useListing, type ListedPart, type Listing } from "../lib/listing";
import { ORDERS, orderIn, type Order } from "../lib/orders";
import { formerFields } from "../lib/former_fields";
import { countedOf, NOTHING } from "../lib/counts";
import { endOf } from "../lib/days";
import { countsOn } from "../lib/in_force";
import { changedSince, speakerOf, listedAt } from "../lib/past";
import { spoken } from "../lib/pointer";
import { go, linkTo, useRoute } from "../lib/route";
import { isDocument } from "../lib/sentences";
import { useAround, useHere, useWording } from "../lib/session";
import { daysIn, isToday, listedMoments, momentOf, momentsOf } from "../lib/time";
import { hasWordsOf } from "../lib/search_words";
import { useTitle } from "../lib/title";
import { memoryLink, PageHead, ScopeName, StateBadge, When } from "../parts/basics";
import { Boundary } from "../parts/boundary";
import { useChosen, type Choosing } from "../parts/bulk_choice";
import { Icon } from "../parts/icons";
import { Said, TypeName, TypeSign } from "../parts/said";
import { Empty, Failure, Loading } from "../parts/states";
import { DeletedLately } from "../parts/undo_kept";
import { VirtualRows } from "../parts/virtual_rows";
import { lazyDialog, lazyScreen, withLate } from "../parts/lazy_screen";

/** What only who opens or adds a memory, or chooses several, needs. */
const MemoryView = lazyScreen("memory", async () => ({ default: (await withLate(import("./memory"))).MemoryView }));
const BulkBar = lazyScreen("bulk_bar", async () => ({ default: (await withLate(import("../parts/bulk_bar"))).BulkBar }));
const AddMemory = lazyDialog("memory_add", async () => ({ default: (await withLate(import("./memory_add"))).AddMemory }));

const STATES = ["active", "quarantined", "rejected"] as const;

interface Filters {
  type: string;
  state: string;
  q: string;
  below: string;
  order: Order;
  on: string;
  known: string;
}

function filtersIn(query: URLSearchParams): Filters {
  const given = (name: string) => query.get(name) ?? "";
  return { type: given("type"), state: given("state"), q: given("q"), below: given("below"), order: orderIn(given("order")), ...daysIn(query) };
}

/** Ask for a part of what the filters name; with words the best of those that bear on them, at once. */
export async function askPart(scope: string[], { type, state, q, below, order, on, known }: Filters, offset: number, limit: number, signal?: AbortSignal): Promise<ListedPart<Memory>> {
  const days = { on, known };
  const named = { type, state, below: below === "1", limit };
  if (q) {
    const found = await api.memories(scope, { ...named, ...momentsOf(days), q }, signal);
    const memories = found.memories.filter((each) => !on || listedAt(each) <= endOf(on));
    return { rows: memories, counts: { total: memories.length, types: {}, states: {}, recalls: null } };
  }
  const { memories, counts } = await api.memories(scope, { ...named, ...listedMoments(days), order: isFixed(order, { below, known }) ? "newest" : order, offset }, signal);
  return { rows: memories, counts: counts ?? { total: memories.length, types: {}, states: {}, recalls: null } };
}

/** Recalls are counted of one scope, as it is now. */
const isFixed = (order: Order, { below, known }: { below: string; known: string }): boolean => order === "recalled" && (below === "1" || known !== "");

export default function Memories() {
  const { t } = useAround();
  const { parts, query } = useRoute();
  const { scope, can } = useHere();
  const [, type, key] = parts;
  const filters = filtersIn(query);
  const link = (changed: Partial<Filters>) => linkTo(type && key ? ["memories", type, key] : ["memories"], scope, addressed({ ...filters, ...changed }));
  const set = (changed: Partial<Filters>) => go(link(changed), true);
  const [typed, setTyped] = useSought(scope, filters.q);
  const words = useLater(typed, 250);
  // The words that the field and the address had in common last: whichever of them differs from these has changed.
  const agreed = useRef(filters.q);
  useEffect(() => {
    if (words === agreed.current) return;
    agreed.current = words;
    set({ q: words });
  }, [words]);
  useEffect(() => {
    if (filters.q === agreed.current) return;
    agreed.current = filters.q;
    setTyped(filters.q);
  }, [filters.q]);
  const types = useAsked(() => api.types(scope), [scope]);
  const listing = useListing((offset, limit, signal) => askPart(scope, filters, offset, limit, signal), [scope, filters]);
  // The listing has also what has ended: how many are in force is asked apart. Of words or recalls only what was found is counted.
  const inForce = useAsked(() => (isCountedApart(filters) ? Promise.resolve({ ...NOTHING, later: 0 }) : countsOn(scope, filters, { type: filters.type, below: filters.below === "1" })), [scope, filters]);
  const again = () => {
    listing.again();
    inForce.again();
  };
  useChanges(scope, again);
  const chosen = useChosen(JSON.stringify([scope, filters]));
  const [isAdding, setAdding] = useState(false);
  const scroller = useRef<HTMLElement>(null);
  const isOpen = Boolean(type && key);
  const isNarrowed = Boolean(filters.q || filters.type || filters.state || !isToday(filters));
  const total = listing.counts?.total;
  const isFar = filters.q !== "" && !listing.isFormer && !Array.from({ length: Math.min(total ?? 0, PART) }, (_, place) => listing.at(place)).some((each) => each && hasWordsOf(each.sentence, filters.q));
  useTitle(t("memories"), isOpen ? undefined : "");
  return (
    <div className={isOpen ? "halves open" : "halves"}>
      <section className="half-list" aria-label={t("memories")} ref={scroller} aria-busy={listing.isLoading}>
        <PageHead title={t("memories")} about={isOpen ? undefined : t("memories.about")}>
          {can("write") && total !== undefined && total > 0 && <button type="button" aria-pressed={chosen.isOn} onClick={chosen.toggle}><Icon name="done" />{t("bulk.choose")}</button>}
          {can("write") && <button type="button" onClick={() => setAdding(true)}><Icon name="plus" />{t("memories.add")}</button>}
        </PageHead>
        <search className="filters">
          <input type="search" id="search" value={typed} placeholder={t("memories.search")} aria-label={t("memories.search")} onChange={(event) => setTyped(event.target.value)} />
          <Filtering filters={filters} set={set} counts={listing.counts} inForce={inForce.value} known={types.value?.types.map((each) => each.name) ?? []} />
        </search>
        <DeletedLately changed={again} />
        {!listing.error && <Failure error={types.error} again={types.again} />}
        {!listing.counts && <Failure error={listing.error} again={listing.again} isBusy={listing.isLoading} />}
        {!listing.counts && !listing.error && <Loading rows={6} />}
        {total === 0 && !listing.isFormer && !listing.error && (
          isNarrowed
            ? <Empty icon="recall" title={t("memories.none_found")}><button type="button" onClick={() => { setTyped(""); set({ q: "", type: "", state: "", on: "", known: "" }); }}>{t("memories.clear")}</button></Empty>
            : <Empty icon="memory" title={t("memories.none")}><p>{t(can("write") ? "memories.none_about" : "memories.none_read")}</p>{can("write") && <a className="button" href={linkTo(["chat"], scope)}>{t("memories.to_chat")}</a>}</Empty>
        )}
        {listing.counts && total !== undefined && total > 0 && <Total filters={filters} counts={listing.counts} inForce={inForce.value} isFar={isFar} />}
        {total !== undefined && total > 0 && (
          <div className={listing.isFormer ? "former-rows" : undefined}>
            <VirtualRows
              count={total} label={t("memories")} scroller={scroller} look={listing.look} here={type && key ? placeIn(listing, total, { type, key }) : undefined}
              row={(place) => {
                const memory = listing.at(place);
                return memory
                  ? <Row memory={memory} recalls={listing.recallsAt(place)} isHere={memory.type === type && memory.key === key} href={linkTo(["memories", memory.type, memory.key], filters.below ? memory.scope : scope, addressed(filters))} showScope={filters.below === "1"} choosing={chosen} on={momentOf(filters)} />
                  : <Blank />;
              }}
            />
          </div>
        )}
        {listing.counts && Boolean(listing.error) && <div className="list-failure"><Failure error={listing.error} again={listing.again} isBusy={listing.isLoading} /></div>}
        {chosen.isOn && (total !== 0 || chosen.all.size > 0) && <BulkBar chosen={chosen} total={total ?? 0} ask={(offset, limit) => askPart(scope, filters, offset, limit)} changed={again} />}
      </section>
      {type && key && (
        <Boundary about={`${type} ${key}`}>
          <MemoryView key={`${type} ${key} ${JSON.stringify(scope)}`} type={type} name={key} back={linkTo(["memories"], scope, addressed(filters))} changed={again} known={filters.known} />
        </Boundary>
      )}
      {isAdding && <AddMemory types={types.value?.types ?? []} close={() => setAdding(false)} added={(memory) => { setAdding(false); again(); go(memoryLink(memory, scope)); }} />}
    </div>
  );
}

/** Whether the listing is of what was found or recalled: then it is counted as that. */
const isCountedApart = (filters: Filters): boolean => filters.q !== "" || isByRecalls(filters);
const isByRecalls = (filters: Filters): boolean => filters.order === "recalled" && !isFixed(filters.order, filters);

/** Where a memory stands among the rows that were had, or -1. */
function placeIn(listing: Listing<Memory>, total: number, { type, key }: Pick<Memory, "type" | "key">): number {
  for (let place = 0; place < Math.min(total, PART); place += 1) {
    const memory = listing.at(place);
    if (memory?.type === type && memory.key === key) return place;
  }
  return -1;
}

/** The filters as the address has them: the usual order is not named. */
const addressed = ({ order, ...filters }: Filters) => ({ ...filters, order: order === "newest" ? "" : order });

/** Type, state and order, each with how many there are: of a type, and of what is active, those in force; of a type of what waits or was rejected, these. */
function Filtering({ filters, set, counts, inForce, known }: { filters: Filters; set: (changed: Partial<Filters>) => void; counts: MemoryCounts | undefined; inForce: MemoryCounts | undefined; known: readonly string[] }) {
  const { t, named } = useAround();
  const wording = useWording();
  const { can } = useHere();
  const isFound = isCountedApart(filters);
  const isOutOfForce = filters.state === "quarantined" || filters.state === "rejected";
  const names = [...new Set([...Object.keys(counts?.types ?? {}), ...known, ...(filters.type ? [filters.type] : [])])];
  const withCount = (name: string, count: number | undefined) => (count === undefined ? name : `${name} (${wording.number(count)})`);
  return (
    <>
      <select aria-label={t("memories.type")} value={filters.type} onChange={(event) => set({ type: event.target.value })}>
        <option value="">{t("memories.all_types")}</option>
        {names.map((name) => <option key={name} value={name}>{withCount(named(name), isFound || isOutOfForce ? counts?.types[name] : inForce?.types[name])}</option>)}
      </select>
      <select aria-label={t("memories.state")} value={filters.state} onChange={(event) => set({ state: event.target.value })}>
        <option value="">{t("memories.all_states")}</option>
        {STATES.map((state) => <option key={state} value={state}>{withCount(t(`state.${state}`), state === "active" && !isFound ? inForce?.total : counts?.states[state])}</option>)}
      </select>
      <select aria-label={t("order")} value={filters.q ? "" : filters.order} disabled={Boolean(filters.q)} onChange={(event) => set({ order: event.target.value as Order })}>
        {filters.q && <option value="">{t("order.best")}</option>}
        {ORDERS.map((each) => <option key={each} value={each} disabled={isFixed(each, filters)}>{t(`order.${each}`)}</option>)}
      </select>
      {can("below") && (
        <label className="check">
          <input type="checkbox" checked={filters.below === "1"} onChange={(event) => set({ below: event.target.checked ? "1" : "" })} />
          {t("memories.below")}
        </label>
      )}
    </>
  );
}

function Total({ filters, counts, inForce, isFar }: { filters: Filters; counts: MemoryCounts; inForce: { total: number; later: number } | undefined; isFar: boolean }) {
  const { t } = useAround();
  const wording = useWording();
  const word = isFar ? "memories.nearest" : filters.q ? "memories.best" : isByRecalls(filters) ? "memories.recalled" : null;
  const told = word ? [[word, counts.total] as const] : inForce === undefined ? [] : countedOf(counts, filters.state, inForce.total, inForce.later);
  return <p className="total" role="status">{told.map(([each, count]) => t(each, { count, total: wording.number(count) })).join(" · ") || "\u00a0"}</p>;
}

/** A row that is on its way. */
const Blank = () => <div className="row blank" aria-hidden="true"><span className="bone-sign" /><span className="row-body"><span className="bone-line" /><span className="bone-line short" /></span></div>;

function Row({ memory, recalls, isHere, href, showScope, choosing, on }: { /** The moment that is looked at; "" is now. */ on: string; memory: Memory; recalls: number | undefined; isHere: boolean; href: string; showScope: boolean; choosing: Choosing }) {
  const { t } = useAround();
  const isChosen = choosing.has(nameOf(memory));
  const changed = changedSince(memory);
  return (
    <div className={`row-line${choosing.isOn ? " choosing" : ""}${isChosen ? " chosen" : ""}`}>
      {choosing.isOn && <input type="checkbox" className="row-choice" checked={isChosen} aria-label={t("bulk.choose_one", { what: memory.sentence.slice(0, 80) })} onChange={() => choosing.turn(memory)} />}
      <a className={isHere ? "row here" : "row"} aria-current={isHere ? "true" : undefined} href={href}>
        <TypeSign type={memory.type} />
        <span className="row-body">
          <Said memory={memory} />
          {memory.version > 1 && isDocument(memory) && !showScope && !on && <Former memory={memory} />}
          <span className="row-about">
            <TypeName type={memory.type} />
            {speakerOf(memory) && <span className="memory-key">{speakerOf(memory)}</span>}
            <StateBadge memory={memory} now={on ? Date.parse(on) : undefined} />
            {showScope && <span className="row-scope"><ScopeName scope={memory.scope} /></span>}
            {recalls !== undefined && <span className="count" title={t("overview.times", { count: recalls })}>{t("overview.times", { count: recalls })}</span>}
            {!on && changed && <span className="faint">{t("overview.changed")} <When at={changed} /></span>}
            {!(on && isDocument(memory)) && <span className="row-when"><When at={listedAt(memory)} /></span>}
          </span>
        </span>
      </a>
    </div>
  );
}

/** What fields of a document said before they were corrected. */
function Former({ memory: { type, key, version } }: { memory: Memory }) {
  const { t, named } = useAround();
  const { scope } = useHere();
  const history = useAsked(() => api.history(scope, type, key), [scope, type, key, version]);
  const former = [...formerFields(history.value?.revisions ?? [])];
  if (!former.length) return null;
  return <span className="sentence-before">{t("overview.before")}{former.map(([pointer, text], place) => <span key={pointer}>{place > 0 && " · "}<span className="said-name">{spoken(pointer, named)}</span> <del>{text}</del></span>)}</span>;
}
