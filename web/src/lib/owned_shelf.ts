/** What the browser keeps of one store, for the keys of one scope: another store or scope at the same address is shown none of it. */

import type { Me } from "../api/shapes";
import { browserShelf, tabShelf, type Shelf } from "./storage";

/** Of so many owners something is kept under a name; beyond that the one that wrote longest ago goes. */
const OWNERS_MAX = 4;

export interface OwnedShelf extends Shelf {
  /** Remove what is kept under a name, of every owner. */
  clear: (name: string) => void;
}

let current = "";

export const ownerOf = ({ store = "", prefix, scope }: Pick<Me, "store" | "prefix" | "scope">): string => JSON.stringify([store, prefix ?? scope]);

/** Keep and show from now on what belongs to who is here; whether somebody else was here before. */
export function setOwner(me: Pick<Me, "store" | "prefix" | "scope">): boolean {
  const before = current;
  current = ownerOf(me);
  return before !== "" && before !== current;
}

export const owner = (): string => current;

export function ownedShelf(shelf: Shelf, who: () => string = owner): OwnedShelf {
  const all = (name: string): Record<string, string> => {
    try {
      const found: unknown = JSON.parse(shelf.get(name) ?? "{}");
      return found && typeof found === "object" && !Array.isArray(found) ? (found as Record<string, string>) : {};
    } catch {
      return {};
    }
  };
  let read: { from: string | null; name: string; who: string; text: string | null } | undefined;
  return {
    get: (name) => {
      const from = shelf.get(name);
      // A text may be long and is asked for with every drawing.
      if (!read || read.from !== from || read.name !== name || read.who !== who()) read = { from, name, who: who(), text: all(name)[who()] ?? null };
      return read.text;
    },
    set: (name, value) => {
      const { [who()]: _, ...others } = all(name);
      const kept = Object.entries(others).slice(value === null ? 0 : 1 - OWNERS_MAX);
      if (value !== null) kept.push([who(), value]);
      shelf.set(name, kept.length ? JSON.stringify(Object.fromEntries(kept)) : null);
    },
    clear: (name) => shelf.set(name, null),
  };
}

export const ownTab = ownedShelf(tabShelf);
export const ownBrowser = ownedShelf(browserShelf);
