/** What the browser keeps is shown only where it belongs: in the same store, for keys of the same scope. */

import { beforeEach, describe, expect, it, vi } from "vitest";

vi.hoisted(() => vi.stubGlobal("document", { baseURI: "http://page.test/" }));

import { keepDraft, readDraft } from "../src/lib/drafts";
import { forgetAllChanges, keepChange, removalsIn } from "../src/lib/kept_changes";
import { ownedShelf, ownerOf, setOwner } from "../src/lib/owned_shelf";
import { shelfOf } from "../src/lib/storage";
import { isWrittenHere, noteWritten } from "../src/lib/written_here";

const key = (store: string, ...prefix: string[]) => ({ store, prefix, scope: [] });
const scope = ["ada"];
const removed = { scope, type: "Note", key: "boat", version: null };

beforeEach(() => {
  forgetAllChanges();
  setOwner(key("one"));
});

describe("what was done in one store", () => {
  it("is offered for undo there, and in no other one at the same address", () => {
    keepChange("the boat", [removed], [{ scope, undo: "token" }]);
    noteWritten(scope, { type: "Note", key: "boat", version: 1 });
    const isWritten = () => isWrittenHere(scope, { type: "Note", key: "boat", sentence: "A boat." }, [{ version: 1, sentence: "A boat." }]);
    setOwner(key("two"));
    expect([removalsIn(scope).length, isWritten()]).toEqual([0, false]);
    setOwner(key("one"));
    expect([removalsIn(scope).length, isWritten()]).toEqual([1, true]);
  });

  it("is not offered to a key of another scope, whose scopes have the same names", () => {
    keepChange("the boat", [removed], [{ scope, undo: "token" }]);
    setOwner(key("one", "acme"));
    expect(removalsIn(scope)).toEqual([]);
    expect(ownerOf(key("one", "acme"))).not.toBe(ownerOf(key("one", "other")));
  });

  it("goes for all when the key is given up", () => {
    keepChange("the boat", [removed], [{ scope, undo: "token" }]);
    setOwner(key("two"));
    forgetAllChanges();
    setOwner(key("one"));
    expect(removalsIn(scope)).toEqual([]);
  });

  it("is told of as left only when somebody else was here before", () => {
    expect([setOwner(key("one")), setOwner(key("two"))]).toEqual([false, true]);
  });
});

describe("a shelf of several owners", () => {
  it("keeps the last four that wrote, and reads nothing of what others left in another form", () => {
    let who = "";
    const shelf = shelfOf(() => { throw new Error("denied"); });
    const own = ownedShelf(shelf, () => who);
    for (who of ["a", "b", "c", "d", "e"]) own.set("drafts", `of ${who}`);
    const seen = ["a", "b", "e"].map((each) => { who = each; return own.get("drafts"); });
    expect(seen).toEqual([null, "of b", "of e"]);
    shelf.set("drafts", "[1]");
    expect(own.get("drafts")).toBeNull();
  });

  it("holds drafts", () => {
    keepDraft("here", "typed", { scope });
    expect(readDraft("here")).toBe("typed");
    setOwner(key("two"));
    expect(readDraft("here")).toBe("");
  });
});
