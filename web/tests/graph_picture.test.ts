import { describe, expect, it } from "vitest";
import type { Graph } from "../src/api/shapes";
import { crowded } from "../src/lib/crowd_layout";
import { firstView, panned, toGraph, toScreen, whole, zoomedAt } from "../src/lib/graph_camera";
import { freePlace, namesAt, standing } from "../src/lib/graph_labels";
import { BOXED_NODES, laidOut } from "../src/lib/graph_layout";
import { isBoxed, nodeAt } from "../src/lib/graph_paint";
import { boxOf, sceneOf } from "../src/lib/graph_scene";

const room = { width: 800, height: 600 };
const names = (count: number) => Array.from({ length: count }, (_, at) => `n${at}`);
/** Groups of ten around their first, the groups in a ring. */
const links = (count: number) => Array.from({ length: count }, (_, at): [number, number] => (at % 10 ? [at, at - (at % 10)] : [at, (at + 10) % count]));
const graphOf = (count: number): Graph => ({ nodes: names(count).map((id) => ({ id, name: id, kind: null })), edges: links(count).map(([from, to]) => ({ from: `n${from}`, to: `n${to}`, predicate: "knows", fact: `${from} ${to}`, valid_from: null, valid_until: null })), more: false });

describe("places of a crowd", () => {
  const points = crowded(600, links(600), 1.5);
  const apart = (one: number, other: number) => Math.hypot(points[one]!.x - points[other]!.x, points[one]!.y - points[other]!.y);

  it("are apart from each other, and near to what they are linked with", () => {
    const gaps = points.map((_, at) => Math.min(...points.map((_, other) => (at === other ? Infinity : apart(at, other)))));
    expect(gaps.filter((each) => each < 6).length).toBeLessThan(12);
    const linked = links(600).filter(([from]) => from % 10).map(([from, to]) => apart(from, to));
    const others = links(600).map(([from]) => apart(from, (from + 300) % 600));
    const mean = (all: number[]) => all.reduce((sum, each) => sum + each, 0) / all.length;
    expect(mean(linked) * 4).toBeLessThan(mean(others));
  });

  it("are the same each time; those in one place come apart", () => {
    expect(crowded(600, links(600), 1.5)).toEqual(points);
    const same = crowded(40, [], 1, Array.from({ length: 40 }, () => ({ x: 5, y: 5 })));
    expect(same.every((each) => Number.isFinite(each.x) && Number.isFinite(each.y))).toBe(true);
    expect(new Set(same.map((each) => `${each.x.toFixed(1)} ${each.y.toFixed(1)}`)).size).toBe(40);
  });

  it("take the shape of their picture", () => {
    const span = (of: "x" | "y") => Math.max(...points.map((each) => each[of])) - Math.min(...points.map((each) => each[of]));
    expect(span("x") / span("y")).toBeGreaterThan(1.15);
  });

  it("stay near where they were when a few more come", () => {
    const more = crowded(610, links(610), 1.5, points);
    const moved = points.map((each, at) => Math.hypot(each.x - more[at]!.x, each.y - more[at]!.y));
    expect(moved.sort((one, other) => one - other)[300]).toBeLessThan(60);
  });
});

describe("what is in the picture", () => {
  const bounds = { left: -1000, right: 1000, top: -500, bottom: 500 };

  it("keeps a place under the pointer when it comes nearer, and moves with it", () => {
    const camera = { x: 40, y: -10, zoom: 0.5 };
    const kept = toGraph(camera, room, { x: 100, y: 90 });
    const seen = toScreen(zoomedAt(camera, room, 2, { x: 100, y: 90 }), room, kept);
    expect([seen.x, seen.y]).toEqual([100, 90]);
    const after = toScreen(panned(camera, 30, -20), room, kept);
    expect([after.x, after.y]).toEqual([130, 70]);
  });

  it("is all of it, unless few could not be read", () => {
    expect(whole(bounds, room).zoom).toBeCloseTo(728 / 2000);
    expect(firstView(bounds, room, 200, { x: 900, y: 0 })).toEqual(whole(bounds, room));
    const near = firstView(bounds, room, 30, { x: 900, y: 0 });
    expect(near.zoom).toBe(0.7);
    expect(toScreen(near, room, { x: 1000, y: 0 }).x).toBeCloseTo(790);
  });
});

describe("names", () => {
  const label = (rank: number, left: number, isAsked = false) => ({ rank, left, top: 0, width: 50, height: 18, isAsked });

  it("stand by importance, none over another; who was asked for comes first", () => {
    const labels = [label(2, 0), label(0, 30), label(1, 200), label(90, 400), label(91, 210, true)];
    expect(standing(labels, 10).map((each) => each.rank)).toEqual([0, 91]);
    expect(standing(labels.slice(0, 4), 100).map((each) => each.rank)).toEqual([0, 1, 90]);
  });

  it("are more the nearer one looks", () => {
    expect(namesAt(800, 600, 1)).toBe(32);
    expect(namesAt(800, 600, 3)).toBe(288);
    expect(namesAt(100, 100, 0.2)).toBe(14);
  });
});

describe("a graph with its places", () => {
  it("has boxes while there are few, and dots that can be pointed at beyond", () => {
    for (const [count, hasBoxes] of [[30, true], [BOXED_NODES + 1, false]] as const) {
      const graph = graphOf(count);
      const layout = laidOut({ ids: names(count), edges: graph.edges, before: new Map(), boxes: new Map(graph.nodes.map((each) => [each.id, boxOf(each.name)])), shape: 1.3 });
      const scene = sceneOf(graph, undefined, layout.drawn);
      const camera = { ...whole(scene.bounds, room), zoom: 1 };
      expect(isBoxed(scene, camera)).toBe(hasBoxes);
      expect(isBoxed(scene, { ...camera, zoom: 0.2 })).toBe(false);
      const node = scene.nodes[17]!;
      const there = toScreen(camera, room, node);
      expect(nodeAt(scene, camera, room, there)?.id).toBe("n17");
      expect(nodeAt(scene, camera, room, { x: there.x + 20, y: there.y })?.id === "n17").toBe(hasBoxes);
      expect(scene.nodes.find((each) => each.rank === 0)?.degree).toBe(Math.max(...scene.nodes.map((each) => each.degree)));
    }
  });

  it("bends facts between the same two apart, and knows what is over", () => {
    const twice: Graph = { nodes: graphOf(2).nodes, edges: [{ from: "n0", to: "n1", predicate: "knows", fact: "1", valid_from: null, valid_until: null }, { from: "n1", to: "n0", predicate: "likes", fact: "2", valid_from: null, valid_until: "2001-01-01T00:00:00Z" }], more: false };
    const { edges } = sceneOf(twice, undefined, new Map());
    expect(edges.map((each) => each.bend)).toEqual([-17, -17]);
    expect(edges.map((each) => each.isOver)).toEqual([false, true]);
  });
});

describe("the words of a fact", () => {
  it("stand where they are over no others, and in the middle where all is taken", () => {
    const at = (left: number) => ({ left, top: 0, width: 100, height: 16 });
    expect(freePlace([at(50), at(0), at(130)], [at(30)])).toEqual(at(130));
    expect(freePlace([at(50), at(0)], [])).toEqual(at(50));
    expect(freePlace([at(50), at(0)], [at(30)])).toEqual(at(50));
    expect(freePlace([], [])).toBeUndefined();
  });
});
