/** The place that is shown, and the one that the browser is on its way to. */

import { beforeEach, describe, expect, it, vi } from "vitest";

let told: (() => void)[];
let place: { hash: string };
let route: typeof import("../src/lib/route");
const seen = vi.hoisted(() => ({ snapshot: (): unknown => undefined }));

vi.mock("react", () => ({
  useEffect: () => undefined, useRef: () => undefined, useState: () => undefined,
  useSyncExternalStore: (listen: (changed: () => void) => () => void, read: () => unknown) => {
    seen.snapshot = read;
    return listen;
  },
}));

beforeEach(async () => {
  vi.resetModules();
  told = [];
  place = { hash: "#/chat/talk" };
  vi.stubGlobal("location", place);
  vi.stubGlobal("addEventListener", (name: string, arrived: () => void) => name === "hashchange" && told.push(arrived));
  vi.stubGlobal("history", { replaceState: (_: unknown, __: string, link: string) => void (place.hash = link) });
  route = await import("../src/lib/route");
});

/** The parts of the place that is shown. */
const shown = () => {
  route.useRoute();
  return (seen.snapshot() as { parts: string[] }).parts;
};
const arrive = () => told.forEach((each) => each());

describe("the place that is shown", () => {
  it("is the one before, until the browser has told all parts of the page of the new one", () => {
    expect(shown()).toEqual(["chat", "talk"]);
    route.go("#/settings");
    expect(place.hash).toBe("#/settings");
    expect(shown()).toEqual(["chat", "talk"]);
    arrive();
    expect(shown()).toEqual(["settings"]);
  });

  it("is replaced at once", () => {
    expect(shown()).toEqual(["chat", "talk"]);
    route.go("#/memories?q=tea", true);
    expect(shown()).toEqual(["memories"]);
  });

  it("is not put over one that a person is on the way to", () => {
    expect(shown()).toEqual(["chat", "talk"]);
    place.hash = "#/settings";
    route.go("#/memories?q=tea", true);
    expect(place.hash).toBe("#/settings");
    arrive();
    route.go("#/settings?on=2025-01-01", true);
    expect(place.hash).toBe("#/settings?on=2025-01-01");
  });

  it("tells each part that listens, and none that has left", () => {
    const listen = route.useRoute() as unknown as (changed: () => void) => () => void;
    shown();
    const one = vi.fn();
    const other = vi.fn();
    const leave = listen(one);
    listen(other);
    place.hash = "#/graph";
    arrive();
    leave();
    place.hash = "#/types";
    arrive();
    expect([one.mock.calls.length, other.mock.calls.length]).toEqual([1, 2]);
  });
});
