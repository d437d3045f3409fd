/** Entities that no fact leads between, drawn beside each other: the arrows of one group cross no other. */

import { separated, SILENT, WORDED, type Box, type Gap } from "./graph_view";
import { placed, type Point } from "./layout";

const MARGIN = 56;
/** Of more facts the words stand at those of the entity that is chosen: all at once would hide each other. */
export const READABLE_EDGES = 16;

interface Ends {
  from: string;
  to: string;
}

/** The entities that facts lead between, group by group: the largest first, each in the order given. */
export function groupsIn(ids: readonly string[], edges: readonly Ends[]): string[][] {
  const head = new Map(ids.map((id) => [id, id]));
  const headOf = (id: string): string => {
    let at = id;
    for (let next = head.get(at) as string; next !== at; next = head.get(at) as string) at = next;
    head.set(id, at);
    return at;
  };
  for (const { from, to } of edges) if (head.has(from) && head.has(to)) head.set(headOf(to), headOf(from));
  const groups = new Map<string, string[]>();
  for (const id of ids) {
    const name = headOf(id);
    const group = groups.get(name);
    if (group) group.push(id);
    else groups.set(name, [id]);
  }
  return [...groups.values()].sort((one, other) => other.length - one.length);
}

/** Place entities in a picture of a shape (width by height): each group by itself, then in rows; those that have a place keep near it. */
export function arranged(ids: readonly string[], edges: readonly Ends[], before: ReadonlyMap<string, Point>, boxOf: (id: string) => Box, shape: number): { own: Map<string, Point>; drawn: Map<string, Point> } {
  const own = new Map<string, Point>();
  const hasWords = edges.length <= READABLE_EDGES;
  const all = groupsIn(ids, edges);
  // The others stand in rows below the largest: it is wider than the picture for that.
  const shapeOf = (group: readonly string[]): number => (shape > 1 && all.length > 1 && group === all[0] && group.length >= CROWD ? shape * WIDER : shape);
  const groups = all.map((group) => {
    const members = new Set(group);
    const found = placed(group, edges.filter((each) => members.has(each.from) && members.has(each.to)), before);
    for (const [id, point] of found) own.set(id, point);
    return filled(spread(found, shapeOf(group), hasWords ? ROOMY : CLOSE), boxOf, shapeOf(group), hasWords ? WORDED : SILENT);
  });
  return { own, drawn: inRows(groups, shape) };
}

/** How far apart entities stand across the picture: with room for the words of the arrows, and without. */
const ROOMY = 1.75;
const CLOSE = 1.3;

function spread(points: ReadonlyMap<string, Point>, shape: number, across: number): Map<string, Point> {
  const stretch = Math.sqrt(shape);
  return new Map([...points].map(([id, { x, y }]) => [id, { x: x * across * stretch, y: (y * 1.25) / stretch }]));
}

/** Of fewer the words of all arrows fit as they are placed. */
const CROWD = 12;
const WIDER = 1.35;
const TRIES = 4;

/** Boxes moved apart, in places that use the room of the picture: flat boxes give way up and down, so it takes a few tries. */
function filled(points: ReadonlyMap<string, Point>, boxOf: (id: string) => Box, shape: number, gap: Gap): Group {
  let best = bounded(separated(points, boxOf, gap), boxOf);
  if (points.size < CROWD) return best;
  const sizeOf = ({ width, height }: Group): number => Math.max(width / shape, height);
  let last = best;
  for (let at = 0, placed = points; at < TRIES; at++) {
    const stretch = Math.sqrt((last.height * shape) / last.width);
    placed = new Map([...placed].map(([id, { x, y }]) => [id, { x: x * stretch, y: y / stretch }]));
    last = bounded(separated(placed, boxOf, gap), boxOf);
    if (sizeOf(last) < sizeOf(best)) best = last;
  }
  return best;
}

interface Group extends Box {
  points: ReadonlyMap<string, Point>;
  left: number;
  top: number;
}

function bounded(points: ReadonlyMap<string, Point>, boxOf: (id: string) => Box): Group {
  const boxes = [...points].map(([id, point]) => ({ ...point, ...boxOf(id) }));
  const left = Math.min(...boxes.map((each) => each.x - each.width / 2));
  const top = Math.min(...boxes.map((each) => each.y - each.height / 2));
  const width = Math.max(...boxes.map((each) => each.x + each.width / 2)) - left;
  const height = Math.max(...boxes.map((each) => each.y + each.height / 2)) - top;
  return { points, left, top, width, height };
}

function inRows(groups: readonly Group[], shape: number): Map<string, Point> {
  const area = groups.reduce((sum, each) => sum + (each.width + MARGIN) * (each.height + MARGIN), 0);
  const widest = Math.max(Math.sqrt(area * shape), ...groups.map((each) => each.width));
  const drawn = new Map<string, Point>();
  let [x, y, row] = [0, 0, 0];
  for (const group of groups) {
    if (x > 0 && x + group.width > widest) [x, y, row] = [0, y + row + MARGIN, 0];
    for (const [id, point] of group.points) drawn.set(id, { x: point.x - group.left + x, y: point.y - group.top + y });
    x += group.width + MARGIN;
    row = Math.max(row, group.height);
  }
  return drawn;
}
