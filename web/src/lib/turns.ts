/** The prompt of each answer of this page's talks: kept while the page is open, and nowhere else. */

import type { Prompt } from "../api/shapes";

export interface TurnUse {
  /** The prompt that the model got; null where the answer was given before. */
  prompt: Prompt | null;
}

const TURNS_MAX = 200;

/** A shelf of the last turns: those beyond the limit go, the oldest first. */
export function turnShelf(most = TURNS_MAX) {
  const uses = new Map<string, TurnUse>();
  const nameOf = (place: string, message: string) => `${place}\n${message}`;
  return {
    note(place: string, message: string, use: TurnUse): void {
      uses.set(nameOf(place, message), use);
      for (const oldest of [...uses.keys()].slice(0, Math.max(0, uses.size - most))) uses.delete(oldest);
    },
    of: (place: string, message: string): TurnUse | undefined => uses.get(nameOf(place, message)),
    forget: (): void => uses.clear(),
  };
}

export const turns = turnShelf();
