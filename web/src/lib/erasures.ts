/** Erases in a scope, made on this page or told of by the service: what holds words of messages forgets them. */

import { useEffect, useRef, useState } from "react";
import type { Scope } from "../api/shapes";

type Listener = (scope: Scope) => void;

const listeners = new Set<Listener>();

/** Call back at each erase in any scope; the answer ends that. */
export function listenToErasures(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Forget what was read and kept of a scope in which something was erased; the window that did it knows which texts went. */
export async function noteErasure(scope: Scope, erased: readonly string[] = []): Promise<void> {
  for (const each of [...listeners]) each(scope);
  // The first view needs none of it.
  const { forgetErasedIn } = await import("./erased_traces");
  await forgetErasedIn(scope, erased);
}

/** Call back at each erase in a scope. */
export function useErasures(scope: Scope, erased: () => void): void {
  const callback = useRef(erased);
  callback.current = erased;
  const subject = JSON.stringify(scope);
  useEffect(() => listenToErasures((where) => JSON.stringify(where) === subject && callback.current()), [subject]);
}

/** Words that are looked for in a scope. They may be those of an erased message, which no other window is told: an erase empties the field. */
export function useSought(scope: Scope, first = ""): [string, (words: string) => void] {
  const [words, setWords] = useState(first);
  useErasures(scope, () => setWords(""));
  return [words, setWords];
}
