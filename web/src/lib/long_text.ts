/** How many lines a text takes where it is narrow: a long one is folded. */

/** So many of a long text's lines are shown: see `.folded` in the style. */
export const LINES_SHOWN = 12;
/** Fewer more than these are not worth a button. */
export const LINES_MAX = LINES_SHOWN + 3;
/** Latin letters in a line of a telephone; a Chinese character is as wide as two. */
const LINE = 36;
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]/g;

/** Whether a text takes more lines than are shown of it, on a narrow window. */
export function mayBeFolded(text: string): boolean {
  let lines = 0;
  for (const line of text.split("\n")) {
    lines += Math.max(1, Math.ceil((line.length + (line.match(WIDE)?.length ?? 0)) / LINE));
    if (lines > LINES_MAX) return true;
  }
  return false;
}
