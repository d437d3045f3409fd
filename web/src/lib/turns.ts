/** What each answer of this page's talks was given: kept while the page is open, and nowhere else. */

import type { Prompt, RecallEntry } from "../api/shapes";
import { isReferredTo, type SourceReference } from "./answer_sources";

export interface TurnUse {
  recalled: readonly Partial<RecallEntry>[];
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

/** What an answer was given, that first which it quotes by its words or references, then by score. */
export function usedFirst(recalled: readonly Partial<RecallEntry>[], answer: string, references: readonly SourceReference[] = []): { entry: Partial<RecallEntry>; isQuoted: boolean }[] {
  const said = answer.toLowerCase();
  const marked = recalled.map((entry) => ({ entry, isQuoted: isReferredTo(entry, references) || saysOf(entry).some((each) => said.includes(each)) }));
  return marked.sort((one, other) => Number(other.isQuoted) - Number(one.isQuoted) || (other.entry.score ?? 0) - (one.entry.score ?? 0));
}

const WORDS_MIN = 4;

/** What an entry says in a way that an answer may repeat: not a word or two, which stand anywhere. */
function saysOf({ sentence, text }: Partial<RecallEntry>): string[] {
  const plain = (each: string) => each.toLowerCase().replace(/[\s.。!！?？]+$/u, "").trim();
  return [sentence, text].filter((each): each is string => Boolean(each)).map(plain).filter((each) => each.length >= WORDS_MIN);
}
