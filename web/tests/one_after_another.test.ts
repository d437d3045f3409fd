/** What was true before a memory in its place, and what is since. */

import { describe, expect, it, vi } from "vitest";

vi.hoisted(() => vi.stubGlobal("document", { baseURI: "http://page.test/" }));

import type { Memory } from "../src/api/shapes";
import { chainOf, formerOf, inPlaceOf, newestOfPlaces, nextOf, richest } from "../src/lib/one_after_another";

const NOW = Date.parse("2026-11-27T00:00:00Z");
const at = (day: string | null) => day && `${day}T00:00:00Z`;
const home = (object: string, from: string | null, until: string | null, predicate = "lives in"): Memory =>
  ({ type: "Fact", key: object, value: { subject: "Mira", predicate, object }, sentence: `Mira ${predicate} ${object}`, valid_from: at(from), valid_until: at(until) }) as Memory;

const utrecht = home("Utrecht", null, "2025-03-29");
const porto = home("Porto", "2025-03-29", "2026-11-06");
const coimbra = home("Coimbra", "2026-11-06", null);
const work = home("the library", "2025-03-29", null, "works at");
const all = [work, coimbra, porto, utrecht];

describe("memories that were true one after another", () => {
  it("are told from the earliest on, whichever is looked at", () => {
    for (const each of [utrecht, porto, coimbra]) expect(chainOf(each, all).map(({ key }) => key)).toEqual(["Utrecht", "Porto", "Coimbra"]);
    expect(chainOf(work, all)).toEqual([work]);
  });

  it("follow each other at a moment, and say the same of the same", () => {
    expect(formerOf(porto, all)).toEqual([utrecht]);
    expect(nextOf(utrecht, all)).toEqual([porto]);
    expect(formerOf(utrecht, all)).toEqual([]);
  });

  it("are followed by what is true today in their place, and not by what ended in turn", () => {
    expect(inPlaceOf(utrecht, all, NOW)).toEqual([coimbra]);
    expect(inPlaceOf(porto, all, NOW)).toEqual([coimbra]);
    expect(inPlaceOf(coimbra, all, NOW)).toEqual([]);
    expect(inPlaceOf(utrecht, [porto], NOW)).toEqual([]);
  });

  it("stand in a menu once, as what they are now, and only if something went before", () => {
    expect(newestOfPlaces(all)).toEqual([coimbra]);
    expect(newestOfPlaces([porto])).toEqual([]);
  });

  it("have more to show in time than a profile that never changed, and less than one that often did", () => {
    const user = (version: number): Memory => ({ type: "User", key: "User", version, value: { name: "Mira" }, sentence: "name: Mira", valid_from: null, valid_until: null }) as unknown as Memory;
    const here = { ...coimbra, version: 1 };
    expect(richest([user(1), here], all)).toBe(here);
    expect(richest([user(4), here], all)).toEqual(user(4));
    expect(richest([user(3), here], all)).toEqual(user(3));
    expect(richest([], all)).toBeUndefined();
  });

  it("may follow each other in a circle", () => {
    const there = home("Faro", "2025-01-01", "2025-02-01");
    const back = home("Braga", "2025-02-01", "2025-01-01");
    expect(chainOf(there, [there, back])).toHaveLength(2);
    expect(inPlaceOf(there, [there, back], NOW)).toEqual([]);
  });
});
