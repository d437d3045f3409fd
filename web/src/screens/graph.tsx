/** The graph around an entity, or of all: expanded where a person asks, searched, on a day; with the facts in sentences beside it. */

import { useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { api } from "../api/client";
import type { Graph as Drawn } from "../api/shapes";
import { useAct } from "../lib/act";
import { useAsked } from "../lib/asking";
import { drawable, merged, wayBetween } from "../lib/graph_view";
import { go, linkTo, useRoute } from "../lib/route";
import { useAround, useHere } from "../lib/session";
import { daysIn, isToday, momentsOf, type Days } from "../lib/time";
import { PageHead } from "../parts/basics";
import { DayInput } from "../parts/day_input";
import { GraphCanvas } from "../parts/graph_canvas";
import { ActFailure, Empty, Failure, Loading } from "../parts/states";
import { Details, Entities, Facts } from "./graph_side";

/** How many entities may be asked for at a time; the first is what is asked for unasked. */
const SIZES = [40, 200, 500, 2_000] as const;
const NEIGHBOURS = 40;
const STEPS_MAX = 5;
/** No more than so many are pointed out: a search for "a" would point out everything. */
const MARKED_MAX = 400;

export default function Graph() {
  const { t } = useAround();
  const { query } = useRoute();
  const { scope } = useHere();
  const entity = query.get("entity") ?? "";
  const days = daysIn(query);
  const most = SIZES.find((each) => String(each) === query.get("most")) ?? SIZES[0];
  const steps = Math.min(STEPS_MAX, Math.max(1, Number(query.get("steps")) || 1));
  const [typed, setTyped] = useState(entity);
  const [isWide] = useState(() => matchMedia("(min-width: 901px)").matches);
  useEffect(() => setTyped(entity), [entity]);
  const suggested = useAsked(() => suggestions(scope), [scope]);
  const place = (changed: Record<string, string>) => linkTo(["graph"], scope, { entity, ...days, most: most === SIZES[0] ? "" : String(most), steps: steps === 1 ? "" : String(steps), ...changed });
  return (
    <div className="page wide-page">
      <PageHead title={t("graph")} about={t("graph.about")} />
      <form className="ask" role="search" onSubmit={(event) => { event.preventDefault(); go(place({ entity: typed.trim() })); }}>
        <div className="ask-line">
          <input type="search" id="search" list="entities" value={typed} placeholder={t("graph.ask")} aria-label={t("graph.ask")} onChange={(event) => setTyped(event.target.value)} />
          <datalist id="entities">{suggested.value?.map((name) => <option key={name} value={name} />)}</datalist>
          <button type="submit" className="accent" disabled={!typed.trim()}>{t("graph.show")}</button>
        </div>
        <details className="ask-more" open={isWide || most !== SIZES[0] || steps > 1 || !isToday(days)}>
        <summary>{t("recall.options")}</summary>
        <div className="ask-options">
          <label>{t("graph.most")}<select value={most} onChange={(event) => go(place({ most: event.target.value }), true)}>{SIZES.map((each) => <option key={each} value={each}>{each.toLocaleString()}</option>)}</select></label>
          {entity && <label>{t("graph.steps")}<select value={steps} onChange={(event) => go(place({ steps: event.target.value }), true)}>{Array.from({ length: STEPS_MAX }, (_, at) => <option key={at} value={at + 1}>{at + 1}</option>)}</select></label>}
          {(["on", "known"] as const).map((each) => <label key={each}>{t(each === "on" ? "recall.valid_at" : "recall.known_at")}<DayInput value={days[each]} onChange={(event) => go(place({ [each]: event.target.value }), true)} /></label>)}
        </div>
        </details>
        {entity && <a href={place({ entity: "", steps: "" })}>{t("graph.all")}</a>}
      </form>
      <Around key={`${entity} ${days.on} ${days.known} ${most} ${steps}`} entity={entity} days={days} most={most} steps={steps} larger={SIZES.find((each) => each > most)} enlarge={(size) => go(place({ most: String(size) }), true)} />
    </div>
  );
}

async function suggestions(scope: string[]): Promise<string[]> {
  const [entities, facts] = await Promise.all([
    api.memories(scope, { type: "Entity", limit: 50 }),
    api.memories(scope, { type: "Fact", limit: 100 }),
  ]);
  const names = [...entities.memories.map((each) => each.value.name), ...facts.memories.map((each) => each.value.subject)];
  return [...new Set(names.filter((name): name is string => typeof name === "string"))];
}

interface AroundProps {
  entity: string;
  days: Days;
  most: number;
  steps: number;
  larger: number | undefined;
  enlarge: (size: number) => void;
}

function Around({ entity, days, most, steps, larger, enlarge }: AroundProps) {
  const { t } = useAround();
  const { scope } = useHere();
  const expanding = useAct();
  const at = momentsOf(days);
  const asked = useAsked(() => api.graph(scope, { entity: entity || undefined, depth: steps, limit: most, ...at }), [scope, entity, at, most, steps]);
  const [graph, setGraph] = useState<Drawn | null>(null);
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(new Set());
  const [chosen, setChosen] = useState<string | null>(null);
  const [words, setWords] = useState("");
  const [goal, setGoal] = useState("");
  useEffect(() => {
    if (asked.value) setGraph(drawable(asked.value));
  }, [asked.value]);
  const first = entity ? graph?.nodes[0]?.id : undefined;
  const way = useMemo(() => (graph && chosen && goal ? wayBetween(graph, chosen, goal) : null), [graph, chosen, goal]);
  const found = useMemo(() => foundIn(graph, words), [graph, words]);
  // What is drawn and listed may come a moment after a key: the key itself must not wait for it.
  const listed = useDeferredValue(found);
  const marked = useMemo(() => new Set(words.trim() ? listed.slice(0, MARKED_MAX).map((each) => each.id) : way ? [...way.nodes, ...way.edges] : []), [listed, words, way]);
  // Looked for in the list, an entity or a way is what the picture then shows.
  const [listedLast, setListedLast] = useState<string | null>(null);
  const sought = useMemo(() => (way?.nodes.length ? way.nodes : listedLast ? [listedLast] : []), [way, listedLast]);
  const expand = (id: string) => {
    const node = graph?.nodes.find((each) => each.id === id);
    setChosen(id);
    if (!node || expanded.has(id)) return;
    void expanding.run({
      request: () => api.graph(scope, { entity: node.name, depth: 1, limit: NEIGHBOURS, ...at }),
      succeed: (more) => {
        setExpanded((before) => new Set(before).add(id));
        setGraph((before) => (before ? merged(before, more) : more));
      },
    });
  };
  const known = useRef(expand);
  known.current = expand;
  const expandListed = useCallback((id: string) => { setListedLast(id); known.current(id); }, []);
  if (asked.error) return <Failure error={asked.error} again={asked.again} />;
  if (!graph) return <Loading />;
  if (!graph.nodes.length && entity) return <Empty icon="graph" title={t("graph.unknown", { entity })}><p>{t("graph.unknown_about")}</p><a className="button" href={linkTo(["recall"], scope, { q: entity })}>{t("recall")}</a></Empty>;
  if (!graph.nodes.length) return <Empty icon="graph" title={t("graph.empty")}><p>{t("graph.empty_about")}</p></Empty>;
  return (
    <>
      <p className="recall-sum" role="status">
        {t("counted.entity", { count: graph.nodes.length })} · {t("counted.fact", { count: graph.edges.length })}
        {graph.more && <span className="badge badge-warn">{t("graph.capped")}</span>}
        {graph.more && larger !== undefined && <button type="button" className="small" onClick={() => enlarge(larger)}>{t("graph.larger", { count: larger })}</button>}
      </p>
      <ActFailure act={expanding} />
      <div className="graph-columns">
        <GraphCanvas graph={graph} first={first} chosen={chosen} marked={marked} sought={sought} choose={setChosen} expand={expand} />
        <aside className="graph-side" aria-label={t("graph.details")}>
          <Details graph={graph} chosen={chosen} goal={goal} setGoal={setGoal} hasWay={!way || way.nodes.length > 0} />
          <Entities found={listed} first={first} chosen={chosen} expanded={expanded} words={words} setWords={setWords} expand={expandListed} />
        </aside>
      </div>
      <Facts graph={graph} chosen={chosen} />
    </>
  );
}

/** The entities whose names have the words. */
function foundIn(graph: Drawn | null, words: string): Drawn["nodes"] {
  const sought = words.trim().toLowerCase();
  return graph?.nodes.filter((each) => each.name.toLowerCase().includes(sought)) ?? [];
}
