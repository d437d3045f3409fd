/** What of a graph is in the picture: a place of the graph in the picture's middle, and how large. */

import type { Point } from "./layout";

export interface Camera extends Point {
  zoom: number;
}

export interface Room {
  width: number;
  height: number;
}

export interface Bounds {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

const ZOOM_MIN = 0.03;
const ZOOM_MAX = 3;
/** A small graph is not blown up to fill its picture. */
const FIT_MAX = 1.15;
/** Smaller than this names cannot be read: so few entities as below are not shown smaller, the rest is a pan away. */
const READABLE_ZOOM = 0.7;
const READABLE_NODES = 40;
const MARGIN = 36;
const EDGE = 10;

export const toScreen = (camera: Camera, room: Room, at: Point): Point => ({ x: (at.x - camera.x) * camera.zoom + room.width / 2, y: (at.y - camera.y) * camera.zoom + room.height / 2 });
export const toGraph = (camera: Camera, room: Room, at: Point): Point => ({ x: (at.x - room.width / 2) / camera.zoom + camera.x, y: (at.y - room.height / 2) / camera.zoom + camera.y });

/** Larger or smaller, with one place of the picture kept where it is. */
export function zoomedAt(camera: Camera, room: Room, by: number, at: Point): Camera {
  const zoom = Math.min(ZOOM_MAX, Math.max(ZOOM_MIN, camera.zoom * by));
  const kept = toGraph(camera, room, at);
  return { zoom, x: kept.x - (at.x - room.width / 2) / zoom, y: kept.y - (at.y - room.height / 2) / zoom };
}

export const panned = (camera: Camera, x: number, y: number): Camera => ({ ...camera, x: camera.x - x / camera.zoom, y: camera.y - y / camera.zoom });

/** All of it. */
export function whole(bounds: Bounds, room: Room): Camera {
  const across = Math.max(1, room.width - 2 * MARGIN) / Math.max(1, bounds.right - bounds.left);
  const down = Math.max(1, room.height - 2 * MARGIN) / Math.max(1, bounds.bottom - bounds.top);
  return { x: (bounds.left + bounds.right) / 2, y: (bounds.top + bounds.bottom) / 2, zoom: Math.max(ZOOM_MIN, Math.min(across, down, FIT_MAX)) };
}

/** What is seen first: all of it, or, where its names could not be read, the part around one of the entities. */
export function firstView(bounds: Bounds, room: Room, count: number, centre: Point | undefined): Camera {
  const all = whole(bounds, room);
  if (all.zoom >= READABLE_ZOOM || count > READABLE_NODES || !centre) return all;
  const within = (at: number, from: number, until: number, size: number): number => {
    const half = size / READABLE_ZOOM / 2 - EDGE / READABLE_ZOOM;
    return until - from <= 2 * half ? (from + until) / 2 : Math.min(until - half, Math.max(from + half, at));
  };
  return { zoom: READABLE_ZOOM, x: within(centre.x, bounds.left, bounds.right, room.width), y: within(centre.y, bounds.top, bounds.bottom, room.height) };
}
