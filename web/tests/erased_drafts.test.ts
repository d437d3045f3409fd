/** A draft goes with what was erased, in every window; others stay. */

import { beforeEach, describe, expect, it, vi } from "vitest";

vi.hoisted(() => vi.stubGlobal("document", { baseURI: "http://page.test/" }));

import { api } from "../src/api/client";
import { Problem } from "../src/api/problem";
import { forgetDrafts, keepDraft, readDraft } from "../src/lib/drafts";
import { forgetErasedDrafts, repeats } from "../src/lib/erased_drafts";

const scope = ["ada"];
const gone = () => Promise.reject(new Problem(404, "not_found", "", ""));
const left = (...places: string[]) => places.filter((each) => readDraft(each) !== "");

beforeEach(() => {
  vi.restoreAllMocks();
  forgetDrafts();
});

describe("a draft after an erase", () => {
  it("goes with its thread, and stays in a thread that stands or has not begun", async () => {
    vi.spyOn(api, "thread").mockImplementation((_, id) => (id === "erased" ? gone() : Promise.resolve({} as never)));
    keepDraft("erased", "See you", { scope, thread: "erased" });
    keepDraft("other", "See you", { scope, thread: "other" });
    keepDraft("fresh", "See you", { scope });
    await forgetErasedDrafts(scope, []);
    expect(left("erased", "other", "fresh")).toEqual(["other", "fresh"]);
  });

  it("goes with its memory, and where that has lost a part", async () => {
    const memory = (key: string) => ({ scope, memory: { type: "Fact", key, version: 2 } });
    vi.spyOn(api, "memory").mockImplementation((_, __, key) => (key === "erased" ? gone() : Promise.resolve({ version: key === "revised" ? 3 : 2 } as never)));
    for (const each of ["erased", "revised", "same"]) keepDraft(each, "typed", memory(each));
    await forgetErasedDrafts(scope, []);
    expect(left("erased", "revised", "same")).toEqual(["same"]);
  });

  it("goes where it says what was erased, in that scope", async () => {
    keepDraft("here", "5519-XQ", { scope });
    keepDraft("elsewhere", "5519-XQ", { scope: ["eve"] });
    await forgetErasedDrafts(scope, ["The code is 5519-XQ."]);
    expect(left("here", "elsewhere")).toEqual(["elsewhere"]);
  });

  it("stays while the service does not say what became of it", async () => {
    vi.spyOn(api, "thread").mockRejectedValue(new Problem(0, "unreachable", "", ""));
    keepDraft("talk", "See you", { scope, thread: "talk" });
    await forgetErasedDrafts(scope, []);
    expect(left("talk")).toEqual(["talk"]);
  });
});

describe("whether a draft repeats an erased text", () => {
  it("is seen either way round, without regard to case and spaces", () => {
    expect(repeats("the  CODE", ["The code is 5519-XQ."])).toBe(true);
    expect(repeats("As I said: the code\nis 5519-XQ. Keep it", ["The code is 5519-XQ."])).toBe(true);
    expect(repeats("我說過：車庫的密碼", ["車庫的密碼是"])).toBe(false);
    expect(repeats("我說過，車庫的密碼是", ["車庫的密碼是"])).toBe(true);
  });

  it("is not by a word that stands everywhere", () => {
    expect(repeats("Yes, we meet on Friday", ["Yes"])).toBe(false);
    expect(repeats("We meet on Friday", [])).toBe(false);
  });
});
