/** The picture of a graph on a canvas: boxes with their names where these can be read, otherwise dots, and names where there is room. */

import { toScreen, whole, type Camera, type Room } from "./graph_camera";
import { READABLE_EDGES } from "./graph_groups";
import { freePlace, namesAt, standing, type Label } from "./graph_labels";
import { BOX_HEIGHT, type Scene, type SceneEdge, type SceneNode } from "./graph_scene";
import type { Point } from "./layout";

/** Smaller than this the name in a box cannot be read. */
const BOXED_ZOOM = 0.5;
const FONT_PX = 13;
const EDGE_FONT_PX = 11;
const NAME_FONT_PX = 12;
/** Of more the lines are drawn thin. */
const DENSE_EDGES = 400;
/** Of more facts at one entity the words would hide each other. */
const WORDS_MAX = 14;

export interface Look {
  ink: string;
  faint: string;
  raised: string;
  line: string;
  accent: string;
  accentInk: string;
  soft: string;
  mark: string;
  font: string;
}

export interface Pointed {
  chosen: string | null;
  hovered: string | null;
  /** Entities and facts that are pointed out; the others stand back. */
  marked: ReadonlySet<string>;
}

export const isBoxed = (scene: Scene, camera: Camera): boolean => !scene.isCrowd && camera.zoom >= BOXED_ZOOM;

export function radiusOf(node: SceneNode, camera: Camera): number {
  return Math.min(12, 1.6 + 1.2 * Math.sqrt(node.degree)) * Math.min(1.7, Math.max(0.55, 0.45 + camera.zoom * 1.1));
}

/** The entity under a point of the picture. */
export function nodeAt(scene: Scene, camera: Camera, room: Room, at: Point): SceneNode | undefined {
  const isInBoxes = isBoxed(scene, camera);
  let found: SceneNode | undefined;
  let nearest = Infinity;
  for (const node of scene.nodes) {
    const { x, y } = toScreen(camera, room, node);
    const [dx, dy] = [Math.abs(at.x - x), Math.abs(at.y - y)];
    const isHit = isInBoxes ? dx <= (node.width * camera.zoom) / 2 && dy <= (BOX_HEIGHT * camera.zoom) / 2 : Math.hypot(dx, dy) <= Math.max(10, radiusOf(node, camera) + 4);
    if (isHit && Math.hypot(dx, dy) < nearest) [found, nearest] = [node, Math.hypot(dx, dy)];
  }
  return found;
}

export function paint(context: CanvasRenderingContext2D, scale: number, room: Room, scene: Scene, camera: Camera, look: Look, pointed: Pointed): void {
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, room.width, room.height);
  const picture: Picture = { context, scale, room, scene, camera, look, pointed, near: neighboursOf(scene, pointed.chosen) };
  if (isBoxed(scene, camera)) paintBoxes(picture);
  else paintDots(picture);
  context.globalAlpha = 1;
}

interface Picture {
  context: CanvasRenderingContext2D;
  scale: number;
  room: Room;
  scene: Scene;
  camera: Camera;
  look: Look;
  pointed: Pointed;
  /** The neighbours of the one that is chosen. */
  near: ReadonlySet<number>;
}

/** Where the entities stand that facts lead to from one, and that one. */
export function neighboursOf(scene: Scene, chosen: string | null): Set<number> {
  const at = chosen === null ? undefined : scene.place.get(chosen);
  const near = new Set<number>();
  if (at === undefined) return near;
  near.add(at);
  for (const { from, to } of scene.edges) {
    if (from === at) near.add(to);
    else if (to === at) near.add(from);
  }
  return near;
}

type EdgeKind = "aside" | "plain" | "over" | "chosen" | "marked";
const EDGE_KINDS: readonly EdgeKind[] = ["aside", "plain", "over", "chosen", "marked"];

function kindOf(edge: SceneEdge, { scene, pointed }: Picture): EdgeKind {
  if (pointed.marked.size) return pointed.marked.has(edge.id) ? "marked" : "aside";
  if (pointed.chosen !== null && (scene.nodes[edge.from]?.id === pointed.chosen || scene.nodes[edge.to]?.id === pointed.chosen)) return "chosen";
  if (pointed.chosen !== null && scene.edges.length > READABLE_EDGES) return "aside";
  return edge.isOver ? "over" : "plain";
}

function sortedEdges(picture: Picture): Record<EdgeKind, SceneEdge[]> {
  const kinds: Record<EdgeKind, SceneEdge[]> = { aside: [], plain: [], over: [], chosen: [], marked: [] };
  for (const edge of picture.scene.edges) kinds[kindOf(edge, picture)].push(edge);
  return kinds;
}

function drawLike(kind: EdgeKind, { context, look, scene }: Picture): void {
  const isDense = scene.edges.length > DENSE_EDGES;
  context.strokeStyle = context.fillStyle = kind === "chosen" ? look.accent : kind === "marked" ? look.mark : look.line;
  context.lineWidth = kind === "chosen" ? (scene.isCrowd ? 1.5 : 2) : kind === "marked" ? 2.4 : scene.isCrowd ? 0.8 : 1.3;
  context.globalAlpha = kind === "aside" ? (isDense ? 0.1 : 0.28) : kind === "over" ? (isDense ? 0.25 : 0.65) : kind === "plain" && scene.isCrowd ? (isDense ? 0.32 : 0.55) : 1;
  context.setLineDash(kind === "over" ? [5, 4] : []);
}

/* Boxes: drawn in the graph's own measures. */

function paintBoxes(picture: Picture): void {
  const { context, scale, room, camera, scene, look, pointed } = picture;
  const size = scale * camera.zoom;
  context.setTransform(size, 0, 0, size, (scale * room.width) / 2 - camera.x * size, (scale * room.height) / 2 - camera.y * size);
  const kinds = sortedEdges(picture);
  const worded: [SceneEdge, Line][] = [];
  for (const kind of EDGE_KINDS) {
    drawLike(kind, picture);
    for (const edge of kinds[kind]) {
      const line = paintArrow(context, scene, edge);
      if (kind === "chosen" || kind === "marked" || scene.edges.length <= READABLE_EDGES) worded.push([edge, line]);
    }
  }
  context.setLineDash([]);
  context.textAlign = "center";
  context.textBaseline = "middle";
  const taken = scene.nodes.map(({ x, y, width }) => ({ left: x - width / 2, top: y - BOX_HEIGHT / 2, width, height: BOX_HEIGHT }));
  for (const [edge, line] of worded) {
    const place = freePlace(placesOn(picture, edge.label, line), taken);
    if (!place) continue;
    taken.push(place);
    paintWords(picture, edge.label, place.at, kindOf(edge, picture));
  }
  for (const node of scene.nodes) {
    context.globalAlpha = pointed.marked.size && !pointed.marked.has(node.id) ? 0.28 : 1;
    const isMarked = pointed.marked.has(node.id);
    context.beginPath();
    context.roundRect(node.x - node.width / 2, node.y - BOX_HEIGHT / 2, node.width, BOX_HEIGHT, BOX_HEIGHT / 2);
    context.fillStyle = node.look === "first" ? look.accent : node.look === "subject" ? look.soft : look.raised;
    context.fill();
    context.lineWidth = isMarked || node.id === pointed.chosen ? 3 : 1.4;
    context.strokeStyle = isMarked ? look.mark : node.id === pointed.chosen || node.look !== "other" ? look.accent : look.line;
    context.stroke();
    context.font = `${node.look === "first" ? 600 : 400} ${FONT_PX}px ${look.font}`;
    context.fillStyle = node.look === "first" ? look.accentInk : look.ink;
    context.fillText(node.label, node.x, node.y + 0.5);
  }
}

/** The point of a line at a share of its way. */
type Line = (share: number) => Point;

/** Where words stand on a line, the best place first: two facts that begin at one entity have their middles close together. */
const SHARES = [0.5, 0.4, 0.6, 0.3, 0.7];

function placesOn({ context, look }: Picture, words: string, line: Line): { at: Point; left: number; top: number; width: number; height: number }[] {
  context.font = `${EDGE_FONT_PX}px ${look.font}`;
  const width = context.measureText(words).width + 6;
  return SHARES.map((share) => {
    const at = line(share);
    return { at, left: at.x - width / 2, top: at.y - 8, width, height: 16 };
  });
}

/** Draw a fact from box to box; its line. */
function paintArrow(context: CanvasRenderingContext2D, { nodes }: Scene, { from, to, bend }: SceneEdge): Line {
  const [one, other] = [nodes[from] as SceneNode, nodes[to] as SceneNode];
  if (from === to) {
    const top = { x: one.x, y: one.y - BOX_HEIGHT / 2 - 14 };
    context.beginPath();
    context.arc(top.x, top.y + 4, 12, 0, 2 * Math.PI);
    context.stroke();
    return () => ({ x: top.x, y: top.y - 8 });
  }
  const [dx, dy] = [other.x - one.x, other.y - one.y];
  const length = Math.hypot(dx, dy) || 1;
  const control = { x: (one.x + other.x) / 2 - (dy / length) * bend, y: (one.y + other.y) / 2 + (dx / length) * bend };
  const [start, end] = [edgeOfBox(one, control), edgeOfBox(other, control)];
  context.beginPath();
  context.moveTo(start.x, start.y);
  context.quadraticCurveTo(control.x, control.y, end.x, end.y);
  context.stroke();
  paintHead(context, control, end, 8);
  return (share) => ({ x: curved(start.x, control.x, end.x, share), y: curved(start.y, control.y, end.y, share) });
}

const curved = (from: number, by: number, to: number, share: number): number => (1 - share) ** 2 * from + 2 * share * (1 - share) * by + share ** 2 * to;

/** Where the line from a box's middle towards a point leaves it. */
function edgeOfBox(node: SceneNode, towards: Point): Point {
  const [dx, dy] = [towards.x - node.x, towards.y - node.y];
  const share = Math.min(node.width / 2 / Math.max(Math.abs(dx), 0.001), BOX_HEIGHT / 2 / Math.max(Math.abs(dy), 0.001), 1);
  return { x: node.x + dx * share, y: node.y + dy * share };
}

function paintHead(context: CanvasRenderingContext2D, from: Point, at: Point, size: number): void {
  const angle = Math.atan2(at.y - from.y, at.x - from.x);
  context.beginPath();
  context.moveTo(at.x, at.y);
  context.lineTo(at.x - size * Math.cos(angle - 0.42), at.y - size * Math.sin(angle - 0.42));
  context.lineTo(at.x - size * Math.cos(angle + 0.42), at.y - size * Math.sin(angle + 0.42));
  context.fill();
}

function paintWords({ context, look, pointed }: Picture, words: string, at: Point, kind: EdgeKind): void {
  context.font = `${EDGE_FONT_PX}px ${look.font}`;
  context.globalAlpha = kind === "aside" && pointed.marked.size ? 0.28 : 1;
  const width = context.measureText(words).width + 6;
  context.fillStyle = look.raised;
  context.fillRect(at.x - width / 2, at.y - 8, width, 16);
  context.fillStyle = kind === "chosen" || kind === "marked" ? look.ink : look.faint;
  context.fillText(words, at.x, at.y);
}

/* Dots: drawn in the measures of the picture, so that they and their names keep their size. */

function paintDots(picture: Picture): void {
  const { context, scene, camera, room, look, pointed } = picture;
  const points = scene.nodes.map((each) => toScreen(camera, room, each));
  const kinds = sortedEdges(picture);
  for (const kind of EDGE_KINDS) paintLines(picture, kinds[kind], points, kind);
  context.setLineDash([]);
  const asked = [...kinds.marked, ...kinds.chosen];
  if (pointed.chosen !== null || pointed.marked.size) paintHeads(picture, asked, points);
  const isAside = (at: number, node: SceneNode): boolean => (pointed.marked.size ? !pointed.marked.has(node.id) : pointed.chosen !== null && scene.isCrowd && !picture.near.has(at));
  for (const [at, node] of scene.nodes.entries()) {
    const { x, y } = points[at] as Point;
    const radius = radiusOf(node, camera);
    if (x < -radius || y < -radius || x > room.width + radius || y > room.height + radius) continue;
    context.globalAlpha = isAside(at, node) ? 0.2 : node.degree > 4 ? 1 : 0.72;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fillStyle = pointed.marked.has(node.id) ? look.mark : node.look === "other" ? look.line : look.accent;
    context.fill();
    if (node.id !== pointed.chosen && node.id !== pointed.hovered) continue;
    context.lineWidth = 2;
    context.strokeStyle = look.ink;
    context.stroke();
  }
  const names = paintNames(picture, points, isAside);
  if (asked.length <= WORDS_MAX) paintFactWords(picture, asked, points, names);
}

/** So many lines to a path: a longer one takes the browser more than its share. */
const LINES_AT_ONCE = 200;

function paintLines(picture: Picture, edges: readonly SceneEdge[], points: readonly Point[], kind: EdgeKind): void {
  const { context, room } = picture;
  // Thousands of lines that stand back would only be a grey ground, and take their time.
  if (!edges.length || (kind === "aside" && edges.length > DENSE_EDGES)) return;
  drawLike(kind, picture);
  context.beginPath();
  let lines = 0;
  for (const { from, to } of edges) {
    const [one, other] = [points[from] as Point, points[to] as Point];
    const isBeyond = (one.x < 0 && other.x < 0) || (one.y < 0 && other.y < 0) || (one.x > room.width && other.x > room.width) || (one.y > room.height && other.y > room.height);
    if (isBeyond) continue;
    context.moveTo(one.x, one.y);
    context.lineTo(other.x, other.y);
    if (++lines % LINES_AT_ONCE) continue;
    context.stroke();
    context.beginPath();
  }
  context.stroke();
}

function paintHeads(picture: Picture, edges: readonly SceneEdge[], points: readonly Point[]): void {
  const { context, scene, camera, look, pointed } = picture;
  context.globalAlpha = 1;
  for (const edge of edges) {
    const [one, other] = [points[edge.from] as Point, points[edge.to] as Point];
    const length = Math.hypot(other.x - one.x, other.y - one.y);
    const radius = radiusOf(scene.nodes[edge.to] as SceneNode, camera);
    if (length < radius + 10) continue;
    context.fillStyle = pointed.marked.has(edge.id) ? look.mark : look.accent;
    const share = (length - radius) / length;
    paintHead(context, one, { x: one.x + (other.x - one.x) * share, y: one.y + (other.y - one.y) * share }, 7);
  }
}

interface Name extends Label {
  text: string;
  isPointed: boolean;
  x: number;
  y: number;
}

function paintNames(picture: Picture, points: readonly Point[], isAside: (at: number, node: SceneNode) => boolean): Label[] {
  const { context, scene, camera, room, look, pointed, near } = picture;
  const ranks = namesAt(room.width, room.height, camera.zoom / whole(scene.bounds, room).zoom);
  const isFewNear = near.size <= 40;
  const names: Name[] = [];
  for (const [at, node] of scene.nodes.entries()) {
    const isAsked = node.id === pointed.hovered || node.id === pointed.chosen || (isFewNear && !pointed.marked.size && near.has(at)) || (pointed.marked.size <= 60 && pointed.marked.has(node.id));
    if (!isAsked && (node.rank >= ranks || isAside(at, node))) continue;
    const { x, y } = points[at] as Point;
    if (x < 0 || y < 0 || x > room.width || y > room.height) continue;
    const [width, beside] = [(node.width - 26) * (NAME_FONT_PX / FONT_PX), radiusOf(node, camera) + 4];
    // At the right edge of the picture a name stands on the left.
    const left = x + beside + width > room.width && x - beside - width > 0 ? x - beside - width : x + beside;
    const isPointed = node.id === pointed.hovered || node.id === pointed.chosen;
    names.push({ rank: node.rank - (isPointed ? scene.nodes.length : 0), isAsked, isPointed, text: node.label, x: left, y, left: left - 3, top: y - 9, width: width + 6, height: 18 });
  }
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.globalAlpha = 1;
  const stand = standing(names, ranks);
  for (const name of stand) {
    context.font = `${name.isPointed ? 600 : 400} ${NAME_FONT_PX}px ${look.font}`;
    context.lineWidth = 3.5;
    context.strokeStyle = look.raised;
    context.strokeText(name.text, name.x, name.y);
    context.fillStyle = look.ink;
    context.fillText(name.text, name.x, name.y);
  }
  return stand;
}

function paintFactWords(picture: Picture, edges: readonly SceneEdge[], points: readonly Point[], names: readonly Label[]): void {
  const { context } = picture;
  context.textAlign = "center";
  const taken = names.map((each) => ({ ...each, isAsked: true }));
  for (const edge of edges) {
    const [one, other] = [points[edge.from] as Point, points[edge.to] as Point];
    if (Math.hypot(other.x - one.x, other.y - one.y) < 70) continue;
    const at = { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 };
    const label: Label = { rank: 0, isAsked: true, left: at.x - edge.label.length * 3.2, top: at.y - 8, width: edge.label.length * 6.4, height: 16 };
    if (standing([...taken, label], 1).length <= taken.length) continue;
    taken.push(label);
    paintWords(picture, edge.label, at, kindOf(edge, picture));
  }
}
