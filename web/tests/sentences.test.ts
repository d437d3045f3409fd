import { describe, expect, it } from "vitest";
import { entryWords, firstText, isDocument, isLong, pairsOf, personIn, placesSaid } from "../src/lib/sentences";
import { shown } from "../src/lib/pointer";
import { lookOf, TINTS } from "../src/lib/type_looks";

describe("a memory as people read it", () => {
  const fact = { value: { subject: "Mira", predicate: "lives in", object: "Porto" }, sentence: "Mira lives in Porto" };
  const user = { value: { user_name: "Mira", tags: ["a", "b"], empty: null, pets: { cat: "Pixel" } }, sentence: "user_name: Mira; tags: a, b; pets: cat Pixel" };

  it("is a document where the sentence only lists its fields", () => {
    expect(isDocument(fact)).toBe(false);
    expect(isDocument(user)).toBe(true);
  });

  it("has the fields of a document that say something, by name", () => {
    expect(pairsOf(user.value)).toEqual([
      { name: "user name", text: "Mira", pointer: "/user_name" }, { name: "tags", text: "a, b", pointer: "/tags" }, { name: "pets", text: "cat Pixel", pointer: "/pets" },
    ]);
  });

  it("is called by its first text, where it is one of many that list their fields", () => {
    const ticket = { type: "Ticket", key: "t1", value: { severity: 2, title: "The printer is on fire", steps: ["look"] } };
    expect(firstText(ticket)).toBe("The printer is on fire");
    expect(firstText({ ...ticket, key: "Ticket" })).toBeUndefined();
    expect(firstText({ ...ticket, key: "@ines" })).toBeUndefined();
    expect(firstText({ ...ticket, value: { severity: 2, title: "" } })).toBeUndefined();
  });

  it("says yes and no as the form does, also within a field", () => {
    const yesNo = (value: boolean) => (value ? "是" : "否");
    expect(pairsOf({ newsletter: true, contacts: [{ kind: "mail", primary: false }], score: 7.5, answer: "true" }, yesNo).map((each) => each.text)).toEqual(["是", "kind mail, primary 否", "7.5", "true"]);
    expect([shown(false, yesNo), shown(false)]).toEqual(["否", "false"]);
  });

  it("names the fields of a recalled document in the reader's language, and leaves other sentences", () => {
    const names: Record<string, string> = { "user name": "名字", home: "住处" };
    const said = (sentence: string, kind: "memory" | "message" = "memory") => entryWords({ kind, text: "", sentence }, (name) => names[name] ?? name, "：");
    expect(said("user_name: 陈晓明; home: 杭州; pets: 汤圆")).toBe("名字：陈晓明；住处：杭州；pets：汤圆");
    expect(said("home: 杭州", "message")).toBe("home: 杭州");
    expect(said("Mira lives here; home: Porto")).toBe("Mira lives here; home: Porto");
    expect(entryWords({ kind: "memory", text: "user_name: Mira; home: Porto" }, (name) => (name === "user name" ? "name" : name), ": ")).toBe("name: Mira; home: Porto");
  });

  it("finds the name of the person, whatever the field is called", () => {
    expect(personIn([{ value: { home: "Porto" } }, user])).toBe("Mira");
    expect(personIn([{ value: { 姓名: "米拉" } }])).toBe("米拉");
    expect(personIn([{ value: { name: 3 } }])).toBeUndefined();
  });

  it("parts the texts of a list by a comma only where they have none", () => {
    const text = (...rules: string[]) => pairsOf({ rules })[0]?.text;
    expect(text("rowing", "chess")).toBe("rowing, chess");
    expect(text("Be brief.", "No tables.")).toBe("Be brief. No tables.");
    expect(text("Be brief.", "No tables, ever")).toBe("Be brief; No tables, ever");
  });

  it("is long where it is a paragraph", () => {
    expect(isLong("Mira lives in Porto")).toBe(false);
    expect(isLong("她".repeat(161))).toBe(true);
  });

  it("says what stands in places of a document", () => {
    expect(placesSaid(user.value, ["/user_name", "/tags/1"])).toBe("user name Mira, tags b");
    expect(placesSaid(user.value, ["/pets", "/empty", "/gone"])).toBe("pets cat Pixel, empty, gone");
    expect(placesSaid(user.value, [""])).toBe("");
    expect(placesSaid(user.value, ["/tags/1"], () => "标签")).toBe("标签 b");
  });
});

describe("the look of a type", () => {
  it("is the same for the same name, and within the colours that there are", () => {
    for (const name of ["Trip", "旅行", "a b", "x".repeat(500)]) {
      expect(lookOf(name)).toEqual(lookOf(name));
      expect(lookOf(name).tint).toBeGreaterThanOrEqual(0);
      expect(lookOf(name).tint).toBeLessThan(TINTS);
    }
  });

  it("has a sign for every name: the first letter in any script, or a question mark", () => {
    expect(lookOf("trip").sign).toEqual({ letter: "T" });
    expect(lookOf("《旅行》").sign).toEqual({ letter: "旅" });
    expect(lookOf("--").sign).toEqual({ letter: "?" });
  });

  it("differs between the usual types", () => {
    const looks = ["User", "Fact", "Note", "Instructions", "Entity"].map(lookOf);
    expect(new Set(looks.map((each) => each.tint)).size).toBe(looks.length);
  });
});
