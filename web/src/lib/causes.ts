/** Why a version was written, or is doubted, in the reader's words: the causes that formation and the store give; all else as it was told. */

import type { Word } from "../words";
import { spoken } from "./pointer";

type Say = (word: Word, values?: Record<string, string | number>) => string;
/** A field in the reader's language. */
type Name = (field: string) => string;

const CAUSES: Record<string, Word> = {
  put: "cause.put", formed: "cause.formed", end: "cause.end", undone: "cause.undone", rejected: "cause.rejected", approved: "cause.approved",
  erase: "cause.erase", consolidated: "cause.consolidated", "said again": "cause.again", "merged: said again": "cause.again",
  "merged: said again, beyond doubt": "cause.again_sure", added: "cause.added", changed: "cause.changed", confirmed: "cause.confirmed",
  imported: "cause.imported", corrected: "cause.corrected", "a newer value": "cause.newer",
  "a memory that it was derived from is gone": "cause.derived_gone", "in force again: what it was merged into is gone": "cause.merged_gone",
  "what it was merged into is gone": "cause.merged_gone", "it was said again": "cause.again",
  "it was said again, beyond doubt": "cause.again_sure", "the same was said more than once": "cause.more_than_once",
  "it is remembered already, from the same words or more trusted ones": "cause.known", "more trusted words say otherwise": "doubt.otherwise",
  "it reads as an instruction, and no user said it": "doubt.instruction", "it reads as an instruction that no user gave": "doubt.instruction",
  "it rests on an instruction, and no user said it": "doubt.instruction_cited",
  "it rests on words of others, and says who the user is or what they want": "doubt.of_others",
  "it says what somebody likes or wants, and rests on words of others": "doubt.liking",
  "it tells something grave of a person, and rests on words of others": "doubt.grave",
  "it rests on words of others that no user took up": "doubt.unasked",
  "it would end what more trusted words say": "doubt.ends", "it would change what more trusted words say": "doubt.changes",
  "it would end what was written after its words": "doubt.ends_newer", "it would change what was written after its words": "doubt.changes_newer",
  "an agent found it, and more trusted words say otherwise": "doubt.found", "a part of it is what an agent found, and nobody said": "doubt.found_part",
  "the value says of the user what was said of somebody else, or the reverse": "doubt.exchanged",
  "the value tells of one relative what was known of another": "doubt.relative",
  "the value tells as of now what was said of before": "doubt.former",
  "it is in another language than its citation; say it in that one": "doubt.language",
  "the cited words are not about it: cite those that end it": "doubt.not_about", "the cited words do not say that it is over": "doubt.not_over",
  "the cited words say that the user has left it": "doubt.left", "the cited words do not say that this is the user's": "doubt.not_own",
  "the cited words say nothing of it: cite those that do": "doubt.unsaid",
  "the speaker was in doubt, or told what others say: say so": "doubt.unsure_all",
  "a second reader finds that it was not said": "doubt.unsaid", "a second reader said nothing of it": "doubt.unread",
};

/** Causes that name something; each of the groups is filled into the words. Quotation marks are Python's, either kind. */
const NAMING: readonly (readonly [RegExp, Word])[] = [
  [/^restored (?<version>\d+)$/, "cause.restored"],
  [/^merged into (?<memory>.+)$/, "cause.merged"],
  [/^rejected (?<place>\/.*)$/, "cause.rejected_field"],
  [/^corrected (?<place>\/.*)$/, "cause.corrected_field"],
  [/^it was said of (?<said>.+), and the value says it of (?<told>.+)$/, "doubt.of_another"],
  [/^(?<said>.+) says it of themselves, and the value of (?<told>.+)$/, "doubt.themselves"],
  [/^the cited words say nothing of (['"])(?<said>.+)\1: say only what was said$/, "doubt.not_cited"],
  [/^the cited words say (['"])(?<said>.+)\1, and the value (['"])(?<told>.+)\3$/, "doubt.opposite"],
  [/^the speaker was in doubt, or told what others say: (['"])(?<said>.+)\1$/, "doubt.unsure"],
  [/^the cited words and the value differ in whether (['"])(?<said>.+)\1 is denied$/, "doubt.denied"],
  [/^(['"])(?<told>.+)\1 may or may not be (['"])(?<said>.+)\3, which was said$/, "doubt.short_form"],
  [/^it was told on (?<day>\S+), after these words of (?<said>\S+)$/, "doubt.told_later"],
  [/^the name (?<told>.+) was not said$/, "doubt.name"],
  [/^the date (?<told>.+) was not said$/, "doubt.date"],
  [/^the name (?<told>.+) is not in message (?<numbers>[\d, ]*)$/, "doubt.name"],
  [/^the date (?<told>.+) is not in message (?<numbers>[\d, ]*)$/, "doubt.date"],
  [/^the number (?<told>.+) is not in message (?<numbers>[\d, ]*)$/, "doubt.number"],
  [/^the time (?<told>.+) is not in message (?<numbers>[\d, ]*)$/, "doubt.time"],
  [/^the cited words do not say that somebody (?<is>is|is not) (?<said>.+)$/, "doubt.stance"],
  [/^a second reader finds that it was not said: (?<told>.+)$/s, "doubt.reader"],
  [/^the cited words say of somebody else who is (?<said>.+): say of whom$/, "doubt.stance_of_other"],
];

/** A place in the value, or the number under which a model was shown the memory. */
const OF_PLACE = /^(\/[^\s:]*|m\d+): (.+)$/s;

/** A cause as people read it. It may be several, of which each may name its place: "/home: it …; m6: it …". */
export function whyWritten(cause: string, t: Say, named?: Name): string {
  const whole = said(cause, t, named);
  if (whole !== undefined) return whole;
  const parts = cause.split("; ").map((each) => {
    const [, place = "", reason = each] = OF_PLACE.exec(each) ?? [];
    const words = said(reason, t, named);
    const isField = place.length > 1 && place.startsWith("/");
    return { isKnown: words !== undefined || place.startsWith("m"), told: isField ? t("cause.of_place", { place: spoken(place, named), words: words ?? reason }) : (words ?? reason) };
  });
  // Words that somebody wrote by hand stay exactly as they are.
  return parts.some((each) => each.isKnown) ? parts.map((each) => each.told).join(t("cause.between")) : cause;
}

/** Why a version was written; of an undo, which version it took back. */
export const whyOfVersion = ({ cause, version }: { cause: string; version: number }, t: Say, named?: Name): string =>
  cause === "undone" && version > 1 ? t("cause.undone_version", { version: version - 1 }) : whyWritten(cause, t, named);

function said(cause: string, t: Say, named?: Name): string | undefined {
  const known = Object.hasOwn(CAUSES, cause) ? CAUSES[cause] : undefined;
  if (known) return t(known);
  for (const [pattern, word] of NAMING) {
    const found = pattern.exec(cause);
    if (found) return t(word, Object.fromEntries(Object.entries(found.groups ?? {}).map(([name, value]) => [name, name === "place" ? spoken(value, named) : value])));
  }
  return undefined;
}
