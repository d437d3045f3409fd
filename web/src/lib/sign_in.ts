/** Signing in by the address: `#key=rk_…`, as the service opens the page, gives the tab its key. */

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

/** Keep the key of the address in the tab, and take it out of the address and of the history. */
export function signInByAddress(keep: (key: string) => void): void {
  const found = signInOf(location.hash);
  if (!found) return;
  keep(found.key);
  history.replaceState(null, "", found.rest);
}
