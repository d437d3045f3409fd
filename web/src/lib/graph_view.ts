/** A graph as it is drawn: what was fetched put together, boxes that do not overlap, the way between two entities. */

import type { Graph, GraphEdge } from "../api/shapes";
import type { Point } from "./layout";

/** As many as the service gives in one answer. */
export const NODES_MAX = 2_000;

/** More facts in one picture hide each other, and take longer than a frame to draw. */
export const EDGES_MAX = 6_000;

/** A graph with no more facts than a picture can show. */
export const drawable = (graph: Graph): Graph => (graph.edges.length > EDGES_MAX ? { ...graph, edges: graph.edges.slice(0, EDGES_MAX), more: true } : graph);

export const edgeName = (edge: GraphEdge): string => `${edge.from} ${edge.predicate} ${edge.to} ${edge.fact ?? ""}`;

/** Both graphs in one, each entity and fact once, of at most `NODES_MAX` entities. */
export function merged(graph: Graph, more: Graph): Graph {
  const nodes = new Map([...graph.nodes, ...more.nodes].map((each) => [each.id, each]));
  const edges = new Map([...graph.edges, ...more.edges].map((each) => [edgeName(each), each]));
  // What brings nothing new is the same graph: it keeps its places, and how it is looked at.
  if (nodes.size === graph.nodes.length && edges.size === graph.edges.length) return graph;
  const kept = [...nodes.values()].slice(0, NODES_MAX);
  const ids = new Set(kept.map((each) => each.id));
  return drawable({ nodes: kept, edges: [...edges.values()].filter((each) => ids.has(each.from) && ids.has(each.to)), more: graph.more || more.more || nodes.size > NODES_MAX });
}

export interface Box {
  width: number;
  height: number;
}

/** What stays between two boxes, beside each other and one below the other. */
export interface Gap {
  beside: number;
  below: number;
}

/** More of it above and below where the words of the facts stand. */
export const WORDED: Gap = { beside: 26, below: 44 };
export const SILENT: Gap = { beside: 26, below: 24 };
const ROUNDS = 600;

/** Move boxes apart until none overlaps another, each as little as it takes; the first stays where it is. */
export function separated(points: ReadonlyMap<string, Point>, boxOf: (id: string) => Box, gap: Gap = WORDED): Map<string, Point> {
  const placed = [...points].map(([id, point]) => ({ id, ...point, ...boxOf(id) }));
  for (let round = 0, isMoved = true; round < ROUNDS && isMoved; round++) {
    isMoved = false;
    for (let i = 0; i < placed.length; i++) {
      for (let j = i + 1; j < placed.length; j++) isMoved = part(placed, i, j, gap) || isMoved;
    }
  }
  return new Map(placed.map(({ id, x, y }) => [id, { x, y }]));
}

/** Part two boxes along the axis on which they overlap less; whether they did. */
function part(placed: (Point & Box)[], i: number, j: number, gap: Gap): boolean {
  const [one, other] = [placed[i] as Point & Box, placed[j] as Point & Box];
  const dx = (one.width + other.width) / 2 + gap.beside - Math.abs(one.x - other.x);
  const dy = (one.height + other.height) / 2 + gap.below - Math.abs(one.y - other.y);
  if (dx <= 0.5 || dy <= 0.5) return false;
  const axis = dx < dy ? "x" : "y";
  const step = (axis === "x" ? dx : dy) * (one[axis] <= other[axis] ? 1 : -1);
  const share = i === 0 ? 0 : 0.5;
  one[axis] -= step * share;
  other[axis] += step * (1 - share);
  return true;
}

/** The entities and facts on a shortest way between two, in whichever direction the facts point; none if there is no way. */
export function wayBetween(graph: Graph, from: string, to: string): { nodes: string[]; edges: string[] } {
  const facts = factsByEntity(graph);
  const before = new Map<string, { node: string; edge: string } | null>([[from, null]]);
  const queue = [from];
  for (let place = 0; place < queue.length && !before.has(to); place++) {
    const at = queue[place] as string;
    for (const edge of facts.get(at) ?? []) {
      const next = edge.from === at ? edge.to : edge.from;
      if (before.has(next)) continue;
      before.set(next, { node: at, edge: edgeName(edge) });
      queue.push(next);
    }
  }
  const nodes: string[] = [];
  const edges: string[] = [];
  if (!before.has(to)) return { nodes, edges };
  for (let at: string | undefined = to; at !== undefined; ) {
    nodes.unshift(at);
    const step: { node: string; edge: string } | null | undefined = before.get(at);
    if (step) edges.unshift(step.edge);
    at = step?.node;
  }
  return { nodes, edges };
}

/** The facts at each entity, at both of their ends. */
export function factsByEntity({ edges }: Graph): Map<string, GraphEdge[]> {
  const facts = new Map<string, GraphEdge[]>();
  for (const edge of edges) {
    for (const end of edge.from === edge.to ? [edge.from] : [edge.from, edge.to]) {
      const known = facts.get(end);
      if (known) known.push(edge);
      else facts.set(end, [edge]);
    }
  }
  return facts;
}
