import { describe, expect, it } from "vitest";
import { Problem, unreachable } from "../src/api/problem";
import { countsSaid, ImportQueue, isImported, rowsOfAll, type Drained, type Importing, type ImportReport } from "../src/lib/import_queue";

const taken = (count: number): ImportReport => ({ kind: "export", export: { taken: count, refused: [], refused_count: 0, changed: [], changed_count: 0, erased_count: 0 } });
const file = (name: string) => new File(["x"], name);
const turn = () => new Promise((done) => setTimeout(done));

/** A queue of which each file ends when it is told to, and what was begun. */
function queueOf() {
  const begun: string[] = [];
  const ends = new Map<string, { end: (report: ImportReport) => void; fail: (error: unknown) => void }>();
  const importing: Importing = (entry, _, signal) =>
    new Promise((end, fail) => {
      begun.push(entry.file.name);
      ends.set(entry.file.name, { end, fail });
      signal.addEventListener("abort", () => fail(new DOMException("", "AbortError")));
    });
  const queue = new ImportQueue(importing);
  const drained: Drained[] = [];
  const add = (...names: string[]) => void queue.add(["ada"], "UTC", names.map(file), (each) => drained.push(each));
  const states = () => queue.all().map((each) => `${each.file.name} ${each.state}`);
  const idOf = (name: string) => queue.all().find((each) => each.file.name === name)?.id ?? 0;
  const go = (...names: string[]) => void queue.resume(names.map(idOf), (each) => drained.push(each));
  return { queue, begun, drained, add, states, idOf, go, end: async (name: string, count = 1) => { ends.get(name)?.end(taken(count)); await turn(); }, fail: async (name: string, error: unknown) => { ends.get(name)?.fail(error); await turn(); } };
}

describe("files that are imported", () => {
  it("are taken one after another, and told of together", async () => {
    const { begun, drained, add, states, end } = queueOf();
    add("a", "b");
    add("c");
    expect(begun).toEqual(["a"]);
    expect(states()).toEqual(["c waiting", "a going", "b waiting"]);
    for (const each of ["a", "b", "c"]) await end(each, 2);
    expect(begun).toEqual(["a", "b", "c"]);
    expect(drained.map((each) => rowsOfAll(each.reports).taken)).toEqual([6]);
  });

  it("are told of with what was there already and what was refused", () => {
    const report = (taken: number, present: number, refused_count: number) => ({ kind: "file", file: { taken, present, refused_count } }) as ImportReport;
    expect(countsSaid(rowsOfAll([report(3, 0, 0), taken(2)]))).toEqual([["import.taken", 5]]);
    expect(countsSaid(rowsOfAll([report(0, 7, 0)]))).toEqual([["import.nothing_new", 0], ["import.there", 7]]);
    expect(countsSaid(rowsOfAll([report(1, 2, 3), report(1, 0, 0)]))).toEqual([["import.taken", 2], ["import.there", 2], ["import.rows_refused", 3]]);
  });

  it("count as imported unless every row was refused", () => {
    const done = (taken: number, present: number, refused_count: number) => isImported({ state: "done", report: { kind: "file", file: { taken, present, refused_count } } as ImportReport });
    expect([done(1, 0, 0), done(0, 2, 0), done(1, 0, 1), done(0, 0, 1)]).toEqual([true, true, true, false]);
    expect(isImported({ state: "failed", report: null })).toBe(false);
  });

  it("are each stopped and gone on with", async () => {
    const { queue, begun, add, states, idOf, go, end } = queueOf();
    add("a", "b", "c");
    queue.stop(idOf("c"));
    queue.stop(idOf("a"));
    await turn();
    expect(states()).toEqual(["a stopped", "b going", "c stopped"]);
    expect(queue.all().map((each) => each.isPartial)).toEqual([true, false, false]);
    go("c", "a");
    await end("b");
    expect(begun).toEqual(["a", "b", "a"]);
    await end("a");
    await end("c");
    expect(states()).toEqual(["a done", "b done", "c done"]);
  });

  it("go past one that is refused, and wait where the service is away", async () => {
    const { begun, drained, add, states, fail } = queueOf();
    add("a", "b", "c");
    await fail("a", new Problem(422, "usage", "", "it is empty"));
    await fail("b", unreachable());
    expect(begun).toEqual(["a", "b"]);
    expect(states()).toEqual(["a failed", "b failed", "c stopped"]);
    expect(drained.map((each) => each.errors.length)).toEqual([2]);
    expect(drained.map((each) => each.failed)).toEqual([["a", "b"]]);
  });

  it("make room for those that are chosen next, unless they have a report or can still go on", async () => {
    const { queue, add, states, idOf, fail, end } = queueOf();
    add("a", "b", "c", "d");
    await end("a");
    await fail("b", new Problem(422, "usage", "", "it is empty"));
    queue.stop(idOf("d"));
    queue.stop(idOf("c"));
    await turn();
    add("d", "e");
    expect(states()).toEqual(["d going", "e waiting", "a done", "c stopped"]);
    for (const each of ["c", "d"]) queue.drop(idOf(each));
    expect(states()).toEqual(["d going", "e waiting", "a done"]);
  });

  it("keep the last reports, and the newest of a file that is imported again", async () => {
    const { add, states, end } = queueOf();
    const names = Array.from({ length: 10 }, (_, place) => `f${place}`);
    for (const name of [...names, "f9"]) {
      add(name);
      await end(name);
      await turn();
    }
    expect(states()).toEqual(names.slice(2).reverse().map((each) => `${each} done`));
  });
});
