import { beforeAll, describe, expect, it } from "vitest";
import { problemIn } from "../src/api/problem";
import { placeOf, refusalsOf, whyRowRefused } from "../src/lib/import_refusals";
import { sentenceOf } from "../src/lib/session";
import { loadLateWords, loadWords, translated, type Language, type Word } from "../src/words";

beforeAll(() => Promise.all([loadWords("en"), loadWords("zh"), loadWords("zh-hant"), loadLateWords()]));
const say = (language: Language) => (word: Word, values?: Record<string, string | number>) => translated(language, word, values);

describe("what an import refused", () => {
  it("is each reason once, in the order of the file, with all its places and its code", () => {
    const rows = [{ place: "line 2", reason: "no JSON", reason_code: "not_json" }, { place: "line 3", reason: "no text" }, { place: "line 4", reason: "no JSON", reason_code: "not_json" }];
    expect(refusalsOf(rows)).toEqual([{ reason: "no JSON", reason_code: "not_json", places: ["line 2", "line 4"] }, { reason: "no text", places: ["line 3"] }]);
    expect(refusalsOf([])).toEqual([]);
  });

  it("is in the reader's language by its code, whatever its words are", () => {
    const told = (reason_code: string, values = {}) => ({ reason: "as the service says it", reason_code, values });
    expect(whyRowRefused(told("not_json", { fault: "line 1" }), say("zh-hant"))).toBe("不是 JSON（line 1）");
    expect(whyRowRefused(told("broken_document", { line: 2, column: 31 }), say("zh"))).toBe("文档在第 2 行第 31 列损坏");
    expect(whyRowRefused(told("cut_document"), say("en"))).toBe("the document ends before it is complete: it was cut off; get a whole copy");
    expect(whyRowRefused(told("line_too_long", { limit: 1000 }), say("zh"))).toBe("这一行超过 1000 字节：请拆分");
    expect(whyRowRefused(told("unknown_text", { name: "a.csv", begins: "'role'" }), say("en"))).toBe("a.csv is neither JSON Lines nor a JSON document: it begins with 'role'. Export it as JSON, or write one message a line: {\"role\": \"user\", \"content\": \"…\"}");
    expect(whyRowRefused(told("of_tomorrow"), say("zh"))).toBe("as the service says it");
    expect(whyRowRefused({ reason: "it is of tomorrow" }, say("zh"))).toBe("it is of tomorrow");
  });

  it("stands in a line, or where the service says", () => {
    expect(["line 12", "after element 3", "message 2", "the document", "the end", "notes.jsonl, line 2"].map((each) => placeOf(each, say("zh-hant")))).toEqual(["第 12 行", "第 3 個元素之後", "第 2 則訊息", "整份文件", "結尾", "notes.jsonl, line 2"]);
  });
});

describe("what the service refuses", () => {
  const said = (told: Parameters<typeof problemIn>[0], language: Language = "zh") => sentenceOf(problemIn({ detail: "in English", ...told }, 422, "Bad"), say(language));

  it("is said by the code of its reason, with its values", () => {
    expect(said({ code: "usage", reason_code: "unknown_zone", values: { name: "Mars" } })).toBe("没有时区 Mars：请写成 UTC、+08:00 或 Asia/Shanghai 这样的形式。");
    expect(said({ code: "usage", reason_code: "of_tomorrow" })).toBe("服务不接受所填的内容：in English");
  });

  it("is said by its facts where these say all", () => {
    expect(said({ code: "limit", facts: { what: "bytes", actual: 3, limit: 2, limit_name: "BYTES_MAX" } })).toBe("超出限制 BYTES_MAX：现为 3，最多 2。");
    expect(said({ code: "quota", facts: { limit_name: "tokens_a_day", limit: 5, retry_after_s: 12.2 } }, "zh-hant")).toContain("13 秒");
    const quota = (retry_after_s: number, language: Language) => said({ code: "quota", facts: { limit_name: "messages_a_day", limit: 1000, retry_after_s } }, language);
    expect(quota(19_656.7, "en")).toBe("The limit of 1,000 messages a day is reached: try again in 6 hours.");
    expect(quota(19_656.7, "zh")).toBe("已达到限额（每天的消息数 1,000）：请在6小时后重试。");
    expect(quota(19_656.7, "zh-hant")).toBe("已達到限額（每天的訊息數 1,000）：請在 6 小時後重試。");
    expect([1, 100, 101, 3_599, 3_600, 200_000].map((each) => quota(each, "en").slice(59))).toEqual(["1 second.", "100 seconds.", "2 minutes.", "1 hour.", "1 hour.", "3 days."]);
    expect(said({ code: "usage", reason_code: "undo_too_old", values: { seconds: 3600 } }, "en")).toBe("The change was made more than 1 hour ago: it can no longer be taken back.");
    expect(said({ code: "model_unavailable", facts: { message: "busy", retry_after_s: 2 } })).toBe("模型暂时不可用：in English");
  });

  it("has words for rare codes, too", () => {
    expect(said({ code: "closed" })).toBe("服务正在停止：in English");
    expect(said({ code: "of tomorrow" })).toBe("服务的答复：in English");
  });
});
