/** The graph around an entity: expanded where a person asks, searched, on a day; with the facts in sentences beside it. */

import { useEffect, useMemo, useState } from "react";
import { api } from "../api/client";
import type { Graph as Drawn, GraphEdge, GraphNode } from "../api/shapes";
import { useAct } from "../lib/act";
import { useAsked } from "../lib/asking";
import { edgeName, merged, wayBetween } from "../lib/graph_view";
import { go, linkTo, useRoute } from "../lib/route";
import { useAround, useHere, useWording } from "../lib/session";
import { daysIn, momentsOf, type Days } from "../lib/time";
import { Badge, memoryLink, PageHead } from "../parts/basics";
import { GraphCanvas } from "../parts/graph_canvas";
import { ActFailure, Empty, Failure, Loading } from "../parts/states";

const LIMIT = 40;

export default function Graph() {
  const { t } = useAround();
  const { query } = useRoute();
  const { scope } = useHere();
  const entity = query.get("entity") ?? "";
  const days = daysIn(query);
  const [typed, setTyped] = useState(entity);
  useEffect(() => setTyped(entity), [entity]);
  const suggested = useAsked(() => suggestions(scope), [scope]);
  return (
    <div className="page wide-page">
      <PageHead title={t("graph")} about={t("graph.about")} />
      <form className="ask" role="search" onSubmit={(event) => { event.preventDefault(); go(linkTo(["graph"], scope, { entity: typed.trim(), ...days })); }}>
        <div className="ask-line">
          <input type="search" id="search" list="entities" value={typed} placeholder={t("graph.ask")} aria-label={t("graph.ask")} onChange={(event) => setTyped(event.target.value)} />
          <datalist id="entities">{suggested.value?.map((name) => <option key={name} value={name} />)}</datalist>
          <button type="submit" className="accent" disabled={!typed.trim()}>{t("graph.show")}</button>
        </div>
        <div className="ask-options">
          {(["on", "known"] as const).map((each) => <label key={each}>{t(each === "on" ? "recall.valid_at" : "recall.known_at")}<input type="date" value={days[each]} onChange={(event) => go(linkTo(["graph"], scope, { entity, ...days, [each]: event.target.value }), true)} /></label>)}
          {entity && <a href={linkTo(["graph"], scope, { ...days })}>{t("graph.all")}</a>}
        </div>
      </form>
      <Failure error={suggested.error} again={suggested.again} />
      <Around key={`${entity} ${days.on} ${days.known}`} entity={entity} days={days} />
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

function Around({ entity, days }: { entity: string; days: Days }) {
  const { t } = useAround();
  const { scope } = useHere();
  const expanding = useAct();
  const at = momentsOf(days);
  const asked = useAsked(() => api.graph(scope, { entity: entity || undefined, depth: 1, limit: LIMIT, ...at }), [scope, entity, at]);
  const [graph, setGraph] = useState<Drawn | null>(null);
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(new Set());
  const [chosen, setChosen] = useState<string | null>(null);
  const [words, setWords] = useState("");
  const [goal, setGoal] = useState("");
  useEffect(() => {
    if (asked.value) setGraph(asked.value);
  }, [asked.value]);
  const first = entity ? graph?.nodes[0]?.id : undefined;
  const marked = useMemo(() => markedIn(graph, words, chosen, goal), [graph, words, chosen, goal]);
  const expand = (id: string) => {
    const node = graph?.nodes.find((each) => each.id === id);
    setChosen(id);
    if (!node || expanded.has(id)) return;
    void expanding.run({
      request: () => api.graph(scope, { entity: node.name, depth: 1, limit: LIMIT, ...at }),
      succeed: (more) => {
        setExpanded((before) => new Set(before).add(id));
        setGraph((before) => (before ? merged(before, more) : more));
      },
    });
  };
  if (asked.error) return <Failure error={asked.error} again={asked.again} />;
  if (!graph) return <Loading />;
  if (!graph.nodes.length) return <Empty icon="graph" title={entity ? t("graph.unknown", { entity }) : t("graph.empty")}><p>{t("graph.empty_about")}</p></Empty>;
  return (
    <>
      <p className="recall-sum" role="status">{t("graph.size", { nodes: graph.nodes.length, edges: graph.edges.length })}{graph.more && <span className="badge badge-warn">{t("graph.capped")}</span>}</p>
      <ActFailure act={expanding} />
      <div className="graph-columns">
        <GraphCanvas graph={graph} first={first} chosen={chosen} marked={marked} choose={setChosen} expand={expand} />
        <aside className="graph-side" aria-label={t("graph.details")}>
          <Details graph={graph} chosen={chosen} goal={goal} setGoal={setGoal} />
          <Entities graph={graph} first={first} chosen={chosen} expanded={expanded} words={words} setWords={setWords} expand={expand} />
        </aside>
      </div>
      <Facts graph={graph} chosen={chosen} />
    </>
  );
}

/** What a search finds among the entities; without one, the way from what is chosen to what is looked for. */
function markedIn(graph: Drawn | null, words: string, chosen: string | null, goal: string): ReadonlySet<string> {
  if (!graph) return new Set();
  const sought = words.trim().toLowerCase();
  if (sought) return new Set(graph.nodes.filter((each) => each.name.toLowerCase().includes(sought)).map((each) => each.id));
  if (!chosen || !goal) return new Set();
  const { nodes, edges } = wayBetween(graph, chosen, goal);
  return new Set([...nodes, ...edges]);
}

function Details({ graph, chosen, goal, setGoal }: { graph: Drawn; chosen: string | null; goal: string; setGoal: (id: string) => void }) {
  const { t } = useAround();
  const node = graph.nodes.find((each) => each.id === chosen);
  if (!node) return <p className="hint">{t("graph.choose")}</p>;
  const facts = graph.edges.filter((each) => each.from === node.id || each.to === node.id);
  const hasWay = !goal || wayBetween(graph, node.id, goal).nodes.length > 0;
  return (
    <section className="graph-details" aria-live="polite">
      <h2>{node.name} {node.kind && <Badge kind="accent">{node.kind}</Badge>}</h2>
      <ul className="graph-facts">{facts.map((each) => <li key={edgeName(each)}><FactLine graph={graph} fact={each} /></li>)}</ul>
      <label className="way">{t("graph.way")}
        <select value={goal} onChange={(event) => setGoal(event.target.value)}>
          <option value="">{t("form.none")}</option>
          {graph.nodes.filter((each) => each.id !== node.id).map((each) => <option key={each.id} value={each.id}>{each.name}</option>)}
        </select>
      </label>
      {!hasWay && <p className="hint">{t("graph.no_way")}</p>}
    </section>
  );
}

function FactLine({ graph, fact }: { graph: Drawn; fact: GraphEdge }) {
  const { scope } = useHere();
  const name = (id: string) => graph.nodes.find((each) => each.id === id)?.name ?? id;
  const words = `${name(fact.from)} ${fact.predicate} ${name(fact.to)}`;
  return fact.fact ? <a href={memoryLink({ type: "Fact", key: fact.fact }, scope)}>{words}</a> : <span>{words}</span>;
}

/** The entities as buttons: what the picture shows, for the keyboard and for who cannot see it. */
function Entities({ graph, first, chosen, expanded, words, setWords, expand }: { graph: Drawn; first: string | undefined; chosen: string | null; expanded: ReadonlySet<string>; words: string; setWords: (words: string) => void; expand: (id: string) => void }) {
  const { t } = useAround();
  const sought = words.trim().toLowerCase();
  const found = graph.nodes.filter((each) => each.name.toLowerCase().includes(sought));
  const classOf = (node: GraphNode) => ["node", node.id === first && "first", node.id === chosen && "chosen", expanded.has(node.id) && "expanded"].filter(Boolean).join(" ");
  return (
    <>
      <input type="search" value={words} placeholder={t("graph.find")} aria-label={t("graph.find")} onChange={(event) => setWords(event.target.value)} />
      <ul className="nodes">
        {found.map((node) => <li key={node.id}><button type="button" className={classOf(node)} aria-pressed={node.id === chosen} aria-label={t("graph.expand", { name: node.name })} onClick={() => expand(node.id)}>{node.name}</button></li>)}
      </ul>
    </>
  );
}

function Facts({ graph, chosen }: { graph: Drawn; chosen: string | null }) {
  const { t } = useAround();
  const wording = useWording();
  const names = new Map(graph.nodes.map((each) => [each.id, each.name]));
  const rows = chosen ? graph.edges.filter((each) => each.from === chosen || each.to === chosen) : graph.edges;
  return (
    <section className="block">
      <h2>{chosen ? t("graph.facts_of", { name: names.get(chosen) ?? "" }) : t("graph.facts")}</h2>
      <div className="scrolled" tabIndex={0} role="region" aria-label={t("graph.facts")}>
        <table className="plain-table">
          <thead><tr><th scope="col">{t("graph.fact")}</th><th scope="col">{t("graph.valid")}</th></tr></thead>
          <tbody>
            {rows.map((edge) => (
              <tr key={edgeName(edge)}>
                <td><FactLine graph={graph} fact={edge} /></td>
                <td className="faint">{edge.valid_from || edge.valid_until ? `${edge.valid_from ? wording.day(edge.valid_from) : "…"} – ${edge.valid_until ? wording.day(edge.valid_until) : "…"}` : t("memory.open_end")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
