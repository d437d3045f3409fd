import { beforeAll, describe, expect, it } from "vitest";
import { placeOf, refusalsOf, whyRefused } from "../src/lib/refusals";
import { loadLateWords, loadWords, translated, type Language, type Word } from "../src/words";

beforeAll(() => Promise.all([loadWords("en"), loadWords("zh-hant"), loadLateWords()]));
const say = (language: Language) => (word: Word, values?: Record<string, string>) => translated(language, word, values);

describe("what an import refused", () => {
  it("is each reason once, in the order of the file, with all its places", () => {
    const rows = [{ place: "line 2", reason: "no JSON" }, { place: "line 3", reason: "no text" }, { place: "line 4", reason: "no JSON" }];
    expect(refusalsOf(rows)).toEqual([{ reason: "no JSON", places: ["line 2", "line 4"] }, { reason: "no text", places: ["line 3"] }]);
    expect(refusalsOf([])).toEqual([]);
  });

  it("is in the reader's language where the reason is a usual one", () => {
    const reasons = [
      ["it is not JSON (Expecting value: line 1 column 2 (char 1))", "不是 JSON（Expecting value: line 1 column 2 (char 1)）"],
      ["its format is unknown: it has the fields 'a', 'b'", "格式不明，含有欄位 'a', 'b'"],
      ["the document is broken or was cut off here (it is not complete); what came before was kept", "文件在此損毀或中斷（it is not complete）；之前的內容已保留"],
      ["the file ends in the middle of this line: it was cut off; get a whole copy and import it again", "檔案在這一行中斷：請取得完整的檔案再匯入"],
      ["'a b.json' is empty: there is nothing to import", "a b.json 是空的，沒有可匯入的內容"],
      ["'x' is neither JSON Lines nor a JSON document: it begins with 'Dear'", "x 既不是 JSON Lines，也不是 JSON 文件：開頭是 'Dear'。請匯出為 JSON，或者每行寫一則訊息：{\"role\": \"user\", \"content\": \"…\"}"],
      ["it is of tomorrow", "it is of tomorrow"],
    ] as const;
    for (const [told, read] of reasons) expect(whyRefused(told, say("zh-hant"))).toBe(read);
    for (const [told] of reasons) expect(whyRefused(told, say("en"))).toContain(told.replace(/^'(.+?)'/, "$1"));
  });

  it("stands in a line, or where the service says", () => {
    expect(["line 12", "after element 3", "notes.jsonl, line 2"].map((each) => placeOf(each, say("zh-hant")))).toEqual(["第 12 行", "after element 3", "notes.jsonl, line 2"]);
  });
});
