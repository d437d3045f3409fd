/**
 * The tabs of a browser that have the same key tell each other of changes that can be undone.
 *
 * A token of the service holds what was deleted: it is in the storage of tabs only, and goes with the last of them.
 */

import { storedKey } from "../api/client";
import { channelOf, type Channel } from "./key_handover";
import { isInScope, tokenOf, type KeptChange } from "./kept_changes";
import { owner } from "./owned_shelf";

/** For whom a change can be undone: the owner of what is shown, and the id of the key. */
export interface Holder {
  owner: string;
  key: string;
}

/** What tabs tell each other: changes, that they are wanted, the tokens of what is undone, or a scope in which all are void. */
type Told<C> = Holder & ({ changes: C[] } | { wanted: true } | { undone: string } | { voidIn: string });

export interface ChangePlace<C> {
  channel: Channel<Told<C>>;
  holder: () => Holder;
  /** The changes of this tab. */
  kept: () => readonly C[];
  take: (changes: readonly C[]) => void;
  forget: (token: string) => void;
  forgetIn: (scope: string) => void;
}

export class ChangeHandover<C> {
  constructor(private readonly place: ChangePlace<C>) {
    place.channel.listen((told) => this.hear((told ?? {}) as Partial<Holder & { changes: C[]; wanted: true; undone: string; voidIn: string }>));
    place.channel.tell({ ...place.holder(), wanted: true });
  }

  readonly made = (change: C): void => this.place.channel.tell({ ...this.place.holder(), changes: [change] });
  readonly undone = (token: string): void => this.place.channel.tell({ ...this.place.holder(), undone: token });
  /** A tab that was opened after an erase is not told of it by the service. */
  readonly voidIn = (scope: string): void => this.place.channel.tell({ ...this.place.holder(), voidIn: scope });

  private hear({ owner, key, changes, wanted, undone, voidIn }: Partial<Holder & { changes: C[]; wanted: true; undone: string; voidIn: string }>): void {
    const own = this.place.holder();
    if (owner !== own.owner || key !== own.key) return;
    if (changes) this.place.take(changes);
    if (undone) this.place.forget(undone);
    if (voidIn) this.place.forgetIn(voidIn);
    const kept = this.place.kept();
    if (wanted && kept.length) this.place.channel.tell({ ...own, changes: [...kept] });
  }
}

/** What tabs of this browser tell each other of the changes that this one keeps. */
export const handoverOf = ({ kept, keep }: { kept: () => readonly KeptChange[]; keep: (changes: KeptChange[]) => void }): ChangeHandover<KeptChange> =>
  new ChangeHandover({
    channel: channelOf(document.baseURI, "changes"),
    holder: () => ({ owner: owner(), key: storedKey()?.split("_")[1] ?? "" }),
    kept,
    take: (changes) => keep(joined(changes, kept())),
    forget: (token) => keep(kept().filter((each) => tokenOf(each) !== token)),
    forgetIn: (scope) => keep(kept().filter((each) => !isInScope(scope)(each))),
  });

/** Changes of another tab among those of this one, the newest first. */
export function joined(changes: readonly KeptChange[], own: readonly KeptChange[]): KeptChange[] {
  const fresh = changes.filter((each) => !own.some((known) => tokenOf(known) === tokenOf(each)));
  return [...fresh, ...own].sort((one, other) => other.until - one.until);
}
