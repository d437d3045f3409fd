/** A memory that is gone because its making was undone leads on to what stands again. */

import { beforeEach, expect, it, vi } from "vitest";

vi.hoisted(() => vi.stubGlobal("document", { baseURI: "http://page.test/" }));

import { api } from "../src/api/client";
import { forgetAllChanges, forgetChangesIn, keepChange, takeBack } from "../src/lib/kept_changes";
import { standInsteadOf } from "../src/lib/undone_changes";

const scope = ["ada"];
const at = (key: string) => ({ scope, type: "Fact", key });
const undo = (memories: (ReturnType<typeof at> & { version: number | null })[]) => takeBack(keepChange("a move", memories, [{ scope, undo: memories[0]?.key ?? "" }]));

beforeEach(() => {
  vi.restoreAllMocks();
  vi.spyOn(api, "undo").mockResolvedValue(undefined);
  forgetAllChanges();
});

it("is the memory that had ended with it", async () => {
  await undo([{ ...at("new-home"), version: 1 }, { ...at("home"), version: 4 }]);
  expect(standInsteadOf(at("new-home"))).toEqual([at("home")]);
  expect(standInsteadOf(at("home"))).toEqual([]);
  expect(standInsteadOf({ ...at("new-home"), scope: ["eve"] })).toEqual([]);
});

it("is nothing where nothing had ended", async () => {
  await undo([{ ...at("note"), version: 1 }]);
  expect(standInsteadOf(at("note"))).toEqual([]);
});

it("is forgotten with an erase of its scope", async () => {
  await undo([{ ...at("new-home"), version: 1 }, { ...at("home"), version: 4 }]);
  forgetChangesIn(["eve"]);
  expect(standInsteadOf(at("new-home"))).toEqual([at("home")]);
  forgetChangesIn(scope);
  expect(standInsteadOf(at("new-home"))).toEqual([]);
});
