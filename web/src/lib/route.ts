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

/** The day that is looked at goes along from screen to screen, until it is changed or left. */
const CARRIED = ["on", "known"] as const;

export function linkTo(parts: readonly string[], scope: Scope, extra: Extra = {}): string {
  const query = new URLSearchParams();
  for (const segment of scope) query.append("scope", segment);
  const here = current().query;
  const carried = Object.fromEntries(CARRIED.map((name) => [name, here.get(name)]));
  for (const [name, value] of Object.entries({ ...carried, ...extra })) {
    for (const each of Array.isArray(value) ? value : [value]) if (each) query.append(name, each);
  }
  const search = query.toString();
  return `#/${parts.map(encodeURIComponent).join("/")}${search ? `?${search}` : ""}`;
}

/** The place where the page is, with some of its query changed. */
export function linkHere(changed: Record<string, string>): string {
  const { parts, query, scope } = current();
  const kept: Record<string, string[]> = {};
  for (const name of query.keys()) if (name !== "scope") kept[name] = query.getAll(name);
  return linkTo(parts, scope, { ...kept, ...changed });
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
