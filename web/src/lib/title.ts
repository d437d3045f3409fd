/** The title of the window: what is looked at, the screen, the product; so that tabs, bookmarks and the way back tell them apart. */

import { useEffect } from "react";

const WORDS_MAX = 60;

export function titleOf(screen: string, about = ""): string {
  const short = [...about].length > WORDS_MAX ? `${[...about].slice(0, WORDS_MAX - 1).join("")}…` : about;
  return [short, screen, "Recollect"].filter(Boolean).join(" · ");
}

/** Say in the title what is looked at on a screen, as soon as it is known. */
export function useTitle(screen: string, about: string | undefined): void {
  useEffect(() => {
    if (about !== undefined) document.title = titleOf(screen, about);
  }, [screen, about]);
}
