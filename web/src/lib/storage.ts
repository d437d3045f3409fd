/** What the browser keeps for the page. Where it may not, or has no room, it lasts as long as the page is open. */

export interface Shelf {
  get: (name: string) => string | null;
  /** Keep a value under a name; null removes it. */
  set: (name: string, value: string | null) => void;
}

export function shelfOf(open: () => Storage): Shelf {
  const held = new Map<string, string | null>();
  return {
    get: (name) => {
      if (held.has(name)) return held.get(name) ?? null;
      try {
        return open().getItem(name);
      } catch {
        return null;
      }
    },
    set: (name, value) => {
      try {
        if (value === null) open().removeItem(name);
        else open().setItem(name, value);
        held.delete(name);
      } catch {
        held.set(name, value);
      }
    },
  };
}

/** Until the tab is closed. */
export const tabShelf = shelfOf(() => sessionStorage);
/** In this browser, for all tabs. */
export const browserShelf = shelfOf(() => localStorage);

/** What is kept as JSON under a name; `none` where nothing is that can be read. */
export function keptIn<T>(shelf: Pick<Shelf, "get">, name: string, none: T): T {
  try {
    return JSON.parse(shelf.get(name) ?? "") as T;
  } catch {
    return none;
  }
}

/** A name that nobody has used: of a thread, or of a memory. */
export function newName(kind: "talk" | "memory"): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return `${kind}-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
