/** Where the entities of a graph stand: worked out in a worker, so that the page answers meanwhile. */

import { crowded } from "./crowd_layout";
import { arranged } from "./graph_groups";
import type { Point } from "./layout";

/** More entities than this are dots with names beside them, instead of boxes that hold their names. */
export const BOXED_NODES = 100;

export interface LayoutRequest {
  ids: string[];
  edges: { from: string; to: string }[];
  /** Places of an earlier layout: who has one keeps near it. */
  before: Map<string, Point>;
  boxes: Map<string, { width: number; height: number }>;
  /** Width by height of the picture. */
  shape: number;
}

export interface Layout {
  /** What a later layout takes as `before`. */
  own: Map<string, Point>;
  drawn: Map<string, Point>;
}

export function laidOut({ ids, edges, before, boxes, shape }: LayoutRequest): Layout {
  const box = { width: 0, height: 0 };
  if (ids.length <= BOXED_NODES) return arranged(ids, edges, before, (id) => boxes.get(id) ?? box, shape);
  const place = new Map(ids.map((id, at) => [id, at]));
  const links = edges.flatMap(({ from, to }) => {
    const [one, other] = [place.get(from), place.get(to)];
    return one === undefined || other === undefined || one === other ? [] : [[one, other] as const];
  });
  const points = crowded(ids.length, links, shape, ids.map((id) => before.get(id)));
  const drawn = new Map(ids.map((id, at) => [id, points[at] as Point]));
  return { own: drawn, drawn };
}

/** Ask a worker for a layout; a stopped one is ended at once. */
export function layoutByWorker(request: LayoutRequest, signal: AbortSignal): Promise<Layout> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./graph_layout_worker.ts", import.meta.url), { type: "module" });
    const end = () => worker.terminate();
    signal.addEventListener("abort", end, { once: true });
    worker.onmessage = ({ data }: MessageEvent<Layout>) => {
      end();
      resolve(data);
    };
    worker.onerror = (event) => {
      end();
      // A script that cannot be loaded has no message: the service has stopped, or was renewed.
      reject(new TypeError(event.message || "Failed to fetch the layout of the graph"));
    };
    worker.postMessage(request);
  });
}
