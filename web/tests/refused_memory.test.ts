import { expect, it, vi } from "vitest";
import { Problem } from "../src/api/problem";
import { refusedInWords } from "../src/lib/refused_memory";

vi.stubGlobal("location", { hash: "" });
vi.stubGlobal("addEventListener", () => undefined);

const refused = (memory?: string) => new Problem(409, "conflict", "", "it says", { code: "undo_overtaken", values: memory === undefined ? {} : { memory, other: "kept" } });
const said = async ({ type, key }: { type: string; key: string }) => (type === "Fact" && key === "home/porto" ? "Mira lives in Porto" : undefined);

it("names a memory by what it says, and leads to it", async () => {
  const told = (await refusedInWords(refused("Fact/home/porto"), ["mira"], said)) as Problem;
  expect(told.reason).toEqual({ code: "undo_overtaken", values: { memory: "“Mira lives in Porto”", other: "kept" } });
  expect(told.href).toBe("#/memories/Fact/home%2Fporto?scope=mira");
  expect([told.status, told.code, told.detail]).toEqual([409, "conflict", "it says"]);
});

it("leads to the message that stands in the way, where there is one", async () => {
  const { status, code, title, detail, reason } = refused("Fact/home/porto");
  const told = (await refusedInWords(new Problem(status, code, title, detail, { ...reason, values: { ...reason.values, thread: "moves", message: "m 2" } }), [], said)) as Problem;
  expect(told.href).toBe("#/chat/moves?message=m+2");
});

it("stays as it is where no memory is named, or it is not there any more", async () => {
  for (const error of [refused(), refused("Note/gone"), refused("home"), new Error("x")]) expect(await refusedInWords(error, [], said)).toBe(error);
  const failing = refused("Fact/home");
  expect(await refusedInWords(failing, [], () => Promise.reject(new Error("away")))).toBe(failing);
});
