/** Single keys that lead somewhere: `g` and a letter, `/` to the search field, `?` for help. */

import { useEffect, useRef } from "react";
import { useAround } from "./session";

const CHORD_MS = 1_200;

/** Whether a key goes into a field: a box that is ticked, and a slider, take no letters. */
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches('textarea, select, input:not([type="checkbox"], [type="radio"], [type="range"])'));

export function useShortcuts(places: readonly (readonly [string, () => void])[], help: () => void): void {
  const { settings } = useAround();
  const known = useRef({ places, help });
  known.current = { places, help };
  useEffect(() => {
    if (!settings.shortcuts) return;
    let since = 0;
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector("dialog[open]")) return;
      if (event.key === "/") {
        const field = document.getElementById("search") ?? document.getElementById("composer");
        if (field) {
          event.preventDefault();
          field.focus();
        }
      } else if (event.key === "?") {
        known.current.help();
      } else if (event.timeStamp - since < CHORD_MS) {
        known.current.places.find(([letter]) => letter === event.key)?.[1]();
        since = 0;
        return;
      }
      since = event.key === "g" ? event.timeStamp : 0;
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [settings.shortcuts]);
}
