/** Search words and questions of this tab. The address names them by a key: it stays in the browser's history, where an erase does not reach. */

import { listenToErasures } from "./erasures";
import { keptIn, tabShelf } from "./storage";

const NAME = "recollect.sought";
const KEY = "s";
/** The parts of an address that a person typed. */
export const SOUGHT = ["q", "b_q", "entity"] as const;

const kept = () => keptIn<Record<string, string>>(tabShelf, NAME, {});

/** What stands in the field of questions of each scope, asked or not: it is there again after a look at another screen. */
export const questions = new Map<string, string>();

/** Forget all of them: which ones repeat what was erased is not known. */
export const forgetSought = (): void => {
  questions.clear();
  tabShelf.set(NAME, null);
};
listenToErasures(forgetSought);

/** The key of some words, the same as before where they are kept. No two tabs have the same keys: an address that is handed on finds nothing, and nothing else. */
function keyOf(words: string): string {
  const all = kept();
  const found = Object.keys(all).find((each) => all[each] === words) ?? Math.random().toString(36).slice(2, 8);
  tabShelf.set(NAME, JSON.stringify({ ...all, [found]: words }));
  return found;
}

/** A link with the key of its words in their place. */
export function concealed(link: string): string {
  const [path, search = ""] = link.split("?", 2);
  const query = new URLSearchParams(search);
  const words = SOUGHT.filter((each) => query.get(each)).map((each) => [each, query.get(each) as string]);
  if (!words.length) return link;
  for (const each of SOUGHT) query.delete(each);
  query.set(KEY, keyOf(String(new URLSearchParams(words))));
  return `${path}?${query}`;
}

/** The query of an address with its words, as far as they are kept, in place of the key. */
export function revealed(query: URLSearchParams): URLSearchParams {
  const words = kept()[query.get(KEY) ?? ""];
  query.delete(KEY);
  for (const [name, value] of new URLSearchParams(words)) if (!query.has(name)) query.set(name, value);
  return query;
}
