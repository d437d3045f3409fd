import { describe, expect, it } from "vitest";
import { isDoubtful, Outbox, placeOf, type Unsent } from "../src/lib/outbox";
import { shelfOf, type Shelf } from "../src/lib/storage";
import { gapsIn, settled, withEarlier, withKept, withNewest } from "../src/lib/talk";

const memory = (): Shelf => {
  const held = new Map<string, string>();
  return { get: (name) => held.get(name) ?? null, set: (name, value) => void (value === null ? held.delete(name) : held.set(name, value)) };
};
const HERE = placeOf("acme", [], "t");
const said = { key: "k", place: HERE, text: "Hello.", assistant: "", after: 4 };
const message = (position: number, role = "user", text = "Hello.") => ({ id: `m${position}`, position, role: role as "user", text });
const unsure = (part: Partial<Unsent> = {}): Unsent => ({ ...said, message: null, state: "unsent", isUnsure: true, error: null, ...part });

describe("a message on its way", () => {
  it("is there after the page was left, under the same key, and nobody knows whether it arrived", () => {
    const shelf = memory();
    new Outbox(shelf).add(said);
    const [found] = new Outbox(shelf).of(HERE);
    expect(found).toMatchObject({ key: "k", text: "Hello.", state: "unsent", isUnsure: true });
  });

  it("is known to have arrived once the service has said so", () => {
    const shelf = memory();
    const before = new Outbox(shelf);
    before.add(said);
    before.change("k", { message: "m5" });
    expect(new Outbox(shelf).of(HERE)[0]).toMatchObject({ state: "unanswered", isUnsure: false });
  });

  it("belongs to its thread, its scope and the scope of the key", () => {
    const outbox = new Outbox(memory());
    outbox.add(said);
    expect(outbox.of(placeOf("acme", ["t"], ""))).toEqual([]);
    expect(outbox.of(placeOf("other", [], "t"))).toEqual([]);
    expect(outbox.of(HERE)).toBe(outbox.of(HERE));
  });

  it("waits no longer for an answer when something more is said", () => {
    const outbox = new Outbox(memory());
    outbox.add(said);
    outbox.change("k", { state: "unanswered", message: "m5" });
    outbox.add({ ...said, key: "other" });
    expect(outbox.of(HERE).map((each) => each.key)).toEqual(["other"]);
  });

  it("is read from what somebody else has left there only if it is a list", () => {
    const shelf = memory();
    shelf.set("recollect.outbox", '{"not": "a list"');
    expect(new Outbox(shelf).of(HERE)).toEqual([]);
  });
});

describe("what came of a message", () => {
  it("is found by its words behind what was known when it was said", () => {
    expect(settled(unsure(), [message(4), message(5)])).toEqual({ message: "m5" });
    expect(settled(unsure(), [message(3), message(4)])).toBeNull();
    expect(settled(unsure(), [message(5, "user", "Other.")])).toBeNull();
  });

  it("is an answer, where one came after it", () => {
    expect(settled(unsure(), [message(5), message(6, "assistant")])).toBe("answered");
    expect(settled(unsure({ state: "unanswered", message: "m5" }), [message(5), message(6)])).toBeNull();
  });

  it("is not looked for while it is being sent, or if the service has refused it", () => {
    expect(settled(unsure({ state: "sending" }), [message(5)])).toBeNull();
    expect(settled(unsure({ isUnsure: false }), [message(5)])).toBeNull();
  });
});

describe("whether a message was sent", () => {
  it("is in doubt only until the thread was read after it had failed", () => {
    const failed = unsure({ failedAt: 1_000 });
    expect([0, 1_000, 1_001].map((readAt) => isDoubtful(failed, readAt))).toEqual([true, true, false]);
    expect(isDoubtful(unsure({ failedAt: 1_000, isUnsure: false }), 0)).toBe(false);
    expect(isDoubtful(unsure(), 2_000)).toBe(true);
  });
});

describe("the messages of a thread", () => {
  const of = (...positions: number[]) => positions.map((each) => message(each));
  const positions = (found: { position: number }[]) => found.map((each) => each.position);

  it("are the newest as the service has them, and those before", () => {
    expect(positions(withNewest(of(1, 2, 3, 4), of(3, 5)))).toEqual([1, 2, 3, 5]);
  });

  it("have no hole that looks like none: behind a gap the newest stand alone", () => {
    expect(positions(withNewest(of(1, 2), of(90, 91)))).toEqual([90, 91]);
    expect(withNewest(of(1, 2), [])).toEqual([]);
    // The first of a thread was erased, and the newest are all that is left.
    expect(positions(withNewest(of(1, 2), of(2), true))).toEqual([2]);
  });

  it("stay in order with earlier ones and with one that was just kept", () => {
    expect(positions(withEarlier(of(5, 6), of(3, 4, 5)))).toEqual([3, 4, 5, 6]);
    expect(positions(withKept(of(5, 6), message(6)))).toEqual([5, 6]);
    expect(positions(withKept(of(5, 7), message(6)))).toEqual([5, 6, 7]);
  });
});

describe("a shelf that the browser forbids", () => {
  it("keeps what it is given as long as the page is open", () => {
    const shelf = shelfOf(() => {
      throw new DOMException("denied", "SecurityError");
    });
    expect(shelf.get("name")).toBeNull();
    shelf.set("name", "value");
    expect(shelf.get("name")).toBe("value");
    shelf.set("name", null);
    expect(shelf.get("name")).toBeNull();
  });
});

describe("what is gone of a talk", () => {
  const at = (...places: (number | null)[]) => places.map((position) => ({ id: position === null ? "draft" : `m${position}`, position }));
  const gaps = (...args: Parameters<typeof gapsIn>) => Object.fromEntries(gapsIn(...args));

  it("is told where its place is empty: before a message, between two, and after the last", () => {
    expect(gaps(at(2, 3, 6), 3, true)).toEqual({ m2: 1, m6: 2 });
    expect(gaps(at(1, 2), 2, true)).toEqual({ "": 2 });
    expect(gaps(at(1, 2, null), 2, true)).toEqual({ draft: 2 });
    expect(gaps([], 4, true)).toEqual({ "": 4 });
  });

  it("is nothing that was not read, or not counted as gone", () => {
    expect(gaps(at(5, 6, 8), 3, false)).toEqual({ m8: 1 });
    expect(gaps(at(5, 6, 40, 42), 3, false, 6)).toEqual({ m42: 1 });
    expect(gaps(at(1, 3), 0, true)).toEqual({});
    expect(gaps(at(1, 2), -1, true)).toEqual({});
  });
});

describe("a question of another window", () => {
  it("is put among what is on its way, under its own key and as what the service has", () => {
    const outbox = new Outbox(memory());
    outbox.add({ ...said, key: "mine" });
    outbox.change("mine", { message: "m4", state: "unanswered" });
    outbox.add({ ...unsure(), message: "m5", isUnsure: false });
    outbox.add({ ...unsure(), message: "m5", isUnsure: false });
    expect(outbox.of(HERE)).toEqual([{ ...said, message: "m5", state: "sending", isUnsure: false, error: null }]);
  });
});
