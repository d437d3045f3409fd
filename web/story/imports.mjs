/** Files that are imported and exported, well and not: node imports.mjs ADDRESS FOLDER CHROMIUM. Facts go to standard output. */

import { readFileSync } from "node:fs";
import { openBrowser, watched } from "./browser.mjs";
import { audited, told } from "./chapters.mjs";
import { Facts } from "./facts.mjs";
import { openProxy } from "./proxy.mjs";

const [service, folder, chromium] = process.argv.slice(2);
const facts = new Facts(folder);
const proxy = await openProxy(service);
const base = proxy.address;
const { browser, close } = await openBrowser(chromium);
const { page, noted } = await watched(browser, base);
const field = page.locator("input[type=file]");
const state = page.locator(".import-state");
const report = page.locator(".report");

const enter = async (scope) => {
  await page.goto("about:blank");
  await page.goto(`${base}/#/settings?scope=${scope}`);
  await field.waitFor({ state: "attached" });
};
const choose = (name, text) => field.setInputFiles({ name, mimeType: "application/octet-stream", buffer: Buffer.from(text) });
const lines = (count) => Array.from({ length: count }, (_, n) => JSON.stringify({ role: "user", content: `I saw lighthouse number ${n}.` })).join("\n");

/** How many messages a scope holds. */
async function held(scope) {
  const { threads } = await (await page.request.get(`${service}/v1/threads?scope=${scope}&limit=200`)).json();
  return threads.reduce((sum, each) => sum + each.count, 0);
}

/** An export of Claude as it is downloaded: one document on one line. */
function claudeExport(chats, messages) {
  const time = (chat, n) => new Date(Date.UTC(2025, 0, 3, 9) + chat * 21_600_000 + n * 180_000).toISOString();
  return JSON.stringify(Array.from({ length: chats }, (_, chat) => ({
    uuid: `chat-${chat}`, name: `Walk ${chat}`, created_at: time(chat, 0), updated_at: time(chat, messages),
    chat_messages: Array.from({ length: messages }, (_, n) => ({
      uuid: `message-${chat}-${n}`, sender: n % 2 ? "assistant" : "human", created_at: time(chat, n), text: `Lighthouse ${chat}-${n}.`, content: [{ type: "text", text: `Lighthouse ${chat}-${n}.` }],
    })),
  })));
}

/** 5,000 messages, and the same once more. */
async function large() {
  await enter("large");
  for (const time of ["first", "again"]) {
    await choose("conversations.json", claudeExport(100, 50));
    await page.locator(".import-progress").waitFor();
    await report.waitFor();
    facts.tell(`large_${time}`, await report.innerText());
  }
  facts.tell("large_held", await held("large"));
}

/** Stopped by who waits: what was taken stays, and the rest comes when the file is chosen again. */
async function stopped() {
  await enter("stopped");
  await choose("lighthouses.jsonl", lines(20_000));
  await state.getByText(/\d,?\d00 rows so far/).waitFor();
  await facts.picture(page, "going");
  await audited(page, facts, "import going");
  await state.getByRole("button", { name: "Stop", exact: true }).click();
  await state.locator(".notice").waitFor();
  await page.waitForFunction(() => document.activeElement?.type === "file");
  facts.tell("stopped", { state: await state.innerText(), failures: await page.locator(".act-failure").count() });
  await facts.picture(page, "stopped");
  await audited(page, facts, "import stopped");
  const before = await settled("stopped");
  await choose("lighthouses.jsonl", lines(20_000));
  await report.waitFor({ timeout: 60_000 });
  facts.tell("stopped_again", { before, report: await report.innerText(), held: await held("stopped"), notices: await page.locator(".notice").count() });
}

/** How many messages are there once no more come. */
async function settled(scope) {
  let before = -1;
  for (let now = await held(scope); now !== before; now = await held(scope)) {
    before = now;
    await page.waitForTimeout(500);
  }
  return before;
}

/** The answer breaks off in the middle: it says so, and goes on from there. */
async function broken() {
  await enter("broken");
  proxy.rule = ({ url }) => (url.startsWith("/v1/import/file") ? { cut: 150 } : undefined);
  await choose("lighthouses.jsonl", lines(5_000));
  await page.locator(".act-failure").waitFor();
  facts.tell("broken", await state.innerText());
  await facts.picture(page, "broken");
  await settled("broken");
  proxy.rule = () => undefined;
  await page.locator(".act-failure").getByRole("button", { name: "Try again" }).click();
  await report.waitFor({ timeout: 60_000 });
  facts.tell("broken_again", { report: await report.innerText(), held: await held("broken") });
}

/** Files that are none of those, and one that is mended under its name. */
async function refused() {
  await enter("refused");
  for (const [name, text] of [["empty.json", ""], ["letter.txt", "Dear Ines,\nthis is a letter."], ["picture.png", "\u0089PNG\r\n\u001a\n\u0000"]]) {
    await choose(name, text);
    await state.getByText(name).first().waitFor();
    await page.locator(".act-failure").waitFor();
    facts.tell(name, { state: await state.innerText(), chosen: await field.evaluate((input) => input.files.length) });
  }
  await choose("letter.txt", lines(3));
  await report.waitFor();
  facts.tell("mended", { report: await report.innerText(), states: await state.count() });
}

/** Every second line is bad: each reason stands once. */
async function half() {
  await enter("half");
  const bad = ['{"role": "user",', '{"colour": "blue"}'];
  await choose("half.jsonl", lines(30).split("\n").flatMap((each, n) => [each, bad[n % 2]]).join("\n"));
  await report.waitFor();
  facts.tell("half", { report: await report.innerText(), reasons: await report.locator("li").count() });
  await facts.picture(page, "half");
  await audited(page, facts, "import half");
}

/** All of it in a file, which is put back and changes nothing; and an answer that breaks off gives no file. */
async function exported() {
  await enter("large");
  const button = page.getByRole("button", { name: "Export", exact: true });
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  const archive = readFileSync(await download.path(), "utf8");
  facts.tell("exported", { name: download.suggestedFilename(), messages: archive.split("\n").filter((each) => each.startsWith('{"kind": "message"')).length });
  await choose("back.jsonl", archive);
  await report.waitFor();
  facts.tell("put_back", { report: await report.innerText(), held: await held("large") });
  proxy.rule = ({ url }) => (url.startsWith("/v1/export") ? { cut: 5_000 } : undefined);
  let downloads = 0;
  page.on("download", () => { downloads += 1; });
  await button.click();
  await page.locator(".act-failure").waitFor();
  facts.tell("export_broken", { told: await page.locator(".act-failure").innerText(), downloads });
  proxy.rule = () => undefined;
}

/** On a phone, in traditional Chinese. */
async function handheld() {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.evaluate(() => localStorage.setItem("recollect.page", JSON.stringify({ language: "zh-hant", theme: "light" })));
  await enter("handheld");
  await choose("half.jsonl", `${lines(2)}\n{}\n{}`);
  await report.waitFor();
  await report.scrollIntoViewIfNeeded();
  facts.tell("handheld", { report: await report.innerText(), lang: await page.evaluate(() => document.documentElement.lang), wide: await page.evaluate(() => document.documentElement.scrollWidth - innerWidth) });
  await facts.picture(page, "handheld");
  await audited(page, facts, "import handheld");
}

await told({ large, stopped, broken, refused, half, exported, handheld }, { facts, page, noted, close: async () => { await close(); proxy.close(); } });
