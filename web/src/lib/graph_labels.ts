/** Which names stand in a picture that has no room for all: the most connected first, more of them the nearer one looks, none over another. */

export interface Label {
  /** Place in the order of importance: 0 is the most important. */
  rank: number;
  left: number;
  top: number;
  width: number;
  height: number;
  /** One that was asked for stands whatever its rank, and before all others. */
  isAsked: boolean;
}

/** So much of the picture, in square pixels, has one name on average when all of the graph is seen. */
const ROOM_OF_NAME = 15_000;
const NAMES_MIN = 14;
/** More in one picture nobody reads. */
const NAMES_MAX = 160;
const CELL = 48;

/** How many of the most important entities may have a name, at a zoom by that which shows all of the graph. */
export const namesAt = (width: number, height: number, nearness: number): number => Math.max(NAMES_MIN, (width * height) / ROOM_OF_NAME) * Math.max(1, nearness) ** 2;

/** The labels that stand, in the order given; those of lower rank give way. */
export function standing<L extends Label>(labels: readonly L[], ranks: number): L[] {
  const taken = new Map<string, L[]>();
  const stands = new Set<L>();
  const ordered = labels.filter((each) => each.isAsked || each.rank < ranks).sort((one, other) => Number(other.isAsked) - Number(one.isAsked) || one.rank - other.rank);
  for (const label of ordered) {
    if (stands.size >= NAMES_MAX) break;
    const cells = cellsOf(label);
    if (cells.some((cell) => taken.get(cell)?.some((each) => overlap(each, label)))) continue;
    for (const cell of cells) taken.set(cell, [...(taken.get(cell) ?? []), label]);
    stands.add(label);
  }
  return labels.filter((each) => stands.has(each));
}

type Box = Pick<Label, "left" | "top" | "width" | "height">;

/** The first of the places at which a label is over none of those taken; the first of all where there is none. */
export function freePlace<B extends Box>(places: readonly B[], taken: readonly Box[]): B | undefined {
  return places.find((each) => !taken.some((other) => overlap(each, other))) ?? places[0];
}

function cellsOf({ left, top, width, height }: Label): string[] {
  const cells: string[] = [];
  for (let x = Math.floor(left / CELL); x <= Math.floor((left + width) / CELL); x++) {
    for (let y = Math.floor(top / CELL); y <= Math.floor((top + height) / CELL); y++) cells.push(`${x} ${y}`);
  }
  return cells;
}

const overlap = (one: Box, other: Box): boolean => one.left < other.left + other.width && other.left < one.left + one.width && one.top < other.top + other.height && other.top < one.top + one.height;
