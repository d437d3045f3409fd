/** A pointer on the picture of a graph: one moves it or an entity, two change its size, a tap chooses, a second one expands. */

import { useEffect, useRef, type RefObject } from "react";
import type { Point } from "../lib/layout";

export interface PointerActs {
  nodeAt: (at: Point) => string | undefined;
  hover: (id: string | null) => void;
  pan: (x: number, y: number) => void;
  zoom: (by: number, at: Point) => void;
  drag: (id: string, x: number, y: number) => void;
  choose: (id: string | null) => void;
  expand: (id: string) => void;
}

/** A pointer that moves less than this taps. */
const TAP_PX = 5;
const SECOND_TAP_MS = 350;

export function useGraphPointer(canvas: RefObject<HTMLCanvasElement | null>, acts: PointerActs): void {
  const known = useRef(acts);
  known.current = acts;
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const stop = new AbortController();
    const pointers = new Map<number, Point>();
    let held: string | undefined;
    let moved = 0;
    let last: { id: string; at: number } | null = null;
    const pointOf = (event: MouseEvent): Point => {
      const { left, top } = element.getBoundingClientRect();
      return { x: event.clientX - left, y: event.clientY - top };
    };
    const down = (event: PointerEvent) => {
      if (event.button) return;
      const at = pointOf(event);
      element.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, at);
      held = pointers.size === 1 ? known.current.nodeAt(at) : undefined;
      moved = pointers.size === 1 ? 0 : Infinity;
    };
    const move = (event: PointerEvent) => {
      const at = pointOf(event);
      const before = pointers.get(event.pointerId);
      if (!before) {
        const over = known.current.nodeAt(at);
        element.style.cursor = over ? "pointer" : "";
        known.current.hover(over ?? null);
        return;
      }
      const [dx, dy] = [at.x - before.x, at.y - before.y];
      moved += Math.hypot(dx, dy);
      if (moved < TAP_PX) return;
      pointers.set(event.pointerId, at);
      const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
      if (other) {
        known.current.zoom(Math.hypot(at.x - other.x, at.y - other.y) / Math.max(1, Math.hypot(before.x - other.x, before.y - other.y)), { x: (at.x + other.x) / 2, y: (at.y + other.y) / 2 });
        known.current.pan(dx / 2, dy / 2);
      } else if (held) known.current.drag(held, dx, dy);
      else known.current.pan(dx, dy);
    };
    const up = (event: PointerEvent) => {
      if (!pointers.delete(event.pointerId) || pointers.size || moved >= TAP_PX) return;
      const id = held;
      held = undefined;
      const isSecond = last !== null && last.id === id && event.timeStamp - last.at < SECOND_TAP_MS;
      last = id === undefined || isSecond ? null : { id, at: event.timeStamp };
      if (id !== undefined && isSecond) known.current.expand(id);
      else known.current.choose(id ?? null);
    };
    const cancel = (event: PointerEvent) => pointers.delete(event.pointerId);
    // The wheel scrolls the page; with Ctrl, as two fingers on a touchpad send it, it zooms where it points.
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      known.current.zoom(Math.exp(-event.deltaY / 200), pointOf(event));
    };
    element.addEventListener("pointerdown", down, { signal: stop.signal });
    element.addEventListener("pointermove", move, { signal: stop.signal });
    element.addEventListener("pointerup", up, { signal: stop.signal });
    element.addEventListener("pointercancel", cancel, { signal: stop.signal });
    element.addEventListener("pointerleave", () => known.current.hover(null), { signal: stop.signal });
    element.addEventListener("wheel", wheel, { passive: false, signal: stop.signal });
    return () => stop.abort();
  }, [canvas]);
}
