/** A list of any length in a box that scrolls: only the rows in sight are there. */

import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode, type RefObject } from "react";

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
  const wanted = useRef<number | null>(null);
  // What stands above the list grows and shrinks: a notice, the bar of what is chosen.
  useLayoutEffect(() => setAbove(list.current?.offsetTop ?? 0));
  const rows = useVirtualizer({
    count, getScrollElement: () => scroller.current, estimateSize: () => ROW_PX, overscan: useBeyond(count),
    scrollMargin: above_px, useFlushSync: false,
  });
  const shown = rows.getVirtualItems();
  const first = shown[0]?.index ?? 0;
  const last = shown[shown.length - 1]?.index ?? 0;
  const wantedSince = useRef<number | null>(null);
  const total_px = rows.getTotalSize();
  useEffect(() => {
    // Before any row is there, nothing tells whether the place is in sight: to go to it would hide what stands above the list.
    if (here < 0 || !shown.length) return;
    wantedSince.current ??= Date.now();
    // Rows are measured as they come, which moves those below: until then the place is only estimated.
    if (Date.now() - wantedSince.current > SETTLING_MS) return;
    const element = list.current?.querySelector(`[data-index="${here}"]`);
    if (element) element.scrollIntoView({ block: "nearest" });
    else rows.scrollToIndex(here);
  }, [here, total_px, above_px, shown.length]);
  useEffect(() => look(first, last), [first, last, count, look]);
  useEffect(() => {
    if (wanted.current === null) return;
    const link = list.current?.querySelector<HTMLElement>(`[data-index="${wanted.current}"] a`);
    if (!link) return;
    wanted.current = null;
    link.focus({ preventScroll: true });
  });
  const move = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof HTMLElement) || event.target.closest("select, textarea")) return;
    const held = event.target.closest("[data-index]");
    const next = held ? nextPlace(event.key, Number(held.getAttribute("data-index")), count) : null;
    if (next === null) return;
    event.preventDefault();
    wanted.current = next;
    rows.scrollToIndex(next);
    list.current?.querySelector<HTMLElement>(`[data-index="${next}"] a`)?.focus({ preventScroll: true });
  };
  return (
    <ul ref={list} className="rows virtual" aria-label={label} style={{ height: total_px }} onKeyDown={move}>
      {shown.map((each) => (
        <li key={each.key} ref={rows.measureElement} data-index={each.index} aria-setsize={count} aria-posinset={each.index + 1} style={{ transform: `translateY(${each.start - above_px}px)` }}>
          {row(each.index)}
        </li>
      ))}
    </ul>
  );
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
