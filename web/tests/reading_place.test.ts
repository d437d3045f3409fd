/** A reader stays at what is being read, or at the words that a link led to, whatever is added around it. */

import { describe, expect, it } from "vitest";
import { isLeft, keptAt, placeIn } from "../src/lib/reading_place";

const HEIGHT_PX = 500;

interface Row {
  at_px: number;
  height_px: number;
  /** The words that a link marked in it. */
  mark?: Row;
}

/** A box that shows rows from how far it is scrolled on, as a browser measures them. */
function boxOf(rows: Row[], scrolled_px: number) {
  const box = { scrollTop: scrolled_px, clientHeight: HEIGHT_PX, scrollHeight: Math.max(...rows.map((each) => each.at_px + each.height_px)), getBoundingClientRect: () => ({ top: 100 }), querySelectorAll: () => elements };
  const elementOf = ({ at_px, height_px, mark }: Row): object => ({
    isConnected: true,
    getBoundingClientRect: () => ({ top: 100 + at_px - box.scrollTop, bottom: 100 + at_px + height_px - box.scrollTop, height: height_px }),
    querySelector: () => (mark ? elementOf(mark) : null),
  });
  const elements = rows.map(elementOf) as Element[];
  return { box: box as unknown as HTMLElement, elements };
}

/** Rows of 100 px, one after another. */
const rows = (count: number, from_px = 0): Row[] => Array.from({ length: count }, (_, place) => ({ at_px: from_px + place * 100, height_px: 100 }));

describe("the place of a reader", () => {
  it("is the end while they are near it", () => {
    const { box } = boxOf(rows(20), 1_450);
    expect(placeIn(box)).toMatchObject({ isAtEnd: true, scrolled_px: 1_450 });
    expect(keptAt(box, placeIn(box), null)).toBe(2_000);
  });

  it("is the first row in view, also when rows come before it", () => {
    const { box, elements } = boxOf(rows(20), 420);
    const place = placeIn(box);
    expect(place).toMatchObject({ isAtEnd: false, row: elements[4], top_px: -20 });
    // Three more rows before: the row is 300 px further down.
    const longer = boxOf(rows(20, 300), 420);
    expect(keptAt(longer.box, { ...place, row: longer.elements[4] }, null)).toBe(720);
    expect(keptAt(longer.box, { ...place, row: undefined }, null)).toBe(420);
  });

  it("is left only by who scrolls", () => {
    const { box } = boxOf(rows(20), 420);
    const place = placeIn(box);
    box.scrollTop = 421.4;
    expect(isLeft(box, place)).toBe(false);
    box.scrollTop = 430;
    expect(isLeft(box, place)).toBe(true);
  });
});

describe("the row that a link leads to", () => {
  it("stands in the middle, at the words that the link marks", () => {
    const marked = { at_px: 1_000, height_px: 100, mark: { at_px: 1_080, height_px: 20 } };
    const { box, elements } = boxOf([...rows(10), marked, ...rows(10, 1_100)], 0);
    const place = { ...placeIn(box), isAtEnd: true };
    expect(keptAt(box, place, elements[10] as Element)).toBe(1_090 - HEIGHT_PX / 2);
    expect(keptAt(box, place, elements[9] as Element)).toBe(950 - HEIGHT_PX / 2);
  });

  it("begins at the upper edge where it is higher than the box", () => {
    const { box, elements } = boxOf([...rows(10), { at_px: 1_000, height_px: 900 }], 0);
    expect(keptAt(box, placeIn(box), elements[10] as Element)).toBe(1_000);
  });
});
