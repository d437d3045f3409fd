/** Where quoted words stand in a message. */

export interface Span {
  text: string;
  marked: boolean;
}

const folded = (text: string): string => text.toLowerCase().replace(/[\u2018\u2019]/g, "'").replace(/[\u201c\u201d]/g, '"');

/** The text in spans; the words of each quote are marked, found without regard to case and spaces. */
export function marked(text: string, quotes: readonly (string | null | undefined)[]): Span[] {
  const found = quotes
    .map((quote) => placeOf(text, quote ?? ""))
    .filter((each): each is [number, number] => each !== null)
    .sort((one, other) => one[0] - other[0]);
  const spans: Span[] = [];
  let at = 0;
  for (const [from, to] of found) {
    const start = Math.max(from, at);
    if (to <= start) continue;
    if (start > at) spans.push({ text: text.slice(at, start), marked: false });
    spans.push({ text: text.slice(start, to), marked: true });
    at = to;
  }
  if (at < text.length || !spans.length) spans.push({ text: text.slice(at), marked: false });
  return spans;
}

function placeOf(text: string, quote: string): [number, number] | null {
  const words = folded(quote).trim().split(/\s+/).filter(Boolean);
  if (!words.length) return null;
  const pattern = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("\\s+");
  const match = new RegExp(pattern, "u").exec(folded(text));
  return match ? [match.index, match.index + match[0].length] : null;
}
