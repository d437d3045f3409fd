/** The graph around one entity: a few nodes at a time, expanded where a person asks; and the same as a list. */

import { useEffect, useMemo, useRef, useState } from "react";
import { api } from "../api/client";
import type { Graph as Drawn, GraphEdge, GraphNode } from "../api/shapes";
import { useAct } from "../lib/act";
import { useAsked } from "../lib/asking";
import { placed, type Point } from "../lib/layout";
import { go, linkTo, useRoute } from "../lib/route";
import { useAround, useHere, useWording } from "../lib/session";
import { memoryLink, PageHead } from "../parts/basics";
import { ActFailure, Empty, Failure, Loading } from "../parts/states";

const LIMIT = 40;
const NODES_MAX = 200;

export default function Graph() {
  const { t } = useAround();
  const { query } = useRoute();
  const { scope } = useHere();
  const entity = query.get("entity") ?? "";
  const [typed, setTyped] = useState(entity);
  useEffect(() => setTyped(entity), [entity]);
  const suggested = useAsked(() => suggestions(scope), [scope]);
  return (
    <div className="page">
      <PageHead title={t("graph")} about={t("graph.about")} />
      <form className="ask" role="search" onSubmit={(event) => { event.preventDefault(); go(linkTo(["graph"], scope, { entity: typed.trim() })); }}>
        <div className="ask-line">
          <input type="search" id="search" list="entities" value={typed} placeholder={t("graph.ask")} aria-label={t("graph.ask")} onChange={(event) => setTyped(event.target.value)} />
          <datalist id="entities">{suggested.value?.map((name) => <option key={name} value={name} />)}</datalist>
          <button type="submit" className="accent" disabled={!typed.trim()}>{t("graph.show")}</button>
        </div>
      </form>
      <Failure error={suggested.error} again={suggested.again} />
      {suggested.value && suggested.value.length > 0 && <p className="chips">{suggested.value.slice(0, 12).map((name) => <a key={name} className="chip" aria-current={name === entity ? "true" : undefined} href={linkTo(["graph"], scope, { entity: name })}>{name}</a>)}</p>}
      <Ego key={entity} entity={entity} />
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

function merged(graph: Drawn, more: Drawn): Drawn {
  const nodes = new Map([...graph.nodes, ...more.nodes].map((each) => [each.id, each]));
  const edges = new Map([...graph.edges, ...more.edges].map((each) => [edgeName(each), each]));
  const kept = [...nodes.values()].slice(0, NODES_MAX);
  const ids = new Set(kept.map((each) => each.id));
  return { nodes: kept, edges: [...edges.values()].filter((each) => ids.has(each.from) && ids.has(each.to)), more: graph.more || more.more || nodes.size > NODES_MAX };
}

const edgeName = (edge: GraphEdge): string => `${edge.from} ${edge.predicate} ${edge.to} ${edge.fact ?? ""}`;

function Ego({ entity }: { entity: string }) {
  const { t } = useAround();
  const { scope } = useHere();
  const expanding = useAct();
  const first = useAsked(() => api.graph(scope, { entity: entity || undefined, depth: 1, limit: LIMIT }), [scope, entity]);
  const [graph, setGraph] = useState<Drawn | null>(null);
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(new Set());
  const [chosen, setChosen] = useState<string | null>(null);
  useEffect(() => {
    if (first.value) setGraph(first.value);
  }, [first.value]);
  const points = useRef<ReadonlyMap<string, Point>>(new Map());
  const places = useMemo(() => {
    if (!graph) return new Map<string, Point>();
    const found = placed(graph.nodes.map((each) => each.id), graph.edges, points.current);
    points.current = found;
    return found;
  }, [graph]);
  const expand = (node: GraphNode) => {
    setChosen(node.id);
    if (expanded.has(node.id)) return;
    void expanding.run({
      request: () => api.graph(scope, { entity: node.name, depth: 1, limit: LIMIT }),
      succeed: (more) => {
        setExpanded((before) => new Set(before).add(node.id));
        setGraph((before) => (before ? merged(before, more) : more));
      },
    });
  };
  if (first.error) return <Failure error={first.error} again={first.again} />;
  if (!graph) return <Loading />;
  if (!graph.nodes.length) return <Empty icon="graph" title={entity ? t("graph.unknown", { entity }) : t("graph.empty")}><p>{t("graph.empty_about")}</p></Empty>;
  return (
    <>
      <p className="recall-sum" role="status">{t("graph.size", { nodes: graph.nodes.length, edges: graph.edges.length })}{graph.more && <span className="badge badge-warn">{t("graph.capped")}</span>}</p>
      <ActFailure act={expanding} />
      <Picture isEgo={entity !== ""} graph={graph} places={places} chosen={chosen} expanded={expanded} expand={expand} />
      <Facts graph={graph} chosen={chosen} />
    </>
  );
}

function Picture({ isEgo, graph, places, chosen, expanded, expand }: { isEgo: boolean; graph: Drawn; places: ReadonlyMap<string, Point>; chosen: string | null; expanded: ReadonlySet<string>; expand: (node: GraphNode) => void }) {
  const { t } = useAround();
  const all = [...places.values()];
  const left = Math.min(...all.map((each) => each.x)) - 90;
  const right = Math.max(...all.map((each) => each.x)) + 90;
  const top = Math.min(...all.map((each) => each.y)) - 50;
  const bottom = Math.max(...all.map((each) => each.y)) + 50;
  const isNarrow = innerWidth < 760;
  const width = Math.max(right - left, isNarrow ? 340 : 640);
  const height = Math.max(bottom - top, isNarrow ? 320 : 400);
  const x = (left + right - width) / 2;
  const y = (top + bottom - height) / 2;
  return (
    <svg className="graph" viewBox={`${x} ${y} ${width} ${height}`} role="group" aria-label={t("graph.picture")}>
      <defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0 8 4 0 8z" className="arrow" /></marker></defs>
      {graph.edges.map((edge) => <Line key={edgeName(edge)} edge={edge} from={places.get(edge.from)} to={places.get(edge.to)} isChosen={edge.from === chosen || edge.to === chosen} />)}
      {graph.nodes.map((node, place) => {
        const point = places.get(node.id);
        if (!point) return null;
        const size = Math.min(160, Math.max(44, [...node.name].reduce((sum, each) => sum + (each > "\u2e80" ? 13 : 7.4), 22)));
        return (
          <g key={node.id} role="button" tabIndex={0} aria-label={t("graph.expand", { name: node.name })} aria-pressed={node.id === chosen} className={`node${place === 0 && isEgo ? " first" : ""}${node.id === chosen ? " chosen" : ""}${expanded.has(node.id) ? " expanded" : ""}`} transform={`translate(${point.x} ${point.y})`} onClick={() => expand(node)} onKeyDown={(event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); expand(node); } }}>
            <title>{node.kind ? `${node.name} (${node.kind})` : node.name}</title>
            <rect x={-size / 2} y={-15} width={size} height={30} rx={15} />
            <text textAnchor="middle" dy="4.5">{node.name.length > 20 ? `${node.name.slice(0, 19)}…` : node.name}</text>
          </g>
        );
      })}
    </svg>
  );
}

function Line({ edge, from, to, isChosen }: { edge: GraphEdge; from: Point | undefined; to: Point | undefined; isChosen: boolean }) {
  if (!from || !to) return null;
  const isOver = edge.valid_until !== null && Date.parse(edge.valid_until) <= Date.now();
  const distance = Math.max(Math.hypot(to.x - from.x, to.y - from.y), 1);
  const back = Math.min(34, distance / 3) / distance;
  const end = { x: to.x - (to.x - from.x) * back, y: to.y - (to.y - from.y) * back };
  return (
    <g className={`edge${isOver ? " over" : ""}${isChosen ? " chosen" : ""}`}>
      <line x1={from.x} y1={from.y} x2={end.x} y2={end.y} markerEnd="url(#arrow)" />
      <text x={(from.x + to.x) / 2} y={(from.y + to.y) / 2 - 5} textAnchor="middle">{edge.predicate}</text>
    </g>
  );
}

function Facts({ graph, chosen }: { graph: Drawn; chosen: string | null }) {
  const { t } = useAround();
  const { scope } = useHere();
  const wording = useWording();
  const names = new Map(graph.nodes.map((each) => [each.id, each.name]));
  const rows = chosen ? graph.edges.filter((each) => each.from === chosen || each.to === chosen) : graph.edges;
  return (
    <section className="block">
      <h2>{chosen ? t("graph.facts_of", { name: names.get(chosen) ?? "" }) : t("graph.facts")}</h2>
      <div className="scrolled" tabIndex={0} role="region" aria-label={t("graph.facts")}>
        <table className="plain-table">
          <thead><tr><th scope="col">{t("graph.subject")}</th><th scope="col">{t("graph.predicate")}</th><th scope="col">{t("graph.object")}</th><th scope="col">{t("graph.valid")}</th></tr></thead>
          <tbody>
            {rows.map((edge) => (
              <tr key={edgeName(edge)}>
                <td>{names.get(edge.from) ?? edge.from}</td>
                <td>{edge.fact ? <a href={memoryLink({ type: "Fact", key: edge.fact }, scope)}>{edge.predicate}</a> : edge.predicate}</td>
                <td>{names.get(edge.to) ?? edge.to}</td>
                <td className="faint">{edge.valid_from ? wording.day(edge.valid_from) : "…"} – {edge.valid_until ? wording.day(edge.valid_until) : "…"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
