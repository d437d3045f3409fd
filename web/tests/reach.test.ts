import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { cut, Problem, unreachable } from "../src/api/problem";
import { isAway, isSilent, Reach } from "../src/lib/reach";

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
    // At once, and then every three seconds.
    expect([seen.looks, seen.called]).toEqual([4, []]);
    seen.isThere = true;
    await vi.advanceTimersByTimeAsync(3_000);
    expect(seen.called).toEqual(["list", "panel"]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(seen.looks).toBe(5);
  });

  it("is said to be so at once where the browser lost its network, unless it answers all the same", async () => {
    const { seen, reach } = away();
    seen.isThere = true;
    reach.doubt();
    await vi.advanceTimersByTimeAsync(0);
    expect(reach.standing()).toBe("there");
    seen.isThere = false;
    reach.doubt();
    await vi.advanceTimersByTimeAsync(0);
    expect(reach.standing()).toBe("away");
    seen.isThere = true;
    await vi.advanceTimersByTimeAsync(3_100);
    expect(reach.standing()).toBe("there");
  });

  it("is looked for no longer than somebody waits", async () => {
    const { seen, wait } = away();
    wait("list")();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([seen.looks, seen.called]).toEqual([1, []]);
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
    expect(seen.looks).toBeLessThan(20);
  });

  it("is known to be away at once, and to whoever goes on to another screen, until it answers", async () => {
    const { seen, reach, wait } = away();
    const told: string[] = [];
    reach.watch(() => told.push(reach.standing()));
    const leave = wait("list");
    await vi.advanceTimersByTimeAsync(0);
    expect(told).toEqual(["asked", "away"]);
    leave();
    wait("graph");
    seen.isThere = true;
    await vi.advanceTimersByTimeAsync(3_000);
    expect([told, seen.called]).toEqual([["asked", "away", "there"], ["graph"]]);
  });

  it("is looked for at once where somebody asks for that, and not twice as often from then on", async () => {
    let looks = 0;
    const reach = new Reach(() => new Promise((answer) => {
      looks += 1;
      setTimeout(() => answer(false), 500);
    }));
    reach.await(() => undefined);
    // While a look is under way.
    await vi.advanceTimersByTimeAsync(3_600);
    expect(looks).toBe(2);
    reach.lookNow();
    await vi.advanceTimersByTimeAsync(100);
    expect(looks).toBe(3);
    await vi.advanceTimersByTimeAsync(10_500);
    expect(looks).toBe(6);
  });

  it("is looked for every three seconds where it stops again soon", async () => {
    const { seen, reach, wait } = away();
    for (const name of ["first", "second", "third"]) {
      wait(name);
      await vi.advanceTimersByTimeAsync(1_000);
      seen.isThere = true;
      await vi.advanceTimersByTimeAsync(2_500);
      expect([seen.called[seen.called.length - 1], reach.standing()]).toEqual([name, "there"]);
      seen.isThere = false;
    }
  });

  it("is not away where only one request fails, and that failure does not come and go", async () => {
    const { seen, reach } = away();
    seen.isThere = true;
    const told: string[] = [];
    reach.watch(() => told.push(reach.standing()));
    const again = () => void reach.await(again);
    reach.await(again);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(told).toEqual(["asked", "there"]);
  });

  it("is told apart from one that refuses", () => {
    expect([unreachable(), new Problem(503, "", "Service Unavailable", ""), new Problem(502, "", "Bad Gateway", "")].every(isAway)).toBe(true);
    expect([new Problem(503, "unavailable", "", "busy"), new Problem(401, "unknown_key", "", ""), new Problem(500, "", "", ""), new Error("x")].some(isAway)).toBe(false);
    expect([unreachable(), new Problem(502, "", "", ""), cut(), new Problem(500, "", "", "")].map(isSilent)).toEqual([true, true, false, false]);
  });
});
