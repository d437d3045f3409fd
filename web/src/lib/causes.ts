/** Why a version was written, in the reader's words: the causes that the store itself gives; all else as it was told. */

import type { Word } from "../words";

const CAUSES: Record<string, Word> = {
  put: "cause.put", formed: "cause.formed", end: "cause.end", undone: "cause.undone", rejected: "cause.rejected", approved: "cause.approved",
  erase: "cause.erase", consolidated: "cause.consolidated", "said again": "cause.again", "merged: said again": "cause.again",
};

export function whyWritten(cause: string, t: (word: Word, values?: Record<string, string | number>) => string): string {
  const known = Object.hasOwn(CAUSES, cause) ? CAUSES[cause] : undefined;
  const restored = /^restored (\d+)$/.exec(cause)?.[1];
  if (restored) return t("cause.restored", { version: restored });
  return known ? t(known) : cause;
}
