/** Tabs of one browser that have the same key tell each other what can be undone. */

import { describe, expect, it, vi } from "vitest";

vi.hoisted(() => {
  vi.stubGlobal("document", { baseURI: "http://page.test/" });
  vi.stubGlobal("location", { hash: "" });
  vi.stubGlobal("addEventListener", () => undefined);
});

import { ChangeHandover, joined } from "../src/lib/change_handover";
import type { KeptChange } from "../src/lib/kept_changes";

/** Tabs of one browser, which hear each other; a change is a name here. */
function browser() {
  const heard = new Set<(told: unknown) => void>();
  return (key: string, owner = "mira") => {
    const tab = { kept: [] as string[], voidIn: "" };
    let own: (told: unknown) => void = () => undefined;
    const handover = new ChangeHandover<string>({
      channel: { listen: (each) => heard.add((own = each)), tell: (told) => { for (const each of [...heard]) if (each !== own) each(told); } },
      holder: () => ({ owner, key }),
      kept: () => tab.kept,
      take: (changes) => { tab.kept = [...new Set([...changes, ...tab.kept])]; },
      forget: (token) => { tab.kept = tab.kept.filter((each) => each !== token); },
      forgetIn: (scope) => { tab.kept = []; tab.voidIn = scope; },
    });
    return { tab, handover };
  };
}

describe("what can be undone", () => {
  it("is told to tabs that are open, and to those that are opened later", () => {
    const open = browser();
    const [one, other] = [open("k1"), open("k1")];
    one.tab.kept.push("the boat");
    one.handover.made("the boat");
    expect(other.tab.kept).toEqual(["the boat"]);
    expect(open("k1").tab.kept).toEqual(["the boat"]);
  });

  it("is told to no tab of another key, or of another store", () => {
    const open = browser();
    const one = open("k1");
    const others = [open("k2"), open("k1", "eve")];
    one.tab.kept.push("the boat");
    one.handover.made("the boat");
    expect([...others, open("k2")].map(({ tab }) => tab.kept)).toEqual([[], [], []]);
  });

  it("goes everywhere once it is undone, or void after an erase", () => {
    const open = browser();
    const [one, other] = [open("k1"), open("k1")];
    other.tab.kept.push("the boat", "the house");
    one.handover.undone("the boat");
    expect(other.tab.kept).toEqual(["the house"]);
    one.handover.voidIn('["mira"]');
    expect(other.tab).toEqual({ kept: [], voidIn: '["mira"]' });
  });

  it("is there once, the newest first", () => {
    const change = (undo: string, until: number): KeptChange => ({ what: undo, memories: [], tokens: [{ scope: [], undo }], until });
    expect(joined([change("b", 2), change("c", 3)], [change("b", 2), change("a", 1)]).map(({ what }) => what)).toEqual(["c", "b", "a"]);
  });
});
