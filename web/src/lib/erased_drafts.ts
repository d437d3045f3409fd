/** Drafts that may repeat erased words: those of what went or lost a part, and those that say what went. */

import { api } from "../api/client";
import { isGone } from "../api/problem";
import type { Scope } from "../api/shapes";
import { forgetDraftsAt, keptDrafts, type DraftOf, type KeptDraft } from "./drafts";
import { standing } from "./standing";

/** An erased text this long is looked for in a draft: "Yes" stands in many that have nothing to do with it. */
const WIDTH_MIN = 12;

const plain = (text: string): string => text.toLowerCase().replace(/\s+/g, " ").trim();
/** How wide a text is, in Latin letters. */
const widthOf = (text: string): number => [...text].reduce((sum, each) => sum + (each > "\u2e7f" ? 2 : 1), 0);

/** Whether a draft is part of one of the erased texts, or has one in it. */
export function repeats(draft: string, erased: readonly string[]): boolean {
  const typed = plain(draft);
  return erased.map(plain).some((each) => each.includes(typed) || (widthOf(each) >= WIDTH_MIN && typed.includes(each)));
}

/** Whether a thread is gone, or a memory is gone or has another version than the one that was edited. */
async function isErased({ scope, thread, memory }: DraftOf): Promise<boolean> {
  if (memory) return (await standing(scope, memory))?.version !== memory.version;
  return thread !== undefined && api.thread(scope, thread).then(() => false, (error: unknown) => isGone(error) || Promise.reject(error));
}

/** Forget the drafts of a scope that an erase reached; `erased` are its texts, as far as this window knows them. */
export async function forgetErasedDrafts(scope: Scope, erased: readonly string[]): Promise<void> {
  const here = Object.entries(keptDrafts()).filter(([, { of }]) => JSON.stringify(of?.scope) === JSON.stringify(scope));
  const isReached = ({ text, of }: KeptDraft) => repeats(text, erased) || isErased(of).catch(() => false);
  const reached = await Promise.all(here.map(async ([place, draft]) => ((await isReached(draft)) ? [place] : [])));
  forgetDraftsAt(reached.flat());
}
