/** The scopes below a key's own, as they are chosen from: all of them are searched, the first are shown. */

import type { Scope } from "../api/shapes";

/** So many scopes are read; of a service with more, the segments have to be written. */
export const READ_MAX = 2_000;
const SHOWN = 100;

interface ScopePage { scopes: Scope[]; cursor: string | null }

/** Read scopes page by page, up to the most that are read; whether there are more is told as well. */
export async function readScopes(pageAt: (cursor?: string | null) => Promise<ScopePage>): Promise<{ scopes: Scope[]; isCut: boolean }> {
  const scopes: Scope[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await pageAt(cursor);
    scopes.push(...page.scopes.filter((each) => each.length));
    cursor = page.cursor;
  } while (cursor && scopes.length < READ_MAX);
  return { scopes, isCut: Boolean(cursor) };
}

/** The scopes whose names have `words` in them, as many as are shown, and whether there may be more. */
export function matching({ scopes, isCut }: { scopes: readonly Scope[]; isCut: boolean }, words: string) {
  const found = scopes.filter((each) => each.join(" / ").toLowerCase().includes(words.toLowerCase()));
  return { shown: found.slice(0, SHOWN), hasMore: isCut || found.length > SHOWN };
}
