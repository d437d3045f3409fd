/** Where the page is: kept in the address's fragment, so that any path prefix and any reload work. */

import { useSyncExternalStore } from "react";
import type { Scope } from "../api/shapes";

export interface Route {
  parts: string[];
  query: URLSearchParams;
  scope: Scope;
}

export function routeOf(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const query = new URLSearchParams(search);
  return { parts: path.split("/").filter(Boolean).map(safelyDecoded), query, scope: query.getAll("scope") };
}

function safelyDecoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export type Extra = Record<string, string | string[] | null | undefined>;

export function linkTo(parts: readonly string[], scope: Scope, extra: Extra = {}): string {
  const query = new URLSearchParams();
  for (const segment of scope) query.append("scope", segment);
  for (const [name, value] of Object.entries(extra)) {
    for (const each of Array.isArray(value) ? value : [value]) if (each) query.append(name, each);
  }
  const search = query.toString();
  return `#/${parts.map(encodeURIComponent).join("/")}${search ? `?${search}` : ""}`;
}

export function go(link: string, replace = false): void {
  if (replace) {
    history.replaceState(null, "", link);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = link;
  }
}

let known = routeOf(location.hash);
let knownHash = location.hash;

function current(): Route {
  if (location.hash !== knownHash) {
    knownHash = location.hash;
    known = routeOf(knownHash);
  }
  return known;
}

function listen(changed: () => void): () => void {
  addEventListener("hashchange", changed);
  return () => removeEventListener("hashchange", changed);
}

export const useRoute = (): Route => useSyncExternalStore(listen, current);
