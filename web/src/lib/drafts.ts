/** What is typed and not yet sent, by the place where it is typed: it outlasts a look at another screen, and a reload. */

import { useCallback, useEffect, useState } from "react";
import type { Memory, Scope } from "../api/shapes";
import { ownTab } from "./owned_shelf";
import { keptIn } from "./storage";

const NAME = "recollect.drafts";

/** What a draft belongs to; without a thread or a memory nothing that the service has. */
export interface DraftOf {
  scope: Scope;
  thread?: string;
  memory?: Pick<Memory, "type" | "key" | "version">;
}

export interface KeptDraft {
  text: string;
  of: DraftOf;
}

const forgotten = new Set<() => void>();

export const keptDrafts = () => keptIn<Record<string, KeptDraft>>(ownTab, NAME, {});

export const readDraft = (place: string): string => keptDrafts()[place]?.text ?? "";

export function keepDraft(place: string, text: string, of: DraftOf): void {
  const { [place]: _, ...others } = keptDrafts();
  ownTab.set(NAME, JSON.stringify(text ? { ...others, [place]: { text, of } } : others));
}

export function useDraft(place: string, of: DraftOf): [string, (text: string) => void] {
  const [text, setText] = useState(() => readDraft(place));
  useEffect(() => {
    const again = () => setText(readDraft(place));
    forgotten.add(again);
    return () => void forgotten.delete(again);
  }, [place]);
  const subject = JSON.stringify(of);
  const set = useCallback(
    (typed: string) => {
      setText(typed);
      keepDraft(place, typed, JSON.parse(subject) as DraftOf);
    },
    [place, subject],
  );
  return [text, set];
}

/** Forget the drafts at some places, and empty the fields that show them. */
export function forgetDraftsAt(places: readonly string[]): void {
  for (const each of places) keepDraft(each, "", { scope: [] });
  for (const again of [...forgotten]) again();
}

export const forgetDrafts = (): void => ownTab.clear(NAME);
