/** What changes in a scope is heard by one request, while the page can be seen. */

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

const page = vi.hoisted(() => {
  const listeners = new Set<() => void>();
  const document = {
    baseURI: "http://page.test/", hidden: false,
    addEventListener: (_: string, each: () => void) => listeners.add(each),
    removeEventListener: (_: string, each: () => void) => listeners.delete(each),
  };
  vi.stubGlobal("document", document);
  const network = new EventTarget();
  vi.stubGlobal("addEventListener", network.addEventListener.bind(network));
  vi.stubGlobal("removeEventListener", network.removeEventListener.bind(network));
  return { document, listeners, network };
});

import { api } from "../src/api/client";
import { Problem } from "../src/api/problem";
import { listenToErasures } from "../src/lib/erasures";
import { isCutOff, listenTo, lookAgain } from "../src/lib/changes";
import { reach } from "../src/lib/reach";

interface Stream {
  scope: string[];
  tell: () => void;
  fail: () => void;
  signal: AbortSignal;
}

const streams: Stream[] = [];
const open = () => streams.filter((each) => !each.signal.aborted).length;
const turn = async (hidden: boolean) => {
  page.document.hidden = hidden;
  for (const each of [...page.listeners]) each();
  await vi.advanceTimersByTimeAsync(0);
};

beforeEach(() => {
  vi.useFakeTimers();
  streams.length = 0;
  page.document.hidden = false;
  vi.spyOn(api, "changes").mockImplementation(async function* (scope, opened, signal) {
    let act: (failed: boolean) => void = () => undefined;
    const next = () => new Promise<boolean>((done) => {
      act = done;
      signal.addEventListener("abort", () => done(true));
    });
    // As every answer of the service does.
    reach.answered();
    streams.push({ scope, signal, tell: () => act(false), fail: () => act(true) });
    opened();
    for (;;) {
      if (await next()) throw new Problem(0, "cut", "", "");
      yield { event: "change", data: "" } as never;
    }
  });
});
afterEach(async () => {
  await vi.advanceTimersByTimeAsync(5_000);
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe("the changes of a scope", () => {
  it("are heard by one request for all who listen, and told to each", async () => {
    const [one, other] = [vi.fn(), vi.fn()];
    const leave = [listenTo("[]", one), listenTo("[]", other)];
    await vi.advanceTimersByTimeAsync(0);
    expect(open()).toBe(1);
    streams[0]?.tell();
    await vi.advanceTimersByTimeAsync(200);
    expect([one.mock.calls.length, other.mock.calls.length]).toEqual([1, 1]);
    for (const each of leave) each();
    await vi.advanceTimersByTimeAsync(5_000);
    expect([open(), page.listeners.size]).toEqual([0, 0]);
  });

  it("go on being heard from screen to screen", async () => {
    listenTo("[]", vi.fn())();
    await vi.advanceTimersByTimeAsync(500);
    const changed = vi.fn();
    const leave = listenTo("[]", changed);
    await vi.advanceTimersByTimeAsync(5_000);
    expect([streams.length, open()]).toEqual([1, 1]);
    streams[0]?.tell();
    await vi.advanceTimersByTimeAsync(200);
    expect(changed).toHaveBeenCalledTimes(1);
    leave();
  });

  it("are heard of each scope by itself", async () => {
    const leave = [listenTo('["ada"]', vi.fn()), listenTo('["eve"]', vi.fn())];
    await vi.advanceTimersByTimeAsync(0);
    expect(streams.map((each) => each.scope)).toEqual([["ada"], ["eve"]]);
    for (const each of leave) each();
  });

  it("hold no connection in the background, and are caught up with", async () => {
    const changed = vi.fn();
    const leave = listenTo("[]", changed);
    await vi.advanceTimersByTimeAsync(0);
    await turn(true);
    await vi.advanceTimersByTimeAsync(120_000);
    expect([open(), changed.mock.calls.length]).toEqual([0, 0]);
    await turn(false);
    await vi.advanceTimersByTimeAsync(200);
    expect([open(), changed.mock.calls.length]).toEqual([1, 1]);
    leave();
  });

  it("that a tab opened in the background has missed are caught up with", async () => {
    page.document.hidden = true;
    const changed = vi.fn();
    const leave = listenTo("[]", changed);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(streams).toEqual([]);
    await turn(false);
    await vi.advanceTimersByTimeAsync(200);
    expect(changed).toHaveBeenCalledTimes(1);
    leave();
  });

  it("are known not to be heard once the service is looked for in vain, until it is there", async () => {
    const leave = listenTo("[]", vi.fn());
    await vi.advanceTimersByTimeAsync(0);
    const good = vi.mocked(api.changes).getMockImplementation();
    vi.mocked(api.changes).mockImplementation(async function* () { throw new Problem(0, "unreachable", "", ""); });
    streams[0]?.fail();
    await vi.advanceTimersByTimeAsync(3_100);
    expect(isCutOff()).toBe(false);
    await vi.advanceTimersByTimeAsync(3_100);
    expect(isCutOff()).toBe(true);
    if (good) vi.mocked(api.changes).mockImplementation(good);
    lookAgain();
    await vi.advanceTimersByTimeAsync(0);
    expect([isCutOff(), streams.length]).toEqual([false, 2]);
    leave();
  });

  it("that were missed are asked for from the last place, and an erase among them is told to all that hold words", async () => {
    const places: string[] = [];
    vi.mocked(api.changes).mockImplementation(async function* (_, opened, __, after = "", placed) {
      places.push(after);
      opened();
      placed?.(`1:${places.length}`);
      if (after) yield { event: "reset", data: "{}", id: null };
      throw new Problem(0, "cut", "", "");
    });
    const erased = vi.fn();
    const leave = [listenTo('["ada"]', vi.fn()), listenToErasures(erased)];
    await vi.advanceTimersByTimeAsync(100);
    expect(erased).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(6_000);
    expect(places).toEqual(["", "1:1"]);
    expect(erased.mock.calls).toEqual([[["ada"]]]);
    for (const each of leave) each();
  });

  it("are known not to be heard at once where the network is gone, and are caught up with at once when it is back", async () => {
    const changed = vi.fn();
    const leave = listenTo("[]", changed);
    await vi.advanceTimersByTimeAsync(0);
    const answers = vi.spyOn(globalThis, "fetch").mockRejectedValue(new TypeError("offline"));
    page.network.dispatchEvent(new Event("offline"));
    await vi.advanceTimersByTimeAsync(0);
    expect(isCutOff()).toBe(true);
    answers.mockResolvedValue(new Response());
    page.network.dispatchEvent(new Event("online"));
    await vi.advanceTimersByTimeAsync(400);
    expect([isCutOff(), streams.length, open(), changed.mock.calls.length]).toEqual([false, 2, 1, 1]);
    leave();
  });

  it("that a key may not hear are not taken for a service that is gone", async () => {
    vi.mocked(api.changes).mockImplementation(async function* () { throw new Problem(403, "forbidden", "", ""); });
    const leave = listenTo("[]", vi.fn());
    await vi.advanceTimersByTimeAsync(60_000);
    expect(isCutOff()).toBe(false);
    leave();
  });

  it("are heard again after a break, ever later while it lasts", async () => {
    const changed = vi.fn();
    const leave = listenTo("[]", changed);
    await vi.advanceTimersByTimeAsync(0);
    streams[0]?.fail();
    await vi.advanceTimersByTimeAsync(3_100);
    expect(streams.length).toBe(1);
    await vi.advanceTimersByTimeAsync(3_100);
    expect([streams.length, changed.mock.calls.length]).toEqual([2, 1]);
    leave();
  });
});
