/** Where the page is: kept in the address's fragment, so that any path prefix and any reload work. */

import { useSyncExternalStore } from "react";
import type { Scope } from "../api/shapes";
import { concealed, revealed } from "./sought";

export interface Route {
  parts: string[];
  query: URLSearchParams;
  scope: Scope;
}

export function routeOf(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const query = revealed(new URLSearchParams(search));
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
  const here = addressed().query;
  const carried = Object.fromEntries(CARRIED.map((name) => [name, here.get(name)]));
  for (const [name, value] of Object.entries({ ...carried, ...extra })) {
    for (const each of Array.isArray(value) ? value : [value]) if (each) query.append(name, each);
  }
  const search = query.toString();
  return `#/${parts.map(encodeURIComponent).join("/")}${search ? `?${search}` : ""}`;
}

/** The place where the page is, with some of its query changed. */
export function linkHere(changed: Record<string, string>): string {
  const { parts, query, scope } = addressed();
  const kept: Record<string, string[]> = {};
  for (const name of query.keys()) if (name !== "scope") kept[name] = query.getAll(name);
  return linkTo(parts, scope, { ...kept, ...changed });
}

/**
 * Go to a place, which the way back leads away from again; or put it in the place of the one that is shown.
 *
 * A place is not put over one that the browser is on its way to: whoever calls knows nothing of that yet.
 */
export function go(link: string, replace = false): void {
  if (!replace) {
    location.hash = concealed(link);
  } else if (location.hash === shown().hash) {
    history.replaceState(null, "", concealed(link));
    arrive();
  }
}

/** Whether a link leads to where the page is. */
export const isHere = (link: string): boolean => concealed(link) === location.hash;

/** Follow a link that has words by their key; in a new window, which has none of the keys, it is opened as it is. */
function follow(event: MouseEvent): void {
  const link = (event.target as Element).closest('a[href^="#"]')?.getAttribute("href") ?? "";
  if (event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || concealed(link) === link) return;
  event.preventDefault();
  go(link);
}

interface Shown {
  hash: string;
  route: Route;
}

/** Read at the first call: before it the page's beginning may change the address. */
let latest: Shown | undefined;
const listeners = new Set<() => void>();

function read(): Shown {
  const hash = concealed(location.hash);
  if (hash !== location.hash) history.replaceState(null, "", hash);
  return { hash, route: routeOf(hash) };
}

function shown(): Shown {
  if (!latest) {
    latest = read();
    addEventListener("hashchange", arrive);
    addEventListener("click", follow);
  }
  return latest;
}

/** The place of the address, which may not be shown yet. */
const addressed = (): Route => (location.hash === shown().hash ? shown().route : routeOf(location.hash));

/** All parts of the page hear of a new place together. `location` has it earlier: a part that read it there would be shown on a place that is not its own. */
function arrive(): void {
  const now = read();
  if (now.hash !== latest?.hash) latest = now;
  for (const each of [...listeners]) each();
}

function listen(changed: () => void): () => void {
  listeners.add(changed);
  return () => listeners.delete(changed);
}

export const useRoute = (): Route => useSyncExternalStore(listen, () => shown().route);
