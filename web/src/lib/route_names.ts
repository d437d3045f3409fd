/** What the routes of the service are for, in the reader's language: by operation; what their parameters and answers mean by the sentence, which many share. */

import type { Language } from "../words";
import type { Operation, Parameter } from "./api_document";
import { foundFor } from "./sentence_keys";
import { loadParameters } from "./told_sentences";

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

/** The names of the routes, and what their parameters and answers mean, by the sentence of the service. */
export const loadRouteWords = async (language: Language): Promise<[RouteNames, ReadonlyMap<string, string>]> => Promise.all([loadRouteNames(language), loadParameters(language)]);

/** The operations in the reader's language; what is newer than the page keeps its own words. */
export function named(operations: readonly Operation[], names: RouteNames, sentences: ReadonlyMap<string, string>): Operation[] {
  const said = <T extends { description: string }>(each: T): T => ({ ...each, description: foundFor(sentences, each.description) ?? each.description });
  return operations.map((each) => ({
    ...each, summary: names.operations[each.id] ?? each.summary, parameters: each.parameters.map(said<Parameter>), answers: each.answers.map(said),
    body: each.body && { ...each.body, fields: each.body.fields.map(said<Parameter>) },
  }));
}
