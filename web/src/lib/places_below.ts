/** Where something waits in the scopes below the one that is looked at, and how much of it. */

import type { Scope } from "../api/shapes";

export interface Place {
  scope: Scope;
  count: number;
}

export interface Places {
  places: Place[];
  total: number;
  hasMore: boolean;
}

/** The scopes other than their own, that with the most first. */
export function placesOf(scopes: readonly Scope[], own: Scope, hasMore = false): Places {
  const counts = new Map<string, Place>();
  for (const scope of scopes) {
    const name = JSON.stringify(scope);
    if (name !== JSON.stringify(own)) counts.set(name, { scope, count: (counts.get(name)?.count ?? 0) + 1 });
  }
  const places = [...counts.values()].sort((one, other) => other.count - one.count);
  return { places, total: places.reduce((sum, each) => sum + each.count, 0), hasMore };
}
