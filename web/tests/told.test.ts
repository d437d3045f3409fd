import { beforeAll, describe, expect, it } from "vitest";
import { Problem } from "../src/api/problem";
import type { Evidence, Formation } from "../src/api/shapes";
import { whyWritten } from "../src/lib/causes";
import { becauseOf, distinct, freshEvidence, messagesBehind, quoteOf, withoutTold, writtenByHand } from "../src/lib/evidence";
import { modelName } from "../src/lib/model_name";
import { wordsOf } from "../src/lib/sentences";
import { sentenceOf } from "../src/lib/session";
import { loadLateWords, loadWords, translated, usualName, type Word } from "../src/words";

beforeAll(async () => {
  await loadWords("en");
  await loadWords("zh");
  await loadLateWords();
});

const said = (message: string, quote: string): Evidence => ({ thread: "talk", message, quote });
const t = (word: Word, values?: Record<string, string | number>) => translated("zh", word, values);

describe("the words that a memory rests on", () => {
  it("are each told once, in their order", () => {
    expect(distinct([said("1", "a"), said("2", "a"), said("1", "a")])).toEqual([said("1", "a"), said("2", "a")]);
  });

  it("are fresh where the version before did not have them", () => {
    const before = { evidence: { "/home": [said("1", "a")] } };
    expect(freshEvidence({ evidence: { "/home": [said("1", "a"), said("2", "b")], "": [said("2", "b")] } }, before)).toEqual([said("2", "b")]);
    expect(freshEvidence(before, undefined)).toEqual([said("1", "a")]);
  });

  it("names the messages because of which it was formed, and none of what somebody did by hand", () => {
    const version = (cause: string, ...evidence: ReturnType<typeof said>[]) => ({ cause, evidence: { "": evidence } });
    const before = version("formed", said("1", "a"));
    const later = [said("1", "a"), said("2", "b"), said("2", "c"), { ...said("", ""), kind: "agent" as const }];
    expect(messagesBehind(version("a newer value", ...later), before)).toEqual([{ thread: said("2", "b").thread, message: "2" }]);
    for (const cause of ["put", "undone", "restored 1", "approved", "imported"]) expect(messagesBehind(version(cause, ...later), before)).toEqual([]);
  });

  it("are those of the receipt where the version cites none: of an end", () => {
    const at = "2026-01-05T10:00:00Z";
    const because = [{ thread: "t", message: "7" }];
    const receipt = (time: string, key: string, why = because) => ({ at: time, receipt: { outcomes: [{ action: "ended", type: "Fact", key, because: why }, { action: "stored", type: "Fact", key: "other" }] } }) as unknown as Formation;
    const of = (...formations: Formation[]) => becauseOf(formations, { type: "Fact", key: "home" }, at);
    expect(of(receipt("2026-01-04T10:00:00Z", "home", []), receipt(at, "home"))).toEqual(because);
    expect([of(receipt(at, "car")), of({ at, receipt: {} } as Formation), becauseOf([receipt(at, "home")], { type: "Fact", key: "other" }, at)]).toEqual([[], [], []]);
  });

  it("say nothing of what somebody wrote since", () => {
    const version = (number: number, sentence: string, cause: string, ...quotes: string[]) => ({ version: number, sentence, cause, evidence: { "": quotes.map((each) => said("1", each)) } });
    const before = version(1, "She lives in Porto", "formed", "a");
    const written = version(2, "She lives in Braga", "put", "a");
    const by = (...later: (typeof before)[]) => writtenByHand([before, ...later])?.version;
    expect(by(written)).toBe(2);
    expect(by(version(2, "She lives in Braga", "put", "b"))).toBeUndefined();
    expect(by(version(2, "She lives in Porto", "put", "a"))).toBeUndefined();
    expect(by(version(2, "She lives in Braga", "corrected: she said so", "a"))).toBeUndefined();
    expect(by(written, version(3, "She lives in Braga", "end", "a"))).toBe(2);
    expect(by(written, version(3, "She lives in Braga", "said again", "a", "b"))).toBeUndefined();
    // The message stays as the origin of the other words, with an empty quote.
    expect(by(version(2, "She lives in Braga", "put", ""))).toBe(2);
    expect(by(version(2, "She lives in Braga", "put", ""), version(3, "She lives in Porto", "undone", "a"))).toBeUndefined();
  });

  it("are told apart by the file where they stand", () => {
    const found = (line: number): Evidence => ({ ...said("", "x"), kind: "file", file: { path: "a.py", line } });
    expect(distinct([found(1), found(2), found(1)])).toHaveLength(2);
  });
});

describe("why a version was written", () => {
  it("is in the reader's language where the store says it", () => {
    expect(whyWritten("put", t)).toBe("写入");
    expect(whyWritten("restored 12", t)).toBe("恢复了第 12 版");
    expect(whyWritten("corrected /home_town", t)).toBe("更正了 home town");
  });

  it("names fields as they are named elsewhere", () => {
    const named = (field: string) => ({ occupation: "职业" })[field] ?? field;
    expect(whyWritten("rejected /occupation", t, named)).toBe("拒绝了 职业");
    expect(whyWritten("/occupation: the name 'Turku' was not said; /home: of tomorrow", t, named)).toBe("职业：没有人说过 'Turku' 这个名字；home：of tomorrow");
  });

  it("names each doubt, its place and the words that it is about", () => {
    const doubts = "/home: it reads as an instruction, and no user said it; /: the cited words say 'left', and the value \"don't\"; formed";
    expect(whyWritten(doubts, t)).toBe("home：它像是一条指令，而用户没有这样说过；原话说“left”，这里说“don't”；由对话形成");
    expect(whyWritten("formed; /home: the name 'Turku' was not said", t)).toBe("由对话形成；home：没有人说过 'Turku' 这个名字");
    expect(whyWritten("the flat is free earlier; she said so", t)).toBe("the flat is free earlier; she said so");
    expect(whyWritten("it would end what more trusted words say; of tomorrow", t)).toBe("它会终止更可信的内容；of tomorrow");
  });

  it("names no number under which a model was shown a memory, and gives it no orders", () => {
    expect(whyWritten("m6: the cited words are not about it: cite those that end it", t)).toBe("原话说的是别的事");
    expect(whyWritten("m12: the cited words do not say that it is over; m12: of tomorrow", t)).toBe("没有人说它已经结束；of tomorrow");
    expect(whyWritten("/: the cited words say nothing of it: cite those that do; /age: the number 30 is not in message 3, 4", t)).toBe("没有人这样说过；age：没有人说过 30 这个数字");
    expect(whyWritten("/: the speaker was in doubt, or told what others say: say so", t)).toBe("说话者并不确定，或在转述他人的话");
    expect(whyWritten("/likes: the cited words do not say that somebody is not allergic", t)).toBe("likes：没有人说过谁喜欢、想要或受不了它");
  });

  it("is as it was told elsewhere", () => {
    for (const cause of ["the flat is free earlier", "constructor", "restored twice"]) expect(whyWritten(cause, t)).toBe(cause);
  });
});

describe("the words of the later screens", () => {
  it("come with those of a language that is chosen afterwards", async () => {
    await loadWords("zh-hant");
    expect(translated("zh-hant", "audit.verify")).toMatch(/[\u4e00-\u9fff]/);
  });
});

describe("the usual types", () => {
  it("are named in the reader's language, with their fields and what is said of these", () => {
    expect(["Fact", "subject", "The other person, thing or value"].map((each) => usualName("zh", each))).toEqual(["事实", "谁或什么", "另一个人、事物或值"]);
    expect(["Fact", "home", "subject", "predicate"].map((each) => usualName("en", each))).toEqual(["Fact", "home", "who or what", "relation"]);
    expect(usualName("zh", "Trip")).toBe("Trip");
    // A profile of one's own names the field otherwise than that of the example.
    expect(["name", "user name"].map((each) => usualName("en", each))).toEqual(["name", "name"]);
  });
});

describe("numbers and names in words", () => {
  it("have their thousands apart where they count", () => {
    expect(translated("en", "chat.count", { count: 10_000 })).toBe("10,000 messages");
    expect(translated("en", "chat.count", { count: 1 })).toBe("1 message");
    expect(translated("en", "cause.restored", { version: 1_000 })).toBe("version 1000 restored");
  });

  it("say what a model of rules is, and name any other", () => {
    expect(modelName("rules/1", t)).toBe("固定规则");
    expect(modelName("openai/rules", t)).toBe("openai/rules");
  });

  it("have no braces in what a document says", () => {
    expect(wordsOf({ street: "Rua do Souto 7", town: ["Braga", null] })).toBe("street Rua do Souto 7, town Braga");
  });
});

describe("what the service refuses", () => {
  const said = (code: string, language: "en" | "zh") => sentenceOf(new Problem(400, code, "Bad", "it is 3, and 2 is allowed"), (word, values) => translated(language, word, values));

  it("is in the reader's language, with the names and numbers that the service gives", () => {
    expect(said("limit", "en")).toBe("it is 3, and 2 is allowed");
    expect(said("limit", "zh")).toBe("超出了限制：it is 3, and 2 is allowed");
    expect(said("of tomorrow", "zh")).toBe("服务的答复：it is 3, and 2 is allowed");
  });

  it("says to who sits before a page no header and no route", () => {
    for (const code of ["unknown_key", "key_revoked", "not_found", "unavailable"]) expect(said(code, "en") + said(code, "zh")).not.toContain("it is 3");
  });
});

describe("what stands for evidence", () => {
  const t = (word: string, { words = "" } = {}) => `${word} ${words}`.trim();

  it("is its quote, or the message; an empty quote is of what somebody wrote over it", () => {
    expect(["we moved", null, ""].map((quote) => quoteOf({ quote }, t))).toEqual(["quoted we moved", "evidence.message", "evidence.origin"]);
  });

  it("is no message of which words are told, beside these words", () => {
    const said = (message: string, quote: string) => ({ thread: "a", message, quote });
    expect(withoutTold([said("1", "we moved"), said("1", ""), said("2", "")])).toEqual([said("1", "we moved"), said("2", "")]);
  });
});
