/** Places for up to thousands of nodes: springs along the edges, repulsion approximated by a quadtree (Barnes and Hut), no chance. */

import type { Point } from "./layout";

const DISTANCE = 54;
const CHARGE = -95;
const GRAVITY = 0.055;
const ROUNDS = 220;
/** Nodes with a place need less: they are near it already. */
const ROUNDS_AGAIN = 70;
/** A cell seen under a smaller angle (its size by its distance, squared) acts as one body. */
const THETA_SQUARED = 1;
const FRICTION = 0.6;

export type Links = readonly (readonly [number, number])[];

/** Places in the order of the nodes, in a picture of a shape (width by height); `before` has the places of those that have one. */
export function crowded(count: number, links: Links, shape: number, before: readonly (Point | undefined)[] = []): Point[] {
  const [x, y] = [new Float64Array(count), new Float64Array(count)];
  let known = 0;
  for (let at = 0; at < count; at++) {
    const point = before[at];
    if (point) known++;
    // A sunflower: even, and the same each time.
    const [radius, angle] = [DISTANCE * 0.6 * Math.sqrt(at + 0.5), at * 2.399963];
    // A hair beside its place, so that bodies in one place are pushed different ways.
    x[at] = point ? point.x + 0.1 * Math.cos(angle) : radius * Math.cos(angle) * Math.sqrt(shape);
    y[at] = point ? point.y + 0.1 * Math.sin(angle) : (radius * Math.sin(angle)) / Math.sqrt(shape);
  }
  const bodies = { x, y, vx: new Float64Array(count), vy: new Float64Array(count) };
  const springs = springsOf(count, links);
  const isAgain = known > count / 2;
  const rounds = isAgain ? ROUNDS_AGAIN : ROUNDS;
  const cooling = 1 - 0.004 ** (1 / rounds);
  for (let round = 0, heat = isAgain ? 0.3 : 1; round < rounds; round++, heat -= heat * cooling) step(bodies, springs, heat, shape);
  return [...x].map((each, at) => ({ x: each, y: y[at] as number }));
}

interface Bodies {
  x: Float64Array;
  y: Float64Array;
  vx: Float64Array;
  vy: Float64Array;
}

interface Springs {
  from: Int32Array;
  to: Int32Array;
  strength: Float64Array;
  /** How much of the pull moves the end; the one with more edges moves less. */
  share: Float64Array;
}

function springsOf(count: number, links: Links): Springs {
  const degree = new Int32Array(count);
  for (const [from, to] of links) {
    degree[from] = (degree[from] as number) + 1;
    degree[to] = (degree[to] as number) + 1;
  }
  const of = (at: number): number => degree[at] as number;
  return {
    from: Int32Array.from(links, ([from]) => from),
    to: Int32Array.from(links, ([, to]) => to),
    strength: Float64Array.from(links, ([from, to]) => 1 / Math.min(of(from), of(to))),
    share: Float64Array.from(links, ([from, to]) => of(from) / (of(from) + of(to))),
  };
}

function step({ x, y, vx, vy }: Bodies, springs: Springs, heat: number, shape: number): void {
  const count = x.length;
  const tree = new Quadtree(x, y);
  for (let at = 0; at < count; at++) tree.push(at, CHARGE * heat, vx, vy);
  const { from, to, strength, share } = springs;
  for (let at = 0; at < from.length; at++) {
    const [one, other] = [from[at] as number, to[at] as number];
    const dx = (x[other] as number) + (vx[other] as number) - (x[one] as number) - (vx[one] as number) || 0.01;
    const dy = (y[other] as number) + (vy[other] as number) - (y[one] as number) - (vy[one] as number) || 0.01;
    const length = Math.sqrt(dx * dx + dy * dy);
    const pull = ((length - DISTANCE) / length) * heat * (strength[at] as number);
    const part = share[at] as number;
    vx[other] = (vx[other] as number) - dx * pull * part;
    vy[other] = (vy[other] as number) - dy * pull * part;
    vx[one] = (vx[one] as number) + dx * pull * (1 - part);
    vy[one] = (vy[one] as number) + dy * pull * (1 - part);
  }
  // Weaker across than down, so that the whole gets the shape of the picture.
  const [across, down] = [(GRAVITY * heat) / shape, GRAVITY * heat * shape];
  for (let at = 0; at < count; at++) {
    vx[at] = ((vx[at] as number) - (x[at] as number) * across) * FRICTION;
    vy[at] = ((vy[at] as number) - (y[at] as number) * down) * FRICTION;
    x[at] = (x[at] as number) + (vx[at] as number);
    y[at] = (y[at] as number) + (vy[at] as number);
  }
}

const NONE = -1;
/** Deeper than this bodies stand in one place: they share the cell. */
const DEPTH_MAX = 32;

/** Cells of four parts each, with the number and the middle of the bodies in them; in flat arrays, since it is built each round. */
class Quadtree {
  private readonly parts: Int32Array;
  private readonly body: Int32Array;
  private readonly bodies: Float64Array;
  private readonly middleX: Float64Array;
  private readonly middleY: Float64Array;
  private readonly stack: Int32Array = new Int32Array(4 * DEPTH_MAX * 4);
  private readonly sizes: Float64Array = new Float64Array(4 * DEPTH_MAX * 4);
  private readonly left: number;
  private readonly top: number;
  private readonly size: number;
  private cells = 1;

  constructor(private readonly x: Float64Array, private readonly y: Float64Array) {
    const room = x.length * 8 + 64;
    this.parts = new Int32Array(room * 4).fill(NONE);
    this.body = new Int32Array(room).fill(NONE);
    this.bodies = new Float64Array(room);
    this.middleX = new Float64Array(room);
    this.middleY = new Float64Array(room);
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let at = 0; at < x.length; at++) {
      left = Math.min(left, x[at] as number);
      right = Math.max(right, x[at] as number);
      top = Math.min(top, y[at] as number);
      bottom = Math.max(bottom, y[at] as number);
    }
    [this.left, this.top, this.size] = [left, top, Math.max(right - left, bottom - top, 1)];
    for (let at = 0; at < x.length; at++) this.add(at);
  }

  private add(at: number): void {
    let [cell, left, top, size, depth] = [0, this.left, this.top, this.size, 0];
    for (;;) {
      const held = this.body[cell] as number;
      const isLeaf = (this.bodies[cell] as number) === 0 || held !== NONE;
      this.count(cell, at);
      if (isLeaf) {
        if (held === NONE) {
          this.body[cell] = at;
          return;
        }
        if (depth >= DEPTH_MAX || this.cells + 4 > this.body.length) return;
        this.body[cell] = NONE;
        const part = this.partOf(cell, held, left, top, size);
        this.body[part] = held;
        this.count(part, held);
      }
      size /= 2;
      const part = this.partOf(cell, at, left, top, size * 2);
      if ((this.x[at] as number) >= left + size) left += size;
      if ((this.y[at] as number) >= top + size) top += size;
      [cell, depth] = [part, depth + 1];
    }
  }

  private count(cell: number, at: number): void {
    const bodies = (this.bodies[cell] as number) + 1;
    this.bodies[cell] = bodies;
    this.middleX[cell] = (this.middleX[cell] as number) + ((this.x[at] as number) - (this.middleX[cell] as number)) / bodies;
    this.middleY[cell] = (this.middleY[cell] as number) + ((this.y[at] as number) - (this.middleY[cell] as number)) / bodies;
  }

  /** The part of a cell in which a body stands, made if it is the first there. */
  private partOf(cell: number, at: number, left: number, top: number, size: number): number {
    const side = ((this.x[at] as number) >= left + size / 2 ? 1 : 0) + ((this.y[at] as number) >= top + size / 2 ? 2 : 0);
    const place = cell * 4 + side;
    if ((this.parts[place] as number) === NONE) this.parts[place] = this.cells++;
    return this.parts[place] as number;
  }

  /** Push a body away from all others. */
  push(at: number, charge: number, vx: Float64Array, vy: Float64Array): void {
    const [x, y] = [this.x[at] as number, this.y[at] as number];
    let [pushX, pushY, depth] = [0, 0, 1];
    this.stack[0] = 0;
    this.sizes[0] = this.size;
    while (depth > 0) {
      const cell = this.stack[--depth] as number;
      const size = this.sizes[depth] as number;
      const held = this.body[cell] as number;
      if (held === at && this.bodies[cell] === 1) continue;
      const dx = (this.middleX[cell] as number) - x || (at % 7) * 0.01 + 0.01;
      const dy = (this.middleY[cell] as number) - y || (at % 5) * 0.01 + 0.01;
      const square = dx * dx + dy * dy;
      if (held !== NONE || (size * size) / square < THETA_SQUARED) {
        const force = (charge * (this.bodies[cell] as number)) / Math.max(square, 20);
        pushX += dx * force;
        pushY += dy * force;
        continue;
      }
      for (let side = 0; side < 4; side++) {
        const part = this.parts[cell * 4 + side] as number;
        if (part === NONE) continue;
        this.stack[depth] = part;
        this.sizes[depth++] = size / 2;
      }
    }
    vx[at] = (vx[at] as number) + pushX;
    vy[at] = (vy[at] as number) + pushY;
  }
}
