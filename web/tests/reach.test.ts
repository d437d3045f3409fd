import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Problem, unreachable } from "../src/api/problem";
import { isAway, Reach } from "../src/lib/reach";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A service that is there or not, how often it was looked for, and who was called back. */
function away() {
  const seen = { isThere: false, looks: 0, called: [] as string[] };
  const reach = new Reach(async () => {
    seen.looks += 1;
    return seen.isThere;
  });
  return { seen, reach, wait: (name: string) => reach.await(() => seen.called.push(name)) };
}

describe("a service that is away", () => {
  it("is looked for every three seconds, and all are called once it is there", async () => {
    const { seen, wait } = away();
    wait("list");
    wait("panel");
    await vi.advanceTimersByTimeAsync(9_500);
    expect([seen.looks, seen.called]).toEqual([3, []]);
    seen.isThere = true;
    await vi.advanceTimersByTimeAsync(3_000);
    expect(seen.called).toEqual(["list", "panel"]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(seen.looks).toBe(4);
  });

  it("is looked for no longer than somebody waits", async () => {
    const { seen, wait } = away();
    wait("list")();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([seen.looks, seen.called]).toEqual([0, []]);
  });

  it("is back as soon as it answers anything", async () => {
    const { seen, reach, wait } = away();
    wait("list");
    reach.answered();
    expect(seen.called).toEqual(["list"]);
  });

  it("is looked for more and more seldom where it answers, and the screen fails all the same", async () => {
    const { seen, reach } = away();
    seen.isThere = true;
    const again = () => void reach.await(again);
    reach.await(again);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(seen.looks).toBeLessThan(12);
  });

  it("is told apart from one that refuses", () => {
    expect([unreachable(), new Problem(503, "", "Service Unavailable", ""), new Problem(502, "", "Bad Gateway", "")].every(isAway)).toBe(true);
    expect([new Problem(503, "unavailable", "", "busy"), new Problem(401, "unknown_key", "", ""), new Problem(500, "", "", ""), new Error("x")].some(isAway)).toBe(false);
  });
});
