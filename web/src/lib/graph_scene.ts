/** A graph with its places, as it is drawn and pointed at. */

import type { Graph, GraphEdge } from "../api/shapes";
import type { Bounds } from "./graph_camera";
import { BOXED_NODES } from "./graph_layout";
import { edgeName, type Box } from "./graph_view";
import type { Point } from "./layout";

const LABEL_CHARACTERS = 26;
export const BOX_HEIGHT = 32;
/** Facts between the same two entities stand so far apart. */
const BEND = 34;

export interface SceneNode extends Point {
  id: string;
  label: string;
  width: number;
  degree: number;
  /** By number of facts: 0 has the most. */
  rank: number;
  look: "first" | "subject" | "other";
}

export interface SceneEdge {
  id: string;
  from: number;
  to: number;
  label: string;
  isOver: boolean;
  /** How far its middle stands beside the straight line. */
  bend: number;
}

export interface Scene {
  nodes: SceneNode[];
  edges: SceneEdge[];
  bounds: Bounds;
  /** Too many for boxes: entities are dots at any size. */
  isCrowd: boolean;
  place: ReadonlyMap<string, number>;
}

export const labelOf = (name: string): string => (name.length > LABEL_CHARACTERS ? `${name.slice(0, LABEL_CHARACTERS - 1)}…` : name);

export function boxOf(name: string): Box {
  const text = [...labelOf(name)].reduce((sum, each) => sum + (each > "\u2e80" ? 14 : 7.6), 0);
  return { width: Math.max(46, text + 26), height: BOX_HEIGHT };
}

const isOver = (edge: GraphEdge): boolean => edge.valid_until !== null && Date.parse(edge.valid_until) <= Date.now();

export function sceneOf(graph: Graph, first: string | undefined, points: ReadonlyMap<string, Point>): Scene {
  const centre = first ?? centreOf(graph);
  const degrees = new Map<string, number>();
  for (const { from, to } of graph.edges) for (const end of from === to ? [from] : [from, to]) degrees.set(end, (degrees.get(end) ?? 0) + 1);
  const ranks = new Map([...graph.nodes].sort((one, other) => (degrees.get(other.id) ?? 0) - (degrees.get(one.id) ?? 0)).map((each, at) => [each.id, at]));
  const subjects = new Set(graph.edges.map((each) => each.from));
  const nodes = graph.nodes.map((each): SceneNode => ({
    id: each.id, label: labelOf(each.name), width: boxOf(each.name).width, ...(points.get(each.id) ?? { x: 0, y: 0 }),
    degree: degrees.get(each.id) ?? 0, rank: ranks.get(each.id) ?? 0, look: each.id === centre ? "first" : subjects.has(each.id) ? "subject" : "other",
  }));
  const place = new Map(nodes.map((each, at) => [each.id, at]));
  return { nodes, edges: edgesOf(graph, place), bounds: boundsOf(nodes), isCrowd: nodes.length > BOXED_NODES, place };
}

/** The entity that most facts are about, if there is one such. */
function centreOf({ edges }: Graph): string | undefined {
  const counts = new Map<string, number>();
  for (const { from } of edges) counts.set(from, (counts.get(from) ?? 0) + 1);
  const [most, next] = [...counts].sort(([, one], [, other]) => other - one);
  return most && most[1] > (next?.[1] ?? 1) ? most[0] : undefined;
}

function edgesOf(graph: Graph, place: ReadonlyMap<string, number>): SceneEdge[] {
  const between = new Map<string, number>();
  const pairOf = ({ from, to }: GraphEdge): string => (from < to ? `${from}\n${to}` : `${to}\n${from}`);
  for (const edge of graph.edges) between.set(pairOf(edge), (between.get(pairOf(edge)) ?? 0) + 1);
  const seen = new Map<string, number>();
  return graph.edges.flatMap((edge): SceneEdge[] => {
    const [from, to] = [place.get(edge.from), place.get(edge.to)];
    if (from === undefined || to === undefined) return [];
    const pair = pairOf(edge);
    const at = seen.get(pair) ?? 0;
    seen.set(pair, at + 1);
    const beside = (at - ((between.get(pair) as number) - 1) / 2) * BEND;
    return [{ id: edgeName(edge), from, to, label: edge.predicate, isOver: isOver(edge), bend: edge.from <= edge.to ? beside : -beside }];
  });
}

export function boundsOf(nodes: readonly SceneNode[]): Bounds {
  const bounds = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  const isBoxed = nodes.length <= BOXED_NODES;
  for (const { x, y, width } of nodes) {
    const half = isBoxed ? width / 2 : 8;
    bounds.left = Math.min(bounds.left, x - half);
    bounds.right = Math.max(bounds.right, x + half);
    bounds.top = Math.min(bounds.top, y - (isBoxed ? BOX_HEIGHT / 2 : 8));
    bounds.bottom = Math.max(bounds.bottom, y + (isBoxed ? BOX_HEIGHT / 2 : 8));
  }
  return nodes.length ? bounds : { left: 0, top: 0, right: 0, bottom: 0 };
}
