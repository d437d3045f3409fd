import { describe, expect, it } from "vitest";
import { loadComplaints, loadDifferences, retold } from "../src/lib/told_sentences";

describe("a sentence of the service", () => {
  it("is said in the reader's language, with its values", async () => {
    const [zh, hant, en] = await Promise.all((["zh", "zh-hant", "en"] as const).map(loadComplaints));
    expect(retold("-3 is less than the minimum of 0", zh!)).toBe("-3 小于下限 0");
    expect(retold("the field 'object' is missing; it is required", hant!)).toBe("缺少欄位 'object'，此項必填");
    expect(retold("-3 is less than the minimum of 0", en!)).toBe("-3 is less than the minimum of 0");
  });

  it("may hold another one, and kinds of values", async () => {
    const zh = await loadComplaints("zh");
    expect(retold("'x' is text; a number or an object is needed", zh)).toBe("'x' 是文字，须为数字或对象");
    expect(retold("the field's name is wrong: 'a b' does not match the pattern ^[a-z]+$", zh)).toBe("字段名不对：'a b' 不符合格式 ^[a-z]+$");
    expect(retold("bytes of types[0].parameters: 9; the limit SCHEMA_BYTES_MAX is 8", zh)).toBe("types[0].parameters 的字节数：9，上限 SCHEMA_BYTES_MAX 为 8");
  });

  it("that the page does not know stays as it is", async () => {
    expect(retold("something new is wrong", await loadComplaints("zh"))).toBe("something new is wrong");
    expect((await loadDifferences("zh")).get("accounts were left out")).toBe("账户信息，未导入");
    expect((await loadDifferences("en")).size).toBe(0);
  });
});
