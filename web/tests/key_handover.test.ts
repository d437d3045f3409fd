/** Tabs that were opened signed in go on after a restart of the service; no typed key leaves its tab. */

import { describe, expect, it } from "vitest";
import { KeyHandover, noteKeyFrom, type Channel } from "../src/lib/key_handover";
import type { Shelf } from "../src/lib/storage";

/** Tabs of one browser, which hear each other. */
function browser() {
  const listeners = new Map<Channel, (told: unknown) => void>();
  const open = (key: string | null, from?: "address" | "typed" | "left") => {
    const held = new Map<string, string>();
    const shelf: Shelf = { get: (name) => held.get(name) ?? null, set: (name, value) => void (value === null ? held.delete(name) : held.set(name, value)) };
    if (from) noteKeyFrom(from, shelf);
    const tab = { key, taken: [] as string[] };
    const channel: Channel = {
      listen: (heard) => void listeners.set(channel, heard),
      tell: (told) => {
        for (const [each, heard] of [...listeners]) if (each !== channel) heard(told);
      },
    };
    const handover = new KeyHandover({ channel, shelf, key: () => tab.key, take: (taken) => { tab.key = taken; tab.taken.push(taken); } });
    return { tab, refused: handover.refused };
  };
  return open;
}

describe("the key of a service that was started anew", () => {
  it("comes from the tab that the restart opens, before or after the old key is refused", () => {
    const open = browser();
    const [early, late] = [open("rk_old", "address"), open("rk_old", "address")];
    early.refused();
    open("rk_new", "address");
    expect([early.tab.key, late.tab.key]).toEqual(["rk_new", "rk_old"]);
    late.refused();
    expect(late.tab.key).toBe("rk_new");
  });

  it("is asked for by a tab that was opened without one", () => {
    const open = browser();
    open("rk_new", "address");
    const fresh = open(null);
    fresh.refused();
    expect(fresh.tab.key).toBe("rk_new");
  });

  it("is not taken twice, nor from a tab whose own was refused", () => {
    const open = browser();
    const [one, other] = [open("rk_old", "address"), open("rk_old", "address")];
    one.refused();
    other.refused();
    const fresh = open(null);
    fresh.refused();
    expect([one.tab.taken, other.tab.taken, fresh.tab.taken]).toEqual([[], [], []]);
  });
});

describe("a key that was typed", () => {
  it("is handed to no other tab, and no other key is put in its place", () => {
    const open = browser();
    const typed = open("rk_mine", "typed");
    const fresh = open(null);
    fresh.refused();
    expect(fresh.tab.key).toBeNull();
    open("rk_new", "address");
    typed.refused();
    expect(typed.tab.key).toBe("rk_mine");
  });

  it("or was given up leaves the tab without one", () => {
    const open = browser();
    open("rk_new", "address");
    const left = open(null, "left");
    left.refused();
    expect(left.tab.key).toBeNull();
  });
});
