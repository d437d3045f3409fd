/** The colour and the sign of a memory type: the same wherever and whenever it is shown. */

/** So many colours there are; `style.css` has them as `.tint-0` and on. */
export const TINTS = 9;

export type Sign = { icon: "person" | "fact" | "note" | "rule" | "thing" | "example" } | { letter: string };

export interface TypeLook {
  tint: number;
  sign: Sign;
}

/** The usual types have a picture of their own; another has its first letter, and a colour by its name. */
const USUAL: ReadonlyMap<string, TypeLook> = new Map([
  ["User", { tint: 0, sign: { icon: "person" } }],
  ["Profile", { tint: 0, sign: { icon: "person" } }],
  ["Fact", { tint: 1, sign: { icon: "fact" } }],
  ["Note", { tint: 2, sign: { icon: "note" } }],
  ["Instructions", { tint: 3, sign: { icon: "rule" } }],
  ["Entity", { tint: 7, sign: { icon: "thing" } }],
  ["Examples", { tint: 5, sign: { icon: "example" } }],
  ["Example", { tint: 5, sign: { icon: "example" } }],
]);

export function lookOf(type: string): TypeLook {
  return USUAL.get(type) ?? { tint: tintOf(type), sign: { letter: (type.match(/[\p{L}\p{N}]/u)?.[0] ?? "?").toUpperCase() } };
}

function tintOf(type: string): number {
  let sum = 7;
  for (const each of type) sum = (sum * 31 + (each.codePointAt(0) ?? 0)) % 100_003;
  return sum % TINTS;
}
