/** What the routes of the service are for, in the reader's language: by operation, so that no English sentence is matched. */

import type { Language } from "../words";
import type { Operation } from "./api_document";

export interface RouteNames {
  operations: Record<string, string>;
  groups: Record<string, string>;
}

const NAMES: Partial<Record<Language, () => Promise<RouteNames>>> = {
  zh: () => import("../words/routes_zh").then(({ routes }) => routes),
  "zh-hant": () => import("../words/routes_zh_hant").then(({ routes }) => routes),
};

const AS_TOLD: RouteNames = { operations: {}, groups: {} };

export const loadRouteNames = (language: Language): Promise<RouteNames> => NAMES[language]?.() ?? Promise.resolve(AS_TOLD);

/** The operations with their summaries in the reader's language; a route that is newer than the page keeps its own. */
export const named = (operations: readonly Operation[], names: RouteNames): Operation[] =>
  operations.map((each) => ({ ...each, summary: names.operations[each.id] ?? each.summary }));
