/** Places for the nodes of a small graph: springs and repulsion, a fixed number of rounds, no chance. */

export interface Point {
  x: number;
  y: number;
}

const ROUNDS = 240;
const DISTANCE = 130;

/** Nodes that have a place keep near it; the first node is drawn to the middle. */
export function placed(
  ids: readonly string[],
  edges: readonly { from: string; to: string }[],
  before: ReadonlyMap<string, Point> = new Map(),
): Map<string, Point> {
  const points = ids.map((id, place) => before.get(id) ?? start(place, ids.length));
  const place = new Map(ids.map((id, index) => [id, index]));
  const links = edges.flatMap((edge) => {
    const from = place.get(edge.from);
    const to = place.get(edge.to);
    return from === undefined || to === undefined || from === to ? [] : [[from, to] as const];
  });
  for (let round = 0; round < ROUNDS; round++) step(points, links, 1 - round / ROUNDS);
  return new Map(ids.map((id, index) => [id, points[index] as Point]));
}

function start(place: number, count: number): Point {
  if (place === 0) return { x: 0, y: 0 };
  const angle = place * 2.399963;
  const radius = DISTANCE * Math.sqrt(place / Math.max(1, count / 8));
  return { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
}

function step(points: Point[], links: readonly (readonly [number, number])[], heat: number): void {
  const forces = points.map((point, index) => {
    const pull = index === 0 ? 0.2 : 0.012;
    return { x: -point.x * pull, y: -point.y * pull };
  });
  for (let i = 0; i < points.length; i++) {
    for (let j = i + 1; j < points.length; j++) push(points, forces, i, j);
  }
  for (const [i, j] of links) draw(points, forces, i, j);
  points.forEach((point, index) => {
    const force = forces[index] as Point;
    const size = Math.hypot(force.x, force.y);
    const most = 24 * heat + 1;
    const scale = size > most ? most / size : 1;
    points[index] = { x: point.x + force.x * scale, y: point.y + force.y * scale };
  });
}

function push(points: Point[], forces: Point[], i: number, j: number): void {
  const [one, other] = [points[i] as Point, points[j] as Point];
  const dx = one.x - other.x || (i - j) * 0.01;
  const dy = (one.y - other.y || (j - i) * 0.01) * 1.4;
  const square = Math.max(dx * dx + dy * dy, 60);
  const strength = (DISTANCE * DISTANCE * 0.55) / square / Math.sqrt(square);
  move(forces, i, dx * strength, dy * strength);
  move(forces, j, -dx * strength, -dy * strength);
}

function draw(points: Point[], forces: Point[], i: number, j: number): void {
  const [one, other] = [points[i] as Point, points[j] as Point];
  const dx = other.x - one.x;
  const dy = other.y - one.y;
  const distance = Math.max(Math.hypot(dx, dy), 1);
  const strength = ((distance - DISTANCE) / distance) * 0.06;
  move(forces, i, dx * strength, dy * strength);
  move(forces, j, -dx * strength, -dy * strength);
}

function move(forces: Point[], index: number, x: number, y: number): void {
  const force = forces[index] as Point;
  force.x += x;
  force.y += y;
}
