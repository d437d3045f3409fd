import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { LANGUAGES, languageOf } from "../src/words";
import { en as enFirst } from "../src/words/en";
import { enLate } from "../src/words/en_late";
import { complaints as zhComplaints } from "../src/words/complaints_zh";
import { complaints } from "../src/words/complaints_zh_hant";
import { differences as zhDifferences } from "../src/words/differences_zh";
import { differences } from "../src/words/differences_zh_hant";
import { parameters as zhParameters } from "../src/words/parameters_zh";
import { parameters } from "../src/words/parameters_zh_hant";
import { routes as zhRoutes } from "../src/words/routes_zh";
import { routes } from "../src/words/routes_zh_hant";
import { zh as zhFirst } from "../src/words/zh";
import { zhHant as zhHantFirst } from "../src/words/zh_hant";
import { zhHantLate } from "../src/words/zh_hant_late";
import { zhLate } from "../src/words/zh_late";
import { zhHantTypesLate } from "../src/words/types_zh_hant_late";
import { zhTypesLate } from "../src/words/types_zh_late";
import { zhHantTypes as zhHantTypesFirst } from "../src/words/zh_hant_types";
import { zhTypes as zhTypesFirst } from "../src/words/zh_types";
import { firstModules, SOURCE } from "./first_modules";

const TEXTS = join(SOURCE, "..", "..", "src", "recollect");
const en = { ...enFirst, ...enLate };
const zh = { ...zhFirst, ...zhLate };
const zhHant = { ...zhHantFirst, ...zhHantLate };
const zhTypes = new Map([...zhTypesFirst, ...zhTypesLate]);
const zhHantTypes = new Map([...zhHantTypesFirst, ...zhHantTypesLate]);
const NAMES = Object.keys(en) as (keyof typeof en)[];
/** What is written alike in all languages: names, and a value that is filled in. */
const ALIKE = new Set(["Recollect", "JSON", "English", "openapi.json", "curl"]);

describe("that no question brought something up", () => {
  it("is said alike on the overview and of a memory: the questions are forgotten also by an erase", () => {
    for (const [words, since] of [[en, "since the service started, the questions were forgotten or something was erased"], [zh, "从服务启动、清除提问记录或抹除之后算起"], [zhHant, "從服務啟動、清除提問紀錄或抹除之後算起"]] as const) {
      expect(words["memory.no_recalls"]).toContain(since);
      expect(words["overview.recalled_none"]).toContain(since);
    }
  });
});

const LETTERS = /[A-Za-z]{2,}/;

/** Texts that a source shows without asking for their translation: between tags, and in attributes that are read out. */
export function untranslated(source: string): string[] {
  const found: string[] = [];
  for (const [, text = ""] of source.matchAll(/<(?:h[1-6]|p|span|button|a|li|dt|dd|th|td|strong|label|summary|option|title)(?:\s[^<>{}]*(?:\{[^{}]*\}[^<>{}]*)*)?>([^<>{}]+)</g)) found.push(text);
  for (const [, text = ""] of source.matchAll(/\}\s*([A-Za-z][^<>{}()=;:]*)<\//g)) found.push(text);
  for (const [, text = ""] of source.matchAll(/\s(?:aria-label|title|placeholder|alt|label)="([^"]*)"/g)) found.push(text);
  return found.map((each) => each.trim()).filter((each) => LETTERS.test(each) && !ALIKE.has(each));
}

const sources = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter((each) => each.endsWith(".tsx"));

describe("the words of the page", () => {
  it.each(sources)("%s shows none that is not translated", (name) => {
    expect(untranslated(readFileSync(join(SOURCE, name), "utf8"))).toEqual([]);
  });

  it("are found where they are not translated", () => {
    expect(untranslated("<p>Nothing here</p>")).toEqual(["Nothing here"]);
    expect(untranslated('<p className="a">Nothing here</p>')).toEqual(["Nothing here"]);
    expect(untranslated("<p>{count} entries</p>")).toEqual(["entries"]);
    expect(untranslated('<input aria-label="Search it" />')).toEqual(["Search it"]);
    expect(untranslated('<p>{t("loading")}</p>')).toEqual([]);
  });

  it.each([["simplified", zh], ["traditional", zhHant]] as const)("are Chinese in %s Chinese, with the values that the English has", (_, words) => {
    const values = (text: string) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort();
    for (const name of NAMES) {
      if (LETTERS.test(en[name].replace(/\{\w+\}/g, ""))) expect(words[name], name).toMatch(/[\u4e00-\u9fff]|^Recollect|^API$|ms/);
      expect(values(words[name]), name).toEqual(values(en[name]));
    }
  });

  it("come with the screens that say them: the first screens say none of the later ones", () => {
    const first = firstModules();
    expect(first.size).toBeGreaterThan(40);
    expect(first.has("screens/chat.tsx") && !first.has("screens/memory.tsx")).toBe(true);
    const text = [...first].map((each) => readFileSync(join(SOURCE, each), "utf8")).join("\n");
    expect(Object.keys(enLate).filter((name) => text.includes(`"${name}"`))).toEqual([]);
    expect(Object.keys(enLate).filter((name) => Object.hasOwn(enFirst, name))).toEqual([]);
  });

  it("are all used", () => {
    const all = sources.concat(readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter((each) => each.endsWith(".ts") && !each.startsWith("words"))).map((each) => readFileSync(join(SOURCE, each), "utf8")).join("\n");
    const built = [...all.matchAll(/`([a-z_.]+\.)\$\{/g)].map((each) => each[1] ?? "");
    expect(Object.keys(en).filter((name) => !all.includes(`"${name}"`) && !built.some((each) => name.startsWith(each)))).toEqual([]);
  });
});

/** Characters that are simplified from others, and are traditional of their own too: 修 also stands for 脩, 回 for 迴. */
const OF_BOTH_SCRIPTS = new Set("核修合面他你即回出只它向制既查同表搜准致系才划注旗布游逾");
/** What mainland China says where Taiwan has another word. */
const OF_THE_MAINLAND = /用[戶户]|信息|消息|默[認认]|[設设]置|加[載载]|[鏈链]接|搜索|密[鑰钥]|[導导][入出]|粘[貼贴]|字符|服[務务]器|[數数][據据](?![庫库])|屏幕|[調调]用|[進进]程|[運运]行|添加|撤回|文[檔档]|智能|[標标][簽签][頁页]|[軟软]件/;

describe("traditional Chinese", () => {
  const texts = [...Object.values(zhHant), ...zhHantTypes.values(), ...Object.values(routes.operations), ...Object.values(routes.groups), ...differences.values(), ...complaints.values(), ...parameters.values()].join("\n");
  const [, traditional = "", simplified = ""] = readFileSync(join(TEXTS, "text", "simplified.txt"), "utf8").split("\n");

  it("has no simplified characters", () => {
    const known = new Set(traditional);
    const onlySimplified = new Set([...simplified].filter((each) => !known.has(each) && !OF_BOTH_SCRIPTS.has(each)));
    expect([...new Set(texts)].filter((each) => onlySimplified.has(each))).toEqual([]);
    expect(onlySimplified.has("设")).toBe(true);
  });

  it("is in the words of Taiwan", () => {
    expect(texts.split("\n").filter((each) => OF_THE_MAINLAND.test(each))).toEqual([]);
  });

  it("calls a recall as simplified Chinese does", () => {
    expect(texts.split("\n").filter((each) => /回想|回憶/.test(each))).toEqual([]);
    expect([zhHant.recall, zhHant["overview.recalled"]]).toEqual(["召回", "最常召回"]);
  });
});

describe("simplified Chinese", () => {
  const pages = join(TEXTS, "..", "..", "docs");
  const documents = readdirSync(pages).filter((each) => each.endsWith(".zh.md")).map((each) => readFileSync(join(pages, each), "utf8"));
  const texts = [...Object.values(zh), ...zhTypes.values(), ...Object.values(zhRoutes.operations), ...Object.values(zhRoutes.groups), ...zhDifferences.values(), ...zhComplaints.values(), ...zhParameters.values(), ...documents];

  it("has one word for one thing, on the page and in the documentation", () => {
    expect(texts.filter((each) => /回想|回忆|遗忘/.test(each)).map((each) => /.{0,12}(?:回想|回忆|遗忘).{0,12}/.exec(each)?.[0])).toEqual([]);
    expect(Object.values(zh).filter((each) => each.includes("话题"))).toEqual([]);
  });
});

describe("the usual types", () => {
  it("are said in both scripts of Chinese, as the model is told of them", () => {
    expect([...zhHantTypes.keys()]).toEqual([...zhTypes.keys()]);
    const [, told = ""] = readFileSync(join(TEXTS, "formation", "texts", "zh-hant.toml"), "utf8").split("\n[types]\n");
    const described = [...told.matchAll(/^"(.+)" = "/gm)].map((each) => each[1] ?? "");
    expect(described.length).toBeGreaterThan(20);
    expect(described.filter((each) => !zhHantTypes.has(each))).toEqual([]);
  });
});

describe("a browser's language", () => {
  it("is the first that the page has, or else English", () => {
    expect(languageOf(["en-GB", "zh-TW"])).toBe("en");
    expect(languageOf(["fr-CH", "zh-TW", "en"])).toBe("zh-hant");
    expect(languageOf(["pt-BR"])).toBe("en");
    expect(languageOf([])).toBe("en");
    expect(languageOf(["enm", "zhx"])).toBe("en");
  });

  it("is the script of Chinese that its tag names, or that its region writes", () => {
    for (const each of ["zh-TW", "zh-HK", "zh-MO", "zh-Hant", "zh-Hant-CN", "ZH-hant-hk"]) expect(languageOf([each]), each).toBe("zh-hant");
    for (const each of ["zh", "zh-CN", "zh-SG", "zh-Hans-HK", "zh-Hans-TW", "zh-MY"]) expect(languageOf([each]), each).toBe("zh");
  });

  it("is how dates and numbers are written", () => {
    const day = (locale: string) => new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" }).format(new Date("2025-04-03"));
    expect(Object.values(LANGUAGES).map(({ tag, locale }) => [tag, day(locale)])).toEqual([["en", "3 Apr 2025"], ["zh-Hans", "2025年4月3日"], ["zh-Hant", "2025年4月3日"]]);
  });
});
