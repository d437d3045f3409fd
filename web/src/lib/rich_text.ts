/** What models mark in their answers: blocks of code, code in a line, and strong words. All else stays as it is written. */

export interface Block {
  kind: "text" | "code";
  text: string;
}

export interface Inline {
  kind: "text" | "code" | "strong";
  text: string;
}

const FENCE = /^[ \t]*```[^\n`]*\n([\s\S]*?)(?:\n[ \t]*```[ \t]*(?:\n|$)|$(?![\s\S]))/m;
const MARKS = /`([^`\n]+)`|\*\*(?!\s)([^*\n]+?)(?<!\s)\*\*/g;

/** A text in blocks; a fence that is not closed yet, as while an answer comes, goes to the end. */
export function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let rest = text;
  for (let found = FENCE.exec(rest); found; found = FENCE.exec(rest)) {
    const before = rest.slice(0, found.index).replace(/\n$/, "");
    if (before) blocks.push({ kind: "text", text: before });
    blocks.push({ kind: "code", text: found[1] ?? "" });
    rest = rest.slice(found.index + found[0].length);
  }
  if (rest || !blocks.length) blocks.push({ kind: "text", text: rest });
  return blocks;
}

/** A text as a title: its words without marks, in one line. */
export const plainOf = (text: string): string => text.replaceAll(/```[^\n`]*(?:\n|$)/g, " ").replaceAll(MARKS, (_, code?: string, strong?: string) => code ?? strong ?? "").replaceAll(/\s+/g, " ").trim();

export function inlinesOf(text: string): Inline[] {
  const inlines: Inline[] = [];
  let at = 0;
  for (const found of text.matchAll(MARKS)) {
    if (found.index > at) inlines.push({ kind: "text", text: text.slice(at, found.index) });
    inlines.push(found[1] === undefined ? { kind: "strong", text: found[2] ?? "" } : { kind: "code", text: found[1] });
    at = found.index + found[0].length;
  }
  if (at < text.length || !inlines.length) inlines.push({ kind: "text", text: text.slice(at) });
  return inlines;
}
