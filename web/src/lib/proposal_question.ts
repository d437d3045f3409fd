/** The question of a change that waits, in words. */

import type { Memory } from "../api/shapes";
import type { Word } from "../words";
import { changesBetween, type Change } from "./diff";
import { shown, spoken } from "./pointer";
import { isDocument } from "./sentences";

/** What a change asks: of one field what it said and would say, of several their names and values. */
export function changeAsked(before: Pick<Memory, "value" | "sentence">, after: Pick<Memory, "type" | "value" | "sentence">, t: (word: Word, values: Record<string, string>) => string, named: (name: string) => string): string {
  if (!isDocument(after)) return t("review.change", { before: before.sentence, after: after.sentence });
  const changes = changesBetween(before.value, after.value);
  const [only] = changes;
  if (changes.length === 1 && only?.kind === "changed") return t("review.change_field", { name: spoken(only.pointer, named), before: shown(only.before), after: shown(only.after) });
  return t("review.change_of", { what: [named(after.type), changes.map((each) => toldShort(each, named)).join("; ")].filter(Boolean).join(" – ") });
}

/** A change of one of several fields: "home Oslo → Stavanger". */
function toldShort(change: Change, named: (name: string) => string): string {
  const values = [change.kind !== "added" && shown(change.before), change.kind !== "removed" && shown(change.after)];
  const told = change.kind === "added" ? `+ ${values[1]}` : change.kind === "removed" ? `– ${values[0]}` : values.join(" → ");
  return `${spoken(change.pointer, named)} ${told}`;
}
