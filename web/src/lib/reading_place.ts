/** The place of a reader in a list that grows at both ends: at its end, or with the row that is being read. */

import { useLayoutEffect, useRef, type RefObject } from "react";

const NEAR_END_PX = 60;

interface Place {
  isAtEnd: boolean;
  /** The first row in view, and how far below the box's upper edge it begins. */
  row: Element | undefined;
  top_px: number;
}

export interface Rows {
  /** Anything that differs when rows were added, or have grown. */
  now: unknown;
  /** What differs when the reader has added something, which is shown wherever they were reading. */
  own: unknown;
  /** A row was asked for and is scrolled to by others. */
  isHeld: boolean;
}

/**
 * Keep the reader's place in `box` while its rows change; call what is returned when the box was scrolled.
 *
 * Who is at the end stays there. Who reads further up keeps the row that is being read where it is, whatever comes
 * before or after it.
 */
export function useReadingPlace(box: RefObject<HTMLElement | null>, { now, own, isHeld }: Rows): () => void {
  const place = useRef<Place>({ isAtEnd: true, row: undefined, top_px: 0 });
  const ownBefore = useRef(own);
  const note = () => {
    if (box.current) place.current = placeIn(box.current);
  };
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const { isAtEnd, row, top_px } = place.current;
    if (!isHeld && (isAtEnd || ownBefore.current !== own)) element.scrollTop = element.scrollHeight;
    else if (row?.isConnected) element.scrollTop += topIn(element, row) - top_px;
    ownBefore.current = own;
    note();
  }, [now, own, isHeld]);
  return note;
}

function placeIn(box: HTMLElement): Place {
  const isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_END_PX;
  const edge = box.getBoundingClientRect().top;
  const row = [...box.querySelectorAll("[data-row]")].find((each) => each.getBoundingClientRect().bottom > edge);
  return { isAtEnd, row, top_px: row ? topIn(box, row) : 0 };
}

const topIn = (box: Element, row: Element): number => row.getBoundingClientRect().top - box.getBoundingClientRect().top;
