/** The tokens of the service that take changes back. */

import type { Scope } from "../api/shapes";

export interface Token {
  scope: Scope;
  undo: string;
}

/** Take all back, the last first; what was taken back is let go, so that a second try goes on with the rest. */
export async function takeAllBack(tokens: Token[], undo: (scope: Scope, token: string) => Promise<void>, progress: (done: number, of: number) => void): Promise<void> {
  const of = tokens.length;
  for (let last = tokens.at(-1); last; last = tokens.at(-1)) {
    progress(of - tokens.length, of);
    await undo(last.scope, last.undo);
    tokens.pop();
  }
  progress(of, of);
}
