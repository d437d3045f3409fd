import { describe, expect, it } from "vitest";
import type { Graph } from "../src/api/shapes";
import { arranged, groupsIn } from "../src/lib/graph_groups";
import { drawable, EDGES_MAX, merged, NODES_MAX, separated, wayBetween } from "../src/lib/graph_view";

const edge = (from: string, to: string, fact = `${from}${to}`) => ({ from, to, predicate: "knows", fact, valid_from: null, valid_until: null });
const graph = (names: string[], ...edges: [string, string][]): Graph => ({ nodes: names.map((id) => ({ id, name: id, kind: null })), edges: edges.map(([from, to]) => edge(from, to)), more: false });

describe("graphs put together", () => {
  it("have each entity and fact once", () => {
    const whole = merged(graph(["a", "b"], ["a", "b"]), graph(["b", "c"], ["a", "b"], ["b", "c"]));
    expect(whole.nodes.map((each) => each.id)).toEqual(["a", "b", "c"]);
    expect(whole.edges).toHaveLength(2);
    expect(whole.more).toBe(false);
  });

  it("say that there is more than is shown, and show no fact with an end left out", () => {
    const many = Array.from({ length: NODES_MAX + 1 }, (_, place) => `n${place}`);
    const whole = merged(graph(many), graph(["x"], ["n0", "x"], ["n0", "n1"]));
    expect([whole.nodes.length, whole.edges.length, whole.more]).toEqual([NODES_MAX, 1, true]);
  });
});

describe("a graph of more facts than a picture can show", () => {
  it("has as many as it can, and says that there are more", () => {
    const edges = Array.from({ length: EDGES_MAX + 1 }, (_, at) => edge("a", "b", `f${at}`));
    const whole = drawable({ ...graph(["a", "b"]), edges });
    expect([whole.edges.length, whole.more]).toEqual([EDGES_MAX, true]);
    const few = graph(["a", "b"], ["a", "b"]);
    expect(drawable(few)).toBe(few);
  });
});

describe("boxes", () => {
  it.each([2, 12, 40])("of %i that stand in one place overlap no more", (count) => {
    const sizes = new Map(Array.from({ length: count }, (_, place) => [`n${place}`, { width: 60 + place * 4, height: 32 }]));
    const apart = separated(new Map([...sizes.keys()].map((id, place) => [id, { x: place % 3, y: place % 5 }])), (id) => sizes.get(id)!);
    const boxes = [...apart].map(([id, point]) => ({ ...point, ...sizes.get(id)! }));
    const overlaps = boxes.flatMap((one, i) => boxes.slice(i + 1).filter((other) => Math.abs(one.x - other.x) < (one.width + other.width) / 2 && Math.abs(one.y - other.y) < (one.height + other.height) / 2));
    expect(overlaps).toEqual([]);
    expect(apart.get("n0")).toEqual({ x: 0, y: 0 });
  });

  it("that stand apart stay where they are", () => {
    const points = new Map([["a", { x: 0, y: 0 }], ["b", { x: 300, y: 0 }]]);
    expect(separated(points, () => ({ width: 50, height: 30 }))).toEqual(points);
  });
});

describe("the way between two entities", () => {
  const all = graph(["a", "b", "c", "d", "e"], ["a", "b"], ["c", "b"], ["c", "d"], ["a", "d"]);

  it("is a shortest one, whichever way the facts point", () => {
    expect(wayBetween(all, "a", "c").nodes).toHaveLength(3);
    expect(wayBetween(all, "b", "c")).toEqual({ nodes: ["b", "c"], edges: ["c knows b cb"] });
    expect(wayBetween(all, "a", "a")).toEqual({ nodes: ["a"], edges: [] });
  });

  it("is none where there is none", () => {
    expect(wayBetween(all, "a", "e")).toEqual({ nodes: [], edges: [] });
  });
});

describe("entities that no fact leads between", () => {
  const ids = ["a", "b", "c", "d", "e", "f"];
  const edges = [edge("a", "b"), edge("d", "c"), edge("c", "e"), edge("x", "f")];

  it("are groups, the largest first", () => {
    expect(groupsIn(ids, edges)).toEqual([["c", "d", "e"], ["a", "b"], ["f"]]);
  });

  it("stand beside each other, so that no arrow crosses another group", () => {
    const { drawn } = arranged(ids, edges, new Map(), () => ({ width: 120, height: 32 }), 1.2);
    const bounds = groupsIn(ids, edges).map((group) => {
      const points = group.map((id) => drawn.get(id)!);
      return { left: Math.min(...points.map((each) => each.x)) - 60, right: Math.max(...points.map((each) => each.x)) + 60, top: Math.min(...points.map((each) => each.y)) - 16, bottom: Math.max(...points.map((each) => each.y)) + 16 };
    });
    const crossed = bounds.flatMap((one, at) => bounds.slice(at + 1).filter((other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom));
    expect(crossed).toEqual([]);
  });

  it("use the room of the picture where they are many", () => {
    const many = Array.from({ length: 30 }, (_, at) => `n${at}`);
    const chain = many.slice(1).map((id, at) => edge(many[Math.floor(at / 2)]!, id));
    for (const shape of [0.8, 1.5]) {
      const points = [...arranged(many, chain, new Map(), () => ({ width: 160, height: 32 }), shape).drawn.values()];
      const span = (of: "x" | "y") => Math.max(...points.map((each) => each[of])) - Math.min(...points.map((each) => each[of]));
      expect((span("x") + 160) / (span("y") + 32)).toBeLessThan(shape * 1.35);
      expect((span("x") + 160) / (span("y") + 32)).toBeGreaterThan(shape / 1.35);
    }
  });
});
