/** The picture of a graph: it zooms, pans, and can be chosen in; a worker says where the entities stand. */

import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Graph } from "../api/shapes";
import { firstView, panned, toScreen, whole, zoomedAt, type Camera, type Room } from "../lib/graph_camera";
import { layoutByWorker } from "../lib/graph_layout";
import { isBoxed, neighboursOf, nodeAt, paint, type Look, type Pointed } from "../lib/graph_paint";
import { boundsOf, boxOf, sceneOf, type Scene } from "../lib/graph_scene";
import type { Point } from "../lib/layout";
import { useAround } from "../lib/session";
import { Icon } from "./icons";
import { Failure } from "./states";
import { useGraphPointer } from "./graph_pointer";

const STEP_PX = 60;
const NEARER = 1.25;
/** What is sought comes no nearer than this. */
const NEAR_ZOOM = 1.3;

export interface Shown {
  graph: Graph;
  /** The entity that was asked for. */
  first: string | undefined;
  chosen: string | null;
  /** Entities and facts that are pointed out: what a search finds, or the way between two. */
  marked: ReadonlySet<string>;
  /** Entities that were looked for beside the picture: it moves there. One alone is shown with its neighbours. */
  sought: readonly string[];
  choose: (id: string | null) => void;
  expand: (id: string) => void;
}

interface Drawing {
  scene: Scene | null;
  camera: Camera;
  room: Room;
  look: Look | null;
  pointed: Pointed;
}

export function GraphCanvas({ graph, first, chosen, marked, sought, choose, expand }: Shown) {
  const { t, settings } = useAround();
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawing = useRef<Drawing>({ scene: null, camera: { x: 0, y: 0, zoom: 1 }, room: { width: 0, height: 0 }, look: null, pointed: { chosen, hovered: null, marked } });
  const redraw = useRedraw(canvas, drawing);
  const { isBusy, error, again } = useLayout(graph, first, drawing, redraw);
  const show = useCallback((change: (camera: Camera, room: Room) => Camera) => {
    drawing.current.camera = change(drawing.current.camera, drawing.current.room);
    redraw();
  }, [redraw]);

  useEffect(() => {
    const found = () => {
      if (canvas.current) drawing.current.look = lookOf(canvas.current);
      redraw();
    };
    found();
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", found);
    return () => dark.removeEventListener("change", found);
  }, [settings.theme, redraw]);

  useEffect(() => {
    const at = drawing.current;
    at.pointed = { ...at.pointed, chosen, marked };
    redraw();
  }, [chosen, marked, redraw]);

  useEffect(() => {
    const { scene, room } = drawing.current;
    if (scene && sought.length) show((camera) => soughtView(scene, camera, room, sought));
  }, [sought, show]);

  useGraphPointer(canvas, {
    nodeAt: (at) => (drawing.current.scene ? nodeAt(drawing.current.scene, drawing.current.camera, drawing.current.room, at)?.id : undefined),
    hover: (id) => {
      if (drawing.current.pointed.hovered === id) return;
      drawing.current.pointed = { ...drawing.current.pointed, hovered: id };
      redraw();
    },
    pan: (x, y) => show((camera) => panned(camera, x, y)),
    zoom: (by, at) => show((camera, room) => zoomedAt(camera, room, by, at)),
    drag: (id, x, y) => {
      const { scene, camera } = drawing.current;
      const node = scene?.nodes[scene.place.get(id) ?? -1];
      if (!node) return;
      [node.x, node.y] = [node.x + x / camera.zoom, node.y + y / camera.zoom];
      redraw();
    },
    choose,
    expand,
  });

  const zoom = (by: number) => show((camera, room) => zoomedAt(camera, room, by, { x: room.width / 2, y: room.height / 2 }));
  const press = (key: string): boolean => {
    const [x, y] = PANS[key] ?? [0, 0];
    if (key in PANS) show((camera) => panned(camera, x * STEP_PX, y * STEP_PX));
    else if (key === "+") zoom(NEARER);
    else if (key === "-") zoom(1 / NEARER);
    else return false;
    return true;
  };
  return (
    <div className="graph-frame">
      <div className="graph" role="application" aria-label={t("graph.picture")} aria-busy={isBusy} tabIndex={0} onKeyDown={(event) => { if (press(event.key)) event.preventDefault(); }}>
        <canvas ref={canvas} />
      </div>
      {isBusy && <p className="graph-note" role="status">{t("graph.placing")}</p>}
      {Boolean(error) && <div className="graph-note"><Failure error={error} again={again} /></div>}
      <div className="graph-tools" role="group" aria-label={t("graph.view")}>
        <button type="button" aria-label={t("graph.nearer")} title={t("graph.nearer")} onClick={() => zoom(NEARER)}><Icon name="plus" /></button>
        <button type="button" aria-label={t("graph.farther")} title={t("graph.farther")} onClick={() => zoom(1 / NEARER)}><Icon name="minus" /></button>
        <button type="button" aria-label={t("graph.whole")} title={t("graph.whole")} onClick={() => show((camera, room) => (drawing.current.scene ? whole(drawing.current.scene.bounds, room) : camera))}><Icon name="whole" /></button>
      </div>
    </div>
  );
}

const PANS: Record<string, readonly [number, number]> = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

function soughtView(scene: Scene, camera: Camera, room: Room, sought: readonly string[]): Camera {
  const places = sought.length === 1 ? [...neighboursOf(scene, sought[0] as string)] : sought.flatMap((id) => scene.place.get(id) ?? []);
  const nodes = places.flatMap((at) => scene.nodes[at] ?? []);
  const isSeen = nodes.every((each) => isInside(toScreen(camera, room, each), room));
  // A picture that shows it with its names stays as it is.
  if (!nodes.length || (isSeen && !scene.isCrowd)) return camera;
  const around = whole(boundsOf(nodes), room);
  return { ...around, zoom: Math.min(around.zoom, NEAR_ZOOM) };
}

const isInside = ({ x, y }: Point, { width, height }: Room): boolean => x > 20 && y > 20 && x < width - 20 && y < height - 20;

/** Draw once before the next picture of the browser, however often it is asked for; again when the size changes. */
function useRedraw(canvas: React.RefObject<HTMLCanvasElement | null>, drawing: React.RefObject<Drawing>): () => void {
  const asked = useRef(0);
  const redraw = useCallback(() => {
    asked.current ||= requestAnimationFrame(() => {
      asked.current = 0;
      const { scene, camera, room, look, pointed } = drawing.current;
      const element = canvas.current;
      const context = element?.getContext("2d");
      if (!element || !context || !scene || !look) return;
      paint(context, element.width / Math.max(1, room.width), room, scene, camera, look, pointed);
      element.dataset.look = isBoxed(scene, camera) ? "boxes" : "dots";
    });
  }, [canvas, drawing]);
  useEffect(() => {
    const element = canvas.current;
    if (!element?.parentElement) return;
    const fitted = () => {
      const { clientWidth: width, clientHeight: height } = element.parentElement as HTMLElement;
      drawing.current.room = { width, height };
      const scale = Math.min(2, devicePixelRatio || 1);
      [element.width, element.height] = [Math.round(width * scale), Math.round(height * scale)];
      redraw();
    };
    fitted();
    const watch = new ResizeObserver(fitted);
    watch.observe(element.parentElement);
    return () => {
      watch.disconnect();
      cancelAnimationFrame(asked.current);
      asked.current = 0;
    };
  }, [canvas, drawing, redraw]);
  return redraw;
}

/** Ask for the places of a graph whenever it is another one; what had a place keeps near it. */
function useLayout(graph: Graph, first: string | undefined, drawing: React.RefObject<Drawing>, redraw: () => void): { isBusy: boolean; error: unknown; again: () => void } {
  const own = useRef<Map<string, Point>>(new Map());
  const [state, setState] = useState<{ graph: Graph | null; error: unknown }>({ graph: null, error: null });
  const [round, setRound] = useState(0);
  const request = useMemo(() => ({ ids: graph.nodes.map((each) => each.id), edges: graph.edges.map(({ from, to }) => ({ from, to })), boxes: new Map(graph.nodes.map((each) => [each.id, boxOf(each.name)])) }), [graph]);
  useEffect(() => {
    const stop = new AbortController();
    const { width, height } = drawing.current.room;
    layoutByWorker({ ...request, before: own.current, shape: height ? width / height : 1 }, stop.signal).then(
      (found) => {
        if (stop.signal.aborted) return;
        own.current = found.own;
        const scene = sceneOf(graph, first, found.drawn);
        drawing.current.scene = scene;
        drawing.current.camera = firstView(scene.bounds, drawing.current.room, scene.nodes.length, scene.nodes.find((each) => each.rank === 0));
        redraw();
        setState({ graph, error: null });
      },
      (error: unknown) => !stop.signal.aborted && setState({ graph, error }),
    );
    return () => stop.abort();
  }, [graph, first, request, drawing, redraw, round]);
  return { isBusy: state.graph !== graph, error: state.graph === graph ? state.error : null, again: () => { setState({ graph: null, error: null }); setRound((n) => n + 1); } };
}

/** The page's colours, which depend on the look that was chosen, as a canvas takes them. */
function lookOf(canvas: HTMLCanvasElement): Look {
  const probe = document.createElement("span");
  canvas.parentElement?.append(probe);
  const colour = (name: string): string => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const look = { ink: colour("ink"), faint: colour("ink-3"), raised: colour("raised"), line: colour("line-strong"), accent: colour("accent"), accentInk: colour("accent-ink"), soft: colour("accent-soft"), mark: colour("warn"), font: getComputedStyle(canvas).fontFamily };
  probe.remove();
  return look;
}
