/** The picture of a graph: entities as boxes that do not overlap, facts as arrows; it zooms, pans and can be chosen in. */

import cytoscape, { type Core, type ElementDefinition, type StylesheetJson } from "cytoscape";
import { useEffect, useRef } from "react";
import type { Graph, GraphEdge } from "../api/shapes";
import { arranged, READABLE_EDGES } from "../lib/graph_groups";
import { edgeName, type Box } from "../lib/graph_view";
import type { Point } from "../lib/layout";
import { useAround } from "../lib/session";
import { Icon } from "./icons";

const LABEL_CHARACTERS = 26;
const HEIGHT = 32;
const STEP_PX = 60;
const ZOOM_MAX = 1.15;
/** Smaller than this names cannot be read: so few entities as below are not shown smaller, the rest is a pan away. */
const ZOOM_MIN = 0.6;
const READABLE_NODES = 40;
/** The library puts a style element into the page if none has this id; the page's policy forbids it, and `style.css` has the rule. */
const OWN_STYLE = "__________cytoscape_stylesheet";

export interface Shown {
  graph: Graph;
  /** The entity that was asked for. */
  first: string | undefined;
  chosen: string | null;
  /** Entities and facts that are pointed out: what a search finds, or the way between two. */
  marked: ReadonlySet<string>;
  choose: (id: string) => void;
  expand: (id: string) => void;
}

export function GraphCanvas({ graph, first, chosen, marked, choose, expand }: Shown) {
  const { t, settings } = useAround();
  const box = useRef<HTMLDivElement>(null);
  const drawn = useRef<Core | null>(null);
  const points = useRef<ReadonlyMap<string, Point>>(new Map());
  const acts = useRef({ choose, expand });
  acts.current = { choose, expand };

  useEffect(() => {
    if (!box.current) return;
    const core = cytoscape({ container: box.current, minZoom: 0.08, maxZoom: 3, boxSelectionEnabled: false, userZoomingEnabled: matchMedia("(pointer: coarse)").matches });
    // The wheel scrolls the page; with Ctrl, as two fingers on a touchpad send it, it zooms where it points.
    const element = box.current;
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      const { left, top } = element.getBoundingClientRect();
      core.zoom({ level: core.zoom() * Math.exp(-event.deltaY / 200), renderedPosition: { x: event.clientX - left, y: event.clientY - top } });
    };
    element.addEventListener("wheel", wheel, { passive: false });
    core.on("tap", "node", (event) => acts.current.choose((event.target as { id: () => string }).id()));
    core.on("dbltap", "node", (event) => acts.current.expand((event.target as { id: () => string }).id()));
    drawn.current = core;
    return () => {
      element.removeEventListener("wheel", wheel);
      drawn.current = null;
      core.destroy();
    };
  }, []);

  useEffect(() => {
    const core = drawn.current;
    if (!core || !box.current) return;
    const style = stylesIn(box.current);
    core.style(style);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const again = () => box.current && drawn.current?.style(stylesIn(box.current));
    dark.addEventListener("change", again);
    return () => dark.removeEventListener("change", again);
  }, [settings.theme]);

  useEffect(() => {
    const core = drawn.current;
    if (!core) return;
    const boxes = new Map(graph.nodes.map((each) => [each.id, boxOf(each.name)]));
    const shape = box.current?.clientHeight ? box.current.clientWidth / box.current.clientHeight : 1;
    const found = arranged(graph.nodes.map((each) => each.id), graph.edges, points.current, (id) => boxes.get(id) as Box, shape);
    points.current = found.own;
    core.batch(() => {
      core.elements().remove();
      core.add(elementsOf(graph, first, boxes, found.drawn));
      if (graph.edges.length > READABLE_EDGES) core.edges().addClass("silent");
    });
    core.fit(undefined, 36);
    if (core.zoom() > ZOOM_MAX) {
      core.zoom(ZOOM_MAX);
      core.center();
    } else if (core.zoom() < ZOOM_MIN && graph.nodes.length <= READABLE_NODES) {
      core.zoom(ZOOM_MIN);
      core.center(core.nodes().max((each) => each.degree(false)).ele);
      core.panBy(kept(core));
    }
  }, [graph, first]);

  useEffect(() => {
    drawn.current?.batch(() => {
      drawn.current?.elements().forEach((each) => {
        each.toggleClass("chosen", each.id() === chosen || each.data("source") === chosen || each.data("target") === chosen);
        each.toggleClass("marked", marked.has(each.id()));
        each.toggleClass("aside", marked.size > 0 && !marked.has(each.id()));
      });
    });
  }, [graph, chosen, marked]);

  const zoom = (by: number) => drawn.current?.zoom({ level: drawn.current.zoom() * by, renderedPosition: { x: drawn.current.width() / 2, y: drawn.current.height() / 2 } });
  const pan = (key: string) => {
    const [x, y] = PANS[key] ?? [0, 0];
    drawn.current?.panBy({ x: x * STEP_PX, y: y * STEP_PX });
  };
  return (
    <div className="graph-frame">
      <span hidden id={OWN_STYLE} />
      <div ref={box} className="graph" role="application" aria-label={t("graph.picture")} tabIndex={0} onKeyDown={(event) => { if (event.key in PANS) { event.preventDefault(); pan(event.key); } else if (event.key === "+") zoom(1.25); else if (event.key === "-") zoom(0.8); }} />
      <div className="graph-tools" role="group" aria-label={t("graph.view")}>
        <button type="button" aria-label={t("graph.nearer")} title={t("graph.nearer")} onClick={() => zoom(1.25)}><Icon name="plus" /></button>
        <button type="button" aria-label={t("graph.farther")} title={t("graph.farther")} onClick={() => zoom(0.8)}><Icon name="minus" /></button>
        <button type="button" aria-label={t("graph.whole")} title={t("graph.whole")} onClick={() => drawn.current?.fit(undefined, 36)}><Icon name="whole" /></button>
      </div>
    </div>
  );
}

const EDGE = 10;

/** How far to move a picture so that none of its room stays empty which entities beyond its edge could have. */
function kept(core: Core): Point {
  const box = core.elements().renderedBoundingBox({ includeLabels: false });
  const by = (from: number, until: number, room: number): number => {
    if (until - from <= room - 2 * EDGE) return (room - until - from) / 2;
    return from > EDGE ? EDGE - from : Math.max(0, room - EDGE - until);
  };
  return { x: by(box.x1, box.x2, core.width()), y: by(box.y1, box.y2, core.height()) };
}

const PANS: Record<string, readonly [number, number]> = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

const labelOf = (name: string): string => (name.length > LABEL_CHARACTERS ? `${name.slice(0, LABEL_CHARACTERS - 1)}…` : name);

function boxOf(name: string): Box {
  const text = [...labelOf(name)].reduce((sum, each) => sum + (each > "\u2e80" ? 14 : 7.6), 0);
  return { width: Math.max(46, text + 26), height: HEIGHT };
}

const isOver = (edge: GraphEdge): boolean => edge.valid_until !== null && Date.parse(edge.valid_until) <= Date.now();

/** The entity that most facts are about, if there is one such. */
function centreOf({ edges }: Graph): string | undefined {
  const counts = new Map<string, number>();
  for (const { from } of edges) counts.set(from, (counts.get(from) ?? 0) + 1);
  const [most, next] = [...counts].sort(([, one], [, other]) => other - one);
  return most && most[1] > (next?.[1] ?? 1) ? most[0] : undefined;
}

function elementsOf(graph: Graph, first: string | undefined, boxes: ReadonlyMap<string, Box>, points: ReadonlyMap<string, Point>): ElementDefinition[] {
  const subjects = new Set(graph.edges.map((each) => each.from));
  const centre = first ?? centreOf(graph);
  return [
    ...graph.nodes.map((each): ElementDefinition => ({ group: "nodes", data: { id: each.id, label: labelOf(each.name), width: boxes.get(each.id)?.width }, position: { ...(points.get(each.id) as Point) }, classes: each.id === centre ? "first" : subjects.has(each.id) ? "subject" : "" })),
    ...graph.edges.filter((each) => each.from !== each.to || graph.nodes.length > 0).map((each): ElementDefinition => ({ group: "edges", data: { id: edgeName(each), source: each.from, target: each.to, label: each.predicate }, classes: isOver(each) ? "over" : "" })),
  ];
}

/** The page's colours, which depend on the look that was chosen, as the library reads them. */
function stylesIn(element: HTMLElement): StylesheetJson {
  const probe = document.createElement("span");
  element.append(probe);
  const colour = (name: string): string => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const [ink, faint, raised, line, accent, accentInk, soft, mark] = ["ink", "ink-3", "raised", "line-strong", "accent", "accent-ink", "accent-soft", "warn"].map(colour);
  const font = getComputedStyle(element).fontFamily;
  probe.remove();
  return [
    { selector: "node", style: { shape: "round-rectangle", "corner-radius": "16", width: "data(width)", height: HEIGHT, label: "data(label)", "text-valign": "center", "text-halign": "center", "font-size": 13, "font-family": font, color: ink, "background-color": raised, "border-color": line, "border-width": 1.4 } },
    { selector: "node.subject", style: { "background-color": soft, "border-color": accent } },
    { selector: "node.first", style: { "background-color": accent, "border-color": accent, color: accentInk, "font-weight": 600 } },
    { selector: "node.chosen", style: { "border-color": accent, "border-width": 3 } },
    { selector: "node.marked", style: { "border-color": mark, "border-width": 3 } },
    { selector: "edge", style: { width: 1.3, "curve-style": "bezier", "line-color": line, "target-arrow-color": line, "target-arrow-shape": "triangle", "arrow-scale": 0.9, label: "data(label)", "font-size": 11, "font-family": font, color: faint, "text-background-color": raised, "text-background-opacity": 1, "text-background-padding": "2px", "min-zoomed-font-size": 7 } },
    { selector: "edge.silent", style: { "text-opacity": 0, "text-background-opacity": 0 } },
    { selector: "edge.chosen, edge.marked", style: { "text-opacity": 1, "text-background-opacity": 1, "z-index": 2 } },
    { selector: "edge.over", style: { "line-style": "dashed", opacity: 0.65 } },
    { selector: "edge.chosen", style: { "line-color": accent, "target-arrow-color": accent, width: 2, color: ink } },
    { selector: "edge.marked", style: { "line-color": mark, "target-arrow-color": mark, width: 2.4, color: ink } },
    { selector: ".aside", style: { opacity: 0.28 } },
    { selector: "node:active", style: { "overlay-color": soft, "overlay-opacity": 0.3 } },
  ] as StylesheetJson;
}
