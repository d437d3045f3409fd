import { beforeAll, describe, expect, it } from "vitest";
import { placed } from "../src/lib/layout";

describe("a graph's layout", () => {
  const ids = Array.from({ length: 40 }, (_, place) => `n${place}`);
  const edges = ids.slice(1).map((id) => ({ from: "n0", to: id }));

  it("is the same each time, and all of it is finite", () => {
    const one = placed(ids, edges);
    expect([...one]).toEqual([...placed(ids, edges)]);
    expect([...one.values()].every((each) => Number.isFinite(each.x) && Number.isFinite(each.y))).toBe(true);
  });

  it("lets no two nodes lie upon each other", () => {
    const points = [...placed(ids, edges).values()];
    const nearest = Math.min(...points.flatMap((one, i) => points.slice(i + 1).map((other) => Math.hypot(one.x - other.x, one.y - other.y))));
    expect(nearest).toBeGreaterThan(18);
  });

  it("heeds no edge to a node that is not shown, nor one to itself", () => {
    expect(placed(["a"], [{ from: "a", to: "b" }, { from: "a", to: "a" }]).size).toBe(1);
  });
});

describe("an address of the page", () => {
  let route: typeof import("../src/lib/route");
  beforeAll(async () => {
    Object.assign(globalThis, { location: { hash: "" }, addEventListener: () => undefined });
    route = await import("../src/lib/route");
  });

  it("gives back its parts, scope and values, whatever they hold", () => {
    const link = route.linkTo(["memories", "Note", "a/b?c#d"], ["users", "ada@example.org"], { q: "x & y", state: "" });
    const found = route.routeOf(link);
    expect(found.parts).toEqual(["memories", "Note", "a/b?c#d"]);
    expect(found.scope).toEqual(["users", "ada@example.org"]);
    expect(found.query.get("q")).toBe("x & y");
    expect(found.query.has("state")).toBe(false);
  });

  it("takes the day that is looked at along, until it is left", () => {
    location.hash = "#/memories?scope=ada&known=2025-03-12&q=tea";
    expect(route.linkTo(["chat"], ["ada"])).toBe("#/chat?scope=ada&known=2025-03-12");
    expect(route.linkTo(["chat"], [], { on: "", known: "" })).toBe("#/chat");
    expect(route.linkHere({ known: "", on: "2025-01-01" })).toBe("#/memories?scope=ada&on=2025-01-01&q=tea");
    location.hash = "";
  });
});
