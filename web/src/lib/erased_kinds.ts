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

const kept = () => keptIn<[string, ErasedKind][]>(ownBrowser, NAME, []);

/** Note the kind of what a receipt is of; an act on a message that takes what quotes it is told of in all its receipts. */
export function noteErased(receipt: string, target: EraseTarget, takesQuotes = false): void {
  const known = kindOf(target);
  const kind = known === "message" && takesQuotes ? "quoted" : known;
  if (kind) ownBrowser.set(NAME, JSON.stringify([...kept(), [receipt, kind]].slice(-KEPT_MAX)));
}

export const erasedKind = (receipt: string): ErasedKind | undefined => kept().find(([id]) => id === receipt)?.[1];

/** The way to the receipts of an act among those of its scope, where they are shown opened. */
export const receiptLink = (receipt: string[], scope: Scope): string => linkTo(["settings"], scope, { part: "erase", receipt });
