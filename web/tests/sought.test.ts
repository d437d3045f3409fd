/** Search words and questions, which no address has: an erase does not reach the history of a browser. */

import { beforeEach, describe, expect, it, vi } from "vitest";

let place: { hash: string };
let told: Record<string, (event?: unknown) => void>;
let gone: string[];
let route: typeof import("../src/lib/route");
let erasures: typeof import("../src/lib/erasures");
const seen = vi.hoisted(() => ({ snapshot: (): unknown => undefined }));

vi.mock("react", () => ({
  useEffect: () => undefined, useRef: () => undefined, useState: () => undefined,
  useSyncExternalStore: (_: unknown, read: () => unknown) => (seen.snapshot = read),
}));
vi.mock("../src/lib/erased_traces", () => ({ forgetErasedIn: () => Promise.resolve() }));

const opened = async (hash: string) => {
  vi.resetModules();
  told = {};
  gone = [];
  place = { hash };
  vi.stubGlobal("location", place);
  vi.stubGlobal("addEventListener", (name: string, heard: () => void) => (told[name] = heard));
  vi.stubGlobal("history", { replaceState: (_: unknown, __: string, link: string) => (gone.push(place.hash), (place.hash = link)) });
  erasures = await import("../src/lib/erasures");
  route = await import("../src/lib/route");
  route.useRoute();
  seen.snapshot();
};
const query = () => (seen.snapshot() as { query: URLSearchParams }).query;
const asked = () => query().get("q");
const arriveAt = (hash: string) => {
  place.hash = hash;
  told.hashchange?.();
};

beforeEach(() => opened("#/recall?scope=ada"));

describe("words that were typed", () => {
  it("are asked, and are not in the address", () => {
    route.go("#/recall?scope=ada&q=door+code+4711&b_q=attic");
    told.hashchange?.();
    expect(place.hash).toMatch(/^#\/recall\?scope=ada&s=\w+$/);
    expect([asked(), query().get("b_q")]).toEqual(["door code 4711", "attic"]);
    expect(query().has("s")).toBe(false);
  });

  it("have one key, so that a question that is asked again is at its place", () => {
    route.go("#/recall?q=tea");
    const first = place.hash;
    route.go("#/graph?entity=Ada");
    expect(place.hash).toMatch(/^#\/graph\?s=/);
    expect(route.isHere("#/recall?q=tea")).toBe(false);
    route.go("#/recall?q=tea");
    expect(place.hash).toBe(first);
    expect(route.isHere("#/recall?q=tea")).toBe(true);
  });

  it("are taken out of an address that comes with them", async () => {
    await opened("#/memories?q=tea");
    expect(asked()).toBe("tea");
    expect(place.hash).toMatch(/^#\/memories\?s=/);
    arriveAt("#/memories?q=coffee");
    expect(asked()).toBe("coffee");
    expect(place.hash).not.toContain("coffee");
  });

  it("are in no address on the way by a link, which another window opens as it is", () => {
    const link = { closest: () => ({ getAttribute: () => "#/recall?q=tea" }) };
    const click = { target: link, button: 0, preventDefault: vi.fn() };
    told.click?.({ ...click, ctrlKey: true });
    expect(click.preventDefault).not.toHaveBeenCalled();
    told.click?.(click);
    expect(click.preventDefault).toHaveBeenCalled();
    told.hashchange?.();
    expect(asked()).toBe("tea");
    expect(gone).toEqual([]);
  });

  it("are forgotten by an erase in any scope, and the way back asks nothing", async () => {
    route.go("#/recall?scope=ada&q=door+code+4711");
    told.hashchange?.();
    const before = place.hash;
    await erasures.noteErasure(["ben"]);
    arriveAt("#/settings");
    arriveAt(before);
    expect(asked()).toBeNull();
    route.go("#/recall?scope=ada&q=something+else");
    expect(place.hash).not.toBe(before);
  });
});
