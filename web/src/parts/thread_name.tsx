/** A thread by what the user said first in it, as the list of threads has it; its id is at hand. */

import type { Scope } from "../api/shapes";
import { isGone } from "../api/problem";
import { useAsked } from "../lib/asking";
import { useErasures } from "../lib/erasures";
import { firstWords } from "../lib/first_words";
import { plainOf } from "../lib/rich_text";

export function ThreadName({ thread, scope, id = thread }: { thread: string; scope: Scope; /** What names it, or something in it, to the service. */ id?: string }) {
  const words = useAsked(() => firstWords(scope, thread).catch((error: unknown) => (isGone(error) ? "" : Promise.reject(error))), [scope, thread]);
  useErasures(scope, words.again);
  return <span className="thread-title" title={id}>{plainOf(words.value ?? "") || thread}</span>;
}
