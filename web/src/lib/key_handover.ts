/**
 * Tabs that `--open` signed in, of the same browser, hand their key to each other.
 *
 * The key of `--open` ends with the service: a tab that was open before a restart gets the new one from the tab that
 * the restart opened. A key that was typed is never handed on, and a tab in which one was typed takes none.
 */

import { tabShelf, type Shelf } from "./storage";

const NAME = "recollect.key_from";
/** Whence a tab has its key: from the address, typed, or given up. A new tab has none yet. */
type Source = "address" | "typed" | "left";

export const noteKeyFrom = (source: Source, shelf: Shelf = tabShelf): void => shelf.set(NAME, source);

/** What tabs tell each other: a key that is good, or that one is wanted. */
type Told = { key: string } | { wanted: true };

export interface Channel<T = Told> {
  tell: (told: T) => void;
  listen: (heard: (told: unknown) => void) => void;
}

/** A channel of the tabs of one service: several services may stand behind one host. */
export function channelOf<T = Told>(base: string, about = "key"): Channel<T> {
  const channel = new BroadcastChannel(`recollect.${about} ${new URL(".", base).pathname}`);
  return { tell: (told) => channel.postMessage(told), listen: (heard) => channel.addEventListener("message", ({ data }) => heard(data)) };
}

export interface KeyPlace {
  channel: Channel;
  shelf: Shelf;
  key: () => string | null;
  /** Go on with another key. */
  take: (key: string) => void;
}

export class KeyHandover {
  private isRefused = false;
  private offered: string | null = null;

  constructor(private readonly place: KeyPlace) {
    place.channel.listen((told) => this.hear((told ?? {}) as Partial<{ key: string; wanted: true }>));
    const key = place.key();
    if (key && this.source() === "address") place.channel.tell({ key });
  }

  /** The service has refused the key of this tab, or asked it for one. */
  readonly refused = (): void => {
    this.isRefused = true;
    if (!this.isWilling()) return;
    if (this.offered) this.takeOffered();
    else this.place.channel.tell({ wanted: true });
  };

  private hear({ key, wanted }: Partial<{ key: string; wanted: true }>): void {
    if (key) {
      this.offered = key;
      if (this.isRefused && this.isWilling()) this.takeOffered();
      return;
    }
    const own = this.place.key();
    if (wanted && own && !this.isRefused && this.source() === "address") this.place.channel.tell({ key: own });
  }

  private takeOffered(): void {
    const key = this.offered;
    this.offered = null;
    // One that was refused here is no better from another tab.
    if (!key || key === this.place.key()) return;
    this.isRefused = false;
    noteKeyFrom("address", this.place.shelf);
    this.place.take(key);
  }

  private source(): string | null {
    return this.place.shelf.get(NAME);
  }

  private isWilling(): boolean {
    const source = this.source();
    return source === "address" || (source === null && this.place.key() === null);
  }
}
