/** What is typed and not yet sent, by the place where it is typed: it outlasts a look at another screen, and a reload. */

import { useCallback, useState } from "react";
import { ownTab } from "./owned_shelf";

const NAME = "recollect.drafts";

function all(): Record<string, string> {
  try {
    return JSON.parse(ownTab.get(NAME) ?? "{}") as Record<string, string>;
  } catch {
    return {};
  }
}

export const readDraft = (place: string): string => all()[place] ?? "";

export function useDraft(place: string): [string, (text: string) => void] {
  const [text, setText] = useState(() => readDraft(place));
  const set = useCallback(
    (typed: string) => {
      setText(typed);
      const { [place]: _, ...others } = all();
      ownTab.set(NAME, JSON.stringify(typed ? { ...others, [place]: typed } : others));
    },
    [place],
  );
  return [text, set];
}

export const forgetDrafts = (): void => ownTab.clear(NAME);
