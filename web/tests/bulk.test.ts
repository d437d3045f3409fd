import { describe, expect, it } from "vitest";
import { Problem } from "../src/api/problem";
import { changeAll, meantBy, partsIn, sentOnce } from "../src/lib/bulk";
import type { Chosen } from "../src/lib/chosen";
import { takeAllBack } from "../src/lib/undo_tokens";

const chosen = (count: number, scope: string[] = []): Chosen[] => Array.from({ length: count }, (_, at) => ({ scope, type: "Note", key: `n${at}`, version: 1, state: "active" as const }));
const conflict = new Problem(412, "version_conflict", "", "");

describe("a change of many", () => {
  it("is sent in parts, each of one scope", () => {
    const parts = partsIn([...chosen(250), ...chosen(3, ["a"])], 100);
    expect(parts.map((each) => [each[0]?.scope, each.length])).toEqual([[[], 100], [[], 100], [[], 50], [["a"], 3]]);
  });

  it("halves a part that is refused until the one that refuses is alone", async () => {
    const sent: number[] = [];
    const done: number[] = [];
    const result = await changeAll(partsIn(chosen(8), 8), async (part) => {
      sent.push(part.length);
      if (part.some((each) => each.key === "n5")) throw conflict;
      return { changed: part.length, undo: part.map((each) => each.key).join() };
    }, (count) => done.push(count));
    expect(result.changed).toBe(7);
    expect(result.refused.map((each) => each.memory.key)).toEqual(["n5"]);
    expect(result.tokens.map((each) => each.undo)).toEqual(["n0,n1,n2,n3", "n4", "n6,n7"]);
    expect(done.at(-1)).toBe(8);
    expect(sent[0]).toBe(8);
  });

  it("stops where the service is away, and tells what was done until then", async () => {
    let asked = 0;
    const away = new Problem(0, "unreachable", "", "");
    const result = await changeAll(partsIn(chosen(30), 10), async (part) => {
      if (++asked === 2) throw away;
      return { changed: part.length, undo: "t" };
    }, () => undefined);
    expect([asked, result.changed, result.stopped, result.tokens.length]).toEqual([2, 10, away, 1]);
    expect(result.left.map((each) => each.key)).toEqual(chosen(30).slice(10).map((each) => each.key));
  });

  it("stops when it is told to", async () => {
    const stop = new AbortController();
    const result = await changeAll(partsIn(chosen(30), 10), async (part) => {
      stop.abort();
      return { changed: part.length };
    }, () => undefined, stop.signal);
    expect(result.changed).toBe(10);
  });

  it("is sent again under its key where the answer was lost, and not where it was refused", async () => {
    const keys: string[] = [];
    const lost = new Problem(0, "cut", "", "");
    const answer = await sentOnce(async (key) => {
      keys.push(key);
      if (keys.length === 1) throw lost;
      return "done";
    });
    expect([answer, keys.length, keys[0] === keys[1]]).toEqual(["done", 2, true]);
    await expect(sentOnce(async () => Promise.reject(conflict))).rejects.toBe(conflict);
  });

  it("is taken back the last first, and goes on where it broke off", async () => {
    const tokens = ["a", "b", "c"].map((undo) => ({ scope: [], undo }));
    const seen: string[] = [];
    let isAway = true;
    const undo = async (_: string[], token: string) => {
      if (token === "b" && isAway) throw conflict;
      seen.push(token);
    };
    const told: number[][] = [];
    const progress = (...each: number[]) => void told.push(each);
    await expect(takeAllBack(tokens, undo, progress)).rejects.toBe(conflict);
    expect(told).toEqual([[0, 3], [1, 3]]);
    isAway = false;
    await takeAllBack(tokens, undo, progress);
    expect(told.at(-1)).toEqual([2, 2]);
    expect(seen).toEqual(["c", "b", "a"]);
  });

  it("approves only what waits", () => {
    const mixed: Chosen[] = [...chosen(1), { ...chosen(1)[0] as Chosen, state: "quarantined" }, { ...chosen(1)[0] as Chosen, state: "rejected" }];
    expect(meantBy("approve", mixed).map((each) => each.state)).toEqual(["quarantined"]);
    expect(meantBy("reject", mixed).map((each) => each.state)).toEqual(["active", "quarantined"]);
    expect(meantBy("delete", mixed)).toHaveLength(3);
  });
});
