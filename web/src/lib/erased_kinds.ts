/** What kind of thing was erased here, by receipt: a receipt itself keeps no name, and neither does this. */

import type { EraseTarget, Scope } from "../api/shapes";
import { linkTo } from "./route";
import { ownBrowser } from "./owned_shelf";
import { keptIn } from "./storage";

const NAME = "recollect.erased";
const KEPT_MAX = 50;
const KINDS = ["thread", "message", "memory", "source", "scope"] as const;
/** "quoted": a message, and the messages that quote it. */
export type ErasedKind = (typeof KINDS)[number] | "quoted";

export const kindOf = (target: EraseTarget): ErasedKind | undefined => ("messages" in target ? "message" : KINDS.find((each) => each in target));

/** A receipt, what it is of, and the first receipt of the act that it belongs to. */
type Kept = [receipt: string, kind: ErasedKind, act?: string];

const kept = () => keptIn<Kept[]>(ownBrowser, NAME, []);

/** Note the kind of what an act erased, for each of its receipts; `takesQuotes` of a message that takes what quotes it. */
export function noteErased(receipts: readonly string[], target: EraseTarget, takesQuotes = false): void {
  const known = kindOf(target);
  const kind = known === "message" && takesQuotes ? "quoted" : known;
  const [act = ""] = receipts;
  if (kind) ownBrowser.set(NAME, JSON.stringify([...kept(), ...receipts.map((each): Kept => [each, kind, act])].slice(-KEPT_MAX)));
}

export const erasedKind = (receipt: string): ErasedKind | undefined => kept().find(([id]) => id === receipt)?.[1];

/** Receipts by the act that they are of, in their order; of what was not erased in this browser each is alone. */
export function byAct<R extends { id: string }>(receipts: readonly R[]): R[][] {
  const acts = new Map(kept().map(([id, , act = id]) => [id, act]));
  const groups = new Map<string, R[]>();
  for (const each of receipts) {
    const act = acts.get(each.id) ?? each.id;
    groups.set(act, [...(groups.get(act) ?? []), each]);
  }
  return [...groups.values()];
}

/** The way to the receipts of an act among those of its scope, where they are shown opened. */
export const receiptLink = (receipt: string[], scope: Scope): string => linkTo(["settings"], scope, { part: "erase", receipt });
