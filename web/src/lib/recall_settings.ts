/** What shapes a recall, as the address has it; the second of two that are compared under names of its own. */

import type { JsonObject } from "../api/shapes";
import { endOf } from "./days";

export const LIMIT = 12;
export const BUDGET = 800;

const NAMES = ["q", "limit", "budget", "floor", "among", "below", "on", "known"] as const;
export type RecallSettings = Record<(typeof NAMES)[number], string>;

/** Settings in an address; those of the second side begin with "b_". */
export function settingsIn(query: URLSearchParams, side = ""): RecallSettings {
  const given = (name: string) => query.get(`${side}${name}`) ?? "";
  return { ...(Object.fromEntries(NAMES.map((name) => [name, given(name)])) as RecallSettings), q: given("q").trim(), limit: given("limit") || String(LIMIT), budget: given("budget") || String(BUDGET) };
}

/** The settings as an address has them; what is usual is not named. */
export function addressOf(settings: RecallSettings, side = ""): Record<string, string> {
  const usual: Partial<RecallSettings> = { limit: String(LIMIT), budget: String(BUDGET) };
  return Object.fromEntries(NAMES.filter((name) => settings[name] && settings[name] !== usual[name]).map((name) => [`${side}${name}`, settings[name].trim()]));
}

export function bodyOf(asked: RecallSettings): JsonObject {
  const { budget_tokens, min_score, ...filters } = { ...filtersOf(asked), budget_tokens: Number(asked.budget), min_score: shareOf(asked.floor) };
  return { ...filters, render: true, skip_question: true, limit: Number(asked.limit) || LIMIT, ...(budget_tokens ? { budget_tokens } : {}), ...(min_score ? { min_score } : {}) };
}

/** Which entries may be found, without what cuts the answer short. */
export function filtersOf(asked: RecallSettings): JsonObject {
  return {
    query: asked.q,
    ...(asked.on ? { valid_at: endOf(asked.on) } : {}),
    ...(asked.known ? { known_at: endOf(asked.known) } : {}),
    ...(asked.below ? { below: true } : {}),
    ...(asked.among === "memories" ? { roles: [] } : {}),
  };
}

/** A floor in per cent as a share. */
export const shareOf = (percent: string): number => Math.min(1, Math.max(0, Number(percent) / 100 || 0));
