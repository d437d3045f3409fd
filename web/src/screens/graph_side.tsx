/** Beside and below the picture of a graph: what is chosen, the entities and the facts as lists. */

import { memo, useDeferredValue, useMemo, useState } from "react";
import type { Graph, GraphEdge, GraphNode } from "../api/shapes";
import { edgeName } from "../lib/graph_view";
import { useAround, useHere, useWording } from "../lib/session";
import { Badge, memoryLink } from "../parts/basics";

/** So many are listed at first, and more of them at a time: a search finds the others. */
const LISTED = 100;
/** So many names a field offers while one is typed. */
const OFFERED = 20;

type Names = ReadonlyMap<string, string>;
const namesIn = (graph: Graph): Names => new Map(graph.nodes.map((each) => [each.id, each.name]));
const touches = (edge: GraphEdge, id: string): boolean => edge.from === id || edge.to === id;

interface DetailsProps {
  graph: Graph;
  chosen: string | null;
  goal: string;
  setGoal: (id: string) => void;
  hasWay: boolean;
}

export function Details({ graph, chosen, goal, setGoal, hasWay }: DetailsProps) {
  const { t } = useAround();
  const names = useMemo(() => namesIn(graph), [graph]);
  const node = graph.nodes.find((each) => each.id === chosen);
  if (!node) return <p className="hint">{t("graph.choose")}</p>;
  const facts = graph.edges.filter((each) => touches(each, node.id));
  return (
    <section className="graph-details" aria-live="polite">
      <h2>{node.name} {node.kind && <Badge kind="accent">{node.kind}</Badge>}</h2>
      <Goal key={node.id} graph={graph} from={node.id} goal={goal} setGoal={setGoal} />
      {!hasWay && <p className="hint">{t("graph.no_way")}</p>}
      <ul className="graph-facts">{facts.slice(0, LISTED).map((each) => <li key={edgeName(each)}><FactLine names={names} fact={each} /></li>)}</ul>
    </section>
  );
}

/** The other end of a way: typed, with the names that fit on offer. */
function Goal({ graph, from, goal, setGoal }: { graph: Graph; from: string; goal: string; setGoal: (id: string) => void }) {
  const { t } = useAround();
  const [typed, setTyped] = useState(() => graph.nodes.find((each) => each.id === goal)?.name ?? "");
  const sought = typed.trim().toLowerCase();
  const others = graph.nodes.filter((each) => each.id !== from);
  const offered = others.filter((each) => each.name.toLowerCase().includes(sought)).slice(0, OFFERED);
  const change = (text: string) => {
    setTyped(text);
    setGoal(others.find((each) => each.name.toLowerCase() === text.trim().toLowerCase())?.id ?? "");
  };
  return (
    <label className="way">{t("graph.way")}
      <input type="search" list="goals" value={typed} placeholder={t("graph.ask")} onChange={(event) => change(event.target.value)} />
      <datalist id="goals">{offered.map((each) => <option key={each.id} value={each.name} />)}</datalist>
    </label>
  );
}

function FactLine({ names, fact }: { names: Names; fact: GraphEdge }) {
  const { scope } = useHere();
  const name = (id: string) => names.get(id) ?? id;
  const words = `${name(fact.from)} ${fact.predicate} ${name(fact.to)}`;
  return fact.fact ? <a href={memoryLink({ type: "Fact", key: fact.fact }, scope)}>{words}</a> : <span>{words}</span>;
}

interface EntitiesProps {
  found: readonly GraphNode[];
  first: string | undefined;
  chosen: string | null;
  expanded: ReadonlySet<string>;
  words: string;
  setWords: (words: string) => void;
  expand: (id: string) => void;
}

/** The entities as buttons: what the picture shows, for the keyboard and for who cannot see it. */
export function Entities({ found, first, chosen, expanded, words, setWords, expand }: EntitiesProps) {
  const { t } = useAround();
  const classOf = (node: GraphNode) => ["node", node.id === first && "first", node.id === chosen && "chosen", expanded.has(node.id) && "expanded"].filter(Boolean).join(" ");
  return (
    <>
      <input type="search" value={words} placeholder={t("graph.find")} aria-label={t("graph.find")} onChange={(event) => setWords(event.target.value)} />
      <ul className="nodes">
        {found.slice(0, LISTED).map((node) => <li key={node.id}><EntityButton id={node.id} name={node.name} className={classOf(node)} isChosen={node.id === chosen} expand={expand} /></li>)}
        {found.length > LISTED && <li className="hint">{t("graph.others", { count: found.length - LISTED })}</li>}
      </ul>
    </>
  );
}

/** Kept as long as it looks the same: of a hundred two change when another one is chosen. */
const EntityButton = memo(function EntityButton({ id, name, className, isChosen, expand }: { id: string; name: string; className: string; isChosen: boolean; expand: (id: string) => void }) {
  const { t } = useAround();
  return <button type="button" className={className} aria-pressed={isChosen} aria-label={t("graph.expand", { name })} onClick={() => expand(id)}>{name}</button>;
});

export function Facts({ graph, chosen }: { graph: Graph; chosen: string | null }) {
  const { t } = useAround();
  const wording = useWording();
  // The table may come a moment after the picture.
  const about = useDeferredValue(chosen);
  const [listed, setListed] = useState(LISTED);
  const names = useMemo(() => namesIn(graph), [graph]);
  const rows = about ? graph.edges.filter((each) => touches(each, about)) : graph.edges;
  return (
    <section className="block">
      <h2>{about ? t("graph.facts_of", { name: names.get(about) ?? "" }) : t("graph.facts")}</h2>
      <div className="scrolled" tabIndex={0} role="region" aria-label={t("graph.facts")}>
        <table className="plain-table">
          <thead><tr><th scope="col">{t("graph.fact")}</th><th scope="col">{t("graph.valid")}</th></tr></thead>
          <tbody>
            {rows.slice(0, listed).map((edge) => (
              <tr key={edgeName(edge)}>
                <td><FactLine names={names} fact={edge} /></td>
                <td className="faint">{edge.valid_from || edge.valid_until ? `${edge.valid_from ? wording.day(edge.valid_from) : "…"} – ${edge.valid_until ? wording.day(edge.valid_until) : "…"}` : t("memory.open_end")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > listed && <button type="button" className="small more-facts" onClick={() => setListed(listed + LISTED)}>{t("graph.more_facts", { shown: listed, count: rows.length })}</button>}
    </section>
  );
}
