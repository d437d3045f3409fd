/** A list of any length in a box that scrolls: only the rows in sight are there. */

import { useCallback, useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState, type KeyboardEvent, type ReactNode, type RefObject } from "react";
import { edgesOf, placeAt } from "../lib/row_places";

const ROW_PX = 66;
const BEYOND = 10;
/** A list no longer than this is there whole soon after, for who searches in the page by the browser. */
const WHOLE_MAX = 150;
/** So many more rows at a time: all at once would hold up what a person does meanwhile. */
const MORE = 20;
const MORE_MS = 60;
/** So long after a place is wanted it is kept in sight, while the rows above it are measured. */
const SETTLING_MS = 1_500;

export interface VirtualRowsProps {
  count: number;
  label: string;
  scroller: RefObject<HTMLElement | null>;
  row: (place: number) => ReactNode;
  /** The place that is brought into sight once it is known, such as that of the memory that is open. */
  here?: number;
  /** Told which places are in sight. */
  look: (first: number, last: number) => void;
}

export function VirtualRows({ count, label, scroller, row, here = -1, look }: VirtualRowsProps) {
  const list = useRef<HTMLUListElement>(null);
  const [above_px, setAbove] = useState(0);
  // What stands above the list grows and shrinks: a notice, the bar of what is chosen.
  useLayoutEffect(() => setAbove(list.current?.offsetTop ?? 0));
  const { edges, first, last, measure, goTo } = useInSight(count, scroller, above_px, useBeyond(count));
  const total_px = edges[count] as number;
  // The place that is kept in sight, and until when.
  const wanted = useRef({ place: -1, until: 0 });
  const toFocus = useRef<number | null>(null);
  const wasHere = useRef(false);
  useLayoutEffect(() => {
    // Once: what is written or sorted later must not take away the rows that are being read.
    if (here < 0 || wasHere.current) return;
    wasHere.current = true;
    wanted.current = { place: here, until: Infinity };
  }, [here]);
  useEffect(() => {
    const box = scroller.current;
    const letGo = () => (wanted.current.place = -1);
    box?.addEventListener("wheel", letGo, { passive: true });
    return () => box?.removeEventListener("wheel", letGo);
  }, []);
  const seek = () => {
    const { place, until } = wanted.current;
    // Before any row is there, nothing tells whether the place is in sight: to go to it would hide what stands above the list.
    if (place < 0 || last < 0 || Date.now() > until) return;
    // Rows are measured as they come, which moves those below: until then the place is only estimated.
    if (until === Infinity) wanted.current.until = Date.now() + SETTLING_MS;
    const element = list.current?.querySelector(`[data-index="${place}"]`);
    if (!element) return goTo(place);
    element.scrollIntoView({ block: "nearest" });
  };
  useEffect(seek, [here, total_px, above_px, first, last]);
  // The row that is gone to by a key takes the focus once it is there, which may be after it was asked for.
  const focus = () => {
    const link = toFocus.current === null ? null : list.current?.querySelector<HTMLElement>(`[data-index="${toFocus.current}"] a`);
    if (!link) return;
    toFocus.current = null;
    link.focus({ preventScroll: true });
  };
  useEffect(focus);
  useEffect(() => look(first, last), [first, last, count, look]);
  const move = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof HTMLElement) || event.target.closest("select, textarea")) return;
    const held = event.target.closest("[data-index]");
    const next = held ? nextPlace(event.key, Number(held.getAttribute("data-index")), count) : null;
    if (next === null) return;
    event.preventDefault();
    wanted.current = { place: next, until: Infinity };
    toFocus.current = next;
    seek();
    focus();
  };
  return (
    <ul ref={list} className="rows virtual" aria-label={label} style={{ height: total_px }} onKeyDown={move}>
      {Array.from({ length: last - first + 1 }, (_, at) => first + at).map((place) => (
        <li key={place} ref={measure} data-index={place} aria-setsize={count} aria-posinset={place + 1} style={{ transform: `translateY(${edges[place]}px)` }}>
          {row(place)}
        </li>
      ))}
    </ul>
  );
}

/**
 * Which rows are in sight, with so many beyond them, and where each stands.
 *
 * A row is measured when it is there and whenever it changes. One above those in sight that turns out higher or lower
 * than it was taken to be moves none of them: the box scrolls by as much.
 */
function useInSight(count: number, scroller: RefObject<HTMLElement | null>, above_px: number, beyond: number) {
  const [heights] = useState(() => new Map<number, number>());
  const [round, measured] = useReducer((before: number) => before + 1, 0);
  const [, scrolled] = useReducer((before: number) => before + 1, 0);
  const edges = useMemo(() => edgesOf(count, ROW_PX, heights), [count, round]);
  const inSight = () => {
    const { scrollTop = 0, clientHeight = 0 } = scroller.current ?? {};
    const at = scrollTop - above_px;
    return [Math.max(0, placeAt(edges, at) - beyond), Math.min(placeAt(edges, at + clientHeight) + beyond, count - 1)] as const;
  };
  const [first, last] = inSight();
  const note = (rows: Iterable<HTMLElement>) => {
    const box = scroller.current;
    let moved_px = 0;
    let hasChanged = false;
    for (const each of rows) {
      const place = Number(each.dataset.index);
      const grown_px = each.offsetHeight - (heights.get(place) ?? ROW_PX);
      // A list that is not shown, as beside an open memory on a phone, has no heights.
      if (!each.offsetHeight || !grown_px) continue;
      heights.set(place, each.offsetHeight);
      hasChanged = true;
      if (box && above_px + (edges[place] as number) < box.scrollTop) moved_px += grown_px;
    }
    if (box && moved_px) box.scrollTop += moved_px;
    if (hasChanged) measured();
  };
  const now = useRef({ note, see: () => undefined as void });
  now.current = { note, see: () => inSight().join() !== `${first},${last}` && scrolled() };
  const fresh = useRef(new Set<HTMLElement>());
  const [resized] = useState(() => new ResizeObserver((all) => now.current.note(all.map((each) => each.target as HTMLElement))));
  const measure = useCallback((row: HTMLElement | null) => {
    if (!row) return;
    fresh.current.add(row);
    resized.observe(row);
    return () => {
      fresh.current.delete(row);
      resized.unobserve(row);
    };
  }, [resized]);
  useLayoutEffect(() => {
    if (!fresh.current.size) return;
    now.current.note(fresh.current);
    fresh.current.clear();
  });
  useEffect(() => {
    const box = scroller.current;
    if (!box) return;
    const see = () => now.current.see();
    const observer = new ResizeObserver(see);
    box.addEventListener("scroll", see, { passive: true });
    observer.observe(box);
    return () => {
      box.removeEventListener("scroll", see);
      observer.disconnect();
    };
  }, []);
  const goTo = (place: number) => {
    const box = scroller.current;
    if (!box) return;
    const [from, until] = [above_px + (edges[place] as number), above_px + (edges[place + 1] as number)];
    if (from < box.scrollTop) box.scrollTop = from;
    else if (until > box.scrollTop + box.clientHeight) box.scrollTop = until - box.clientHeight;
  };
  return { edges, first, last, measure, goTo };
}

/** How many rows beyond those in sight are there: of a short list more and more, until it is whole. */
function useBeyond(count: number): number {
  const [beyond, setBeyond] = useState(BEYOND);
  const goal = count <= WHOLE_MAX ? Math.max(BEYOND, count) : BEYOND;
  useEffect(() => {
    if (beyond === goal) return;
    const timer = setTimeout(() => setBeyond(Math.min(goal, beyond + MORE)), MORE_MS);
    return () => clearTimeout(timer);
  }, [beyond, goal]);
  return Math.min(beyond, goal);
}

const PAGE_ROWS = 10;

/** The place that a key leads to from another one, null for keys that lead nowhere. */
export function nextPlace(key: string, place: number, count: number): number | null {
  const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE_ROWS, PageUp: -PAGE_ROWS, Home: -count, End: count };
  const step = steps[key];
  return step === undefined ? null : Math.min(count - 1, Math.max(0, place + step));
}
