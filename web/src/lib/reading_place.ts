/** The place of a reader in a list that grows at both ends: at its end, or with the row that is being read. */

import { useCallback, useLayoutEffect, useRef, type RefObject } from "react";

const NEAR_END_PX = 60;
/** A browser rounds where a box is scrolled to. */
const ROUNDED_PX = 2;

export interface ReadingPlace {
  isAtEnd: boolean;
  /** The first row in view, and how far below the box's upper edge it begins. */
  row: Element | undefined;
  top_px: number;
  /** How far the box was scrolled then. */
  scrolled_px: number;
}

export interface Rows {
  /** Anything that differs when rows were added, or have grown. */
  now: unknown;
  /** What differs when the reader has added something, which is shown wherever they were reading. */
  own: unknown;
  /** The id of the row that a link led to, once it is there. */
  held: string | null;
  /** What differs with each link that was followed. */
  link: unknown;
}

/**
 * Keep the reader's place in `box` while its rows change; call `note` when the box was scrolled.
 *
 * Who is at the end stays there. Who reads further up keeps the row that is being read where it is, whatever comes
 * before or after it. Who followed a link keeps what it led to in the middle, until they scroll themselves. Call `stay`
 * before a row is unfolded: its first words stay where they are, also at the end.
 */
export function useReadingPlace(box: RefObject<HTMLElement | null>, { now, own, held, link }: Rows): { note: () => void; stay: () => void } {
  const place = useRef<ReadingPlace>({ isAtEnd: true, row: undefined, top_px: 0, scrolled_px: 0 });
  const ownBefore = useRef(own);
  const heldRow = useRef<string | null>(null);
  const keep = useCallback(() => {
    const element = box.current;
    if (!element) return;
    element.scrollTop = keptAt(element, place.current, heldRow.current === null ? null : document.getElementById(heldRow.current));
    place.current = placeIn(element);
  }, [box]);
  const resized = useResized(keep);
  useLayoutEffect(() => {
    heldRow.current = held;
  }, [held, link]);
  useLayoutEffect(() => {
    if (ownBefore.current !== own) {
      ownBefore.current = own;
      heldRow.current = null;
      place.current.isAtEnd = true;
    }
    keep();
    if (box.current) resized.watch(box.current);
  }, [now, own, held, link]);
  const stay = useCallback(() => {
    heldRow.current = null;
    if (box.current) place.current = { ...placeIn(box.current), isAtEnd: false };
  }, [box]);
  const note = () => {
    if (!box.current) return;
    if (isLeft(box.current, place.current)) heldRow.current = null;
    place.current = placeIn(box.current);
  };
  return { note, stay };
}

/** Call `keep` whenever a box or one of its rows has another size: sources, for one, are read after the turn they stand in. */
function useResized(keep: () => void): { watch: (box: Element) => void } {
  const observer = useRef<ResizeObserver | null>(null);
  const watched = useRef(new WeakSet<Element>());
  useLayoutEffect(() => {
    watched.current = new WeakSet();
    observer.current = new ResizeObserver(keep);
    return () => observer.current?.disconnect();
  }, [keep]);
  return {
    watch: (box) => {
      for (const each of [box, ...box.children]) {
        if (watched.current.has(each)) continue;
        watched.current.add(each);
        observer.current?.observe(each, { box: "border-box" });
      }
    },
  };
}

/** How far a box is to be scrolled, so that a reader stays where they are, or at the row that a link led to. */
export function keptAt(box: HTMLElement, { isAtEnd, row, top_px }: ReadingPlace, target: Element | null): number {
  if (target) return box.scrollTop + offMiddle(box, target);
  if (isAtEnd) return box.scrollHeight;
  return row?.isConnected ? box.scrollTop + topIn(box, row) - top_px : box.scrollTop;
}

/** Whether the reader has scrolled a box: elsewhere than where it was put. */
export const isLeft = (box: HTMLElement, { scrolled_px }: ReadingPlace): boolean => Math.abs(box.scrollTop - scrolled_px) > ROUNDED_PX;

export function placeIn(box: HTMLElement): ReadingPlace {
  const isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_END_PX;
  const edge = box.getBoundingClientRect().top;
  const row = [...box.querySelectorAll("[data-row]")].find((each) => each.getBoundingClientRect().bottom > edge);
  return { isAtEnd, row, top_px: row ? topIn(box, row) : 0, scrolled_px: box.scrollTop };
}

const topIn = (box: Element, row: Element): number => row.getBoundingClientRect().top - box.getBoundingClientRect().top;

/** How far the words that a link marked, or their row, are below the middle of the box; what is higher than the box begins at its upper edge. */
function offMiddle(box: Element, row: Element): number {
  const words = row.querySelector("mark") ?? row;
  return topIn(box, words) - Math.max(0, (box.clientHeight - words.getBoundingClientRect().height) / 2);
}
