/** Signing in by the address: `#key=rk_…`, as the service opens the page, gives the tab its key. */

import { noteKeyFrom } from "./key_handover";

const SIGN_IN = /^#key=(rk_[\w-]+)(?:&(.*))?$/;

export interface SignIn {
  key: string;
  /** The fragment that stays in the address, without the key. */
  rest: string;
}

/** Return the key in a fragment, and what stays of the fragment; null where there is none. */
export function signInOf(hash: string): SignIn | null {
  const found = SIGN_IN.exec(hash);
  return found?.[1] ? { key: found[1], rest: `#/${(found[2] ?? "").replace(/^\/+/, "")}` } : null;
}

/** The key in what a person typed: the key itself, or the whole address that the service's terminal shows. */
export function keyIn(typed: string): string {
  const [, hash = ""] = /(#key=\S+)/.exec(typed) ?? [];
  return signInOf(hash)?.key ?? typed.trim();
}

/** Keep the key of the address in the tab, and take it out of the address and of the history. */
export function signInByAddress(keep: (key: string) => void): void {
  const found = signInOf(location.hash);
  if (!found) return;
  keep(found.key);
  noteKeyFrom("address");
  history.replaceState(null, "", found.rest);
}

/** The place that a tab goes on with that is signed in anew: where it was, if the address names no other one. */
export const placeAfter = ({ rest }: SignIn, before: string): string => (rest === "#/" && !signInOf(before) ? before || "#/" : rest);

/** Sign in anew where the address with the key is opened in a tab that shows the page already: a browser does not load it again. */
export function signInLater(keep: (key: string) => void): void {
  addEventListener("hashchange", (event) => {
    const found = signInOf(location.hash);
    if (!found) return;
    keep(found.key);
    noteKeyFrom("address");
    history.replaceState(null, "", placeAfter(found, new URL(event.oldURL).hash));
    location.reload();
  });
}
