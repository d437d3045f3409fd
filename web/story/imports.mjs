/** Files that are imported and exported, well and not: node imports.mjs ADDRESS FOLDER CHROMIUM. Facts go to standard output. */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
const reports = page.locator(".report");
const report = reports.first();
const toasts = page.locator(".toast");

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
    await toasts.last().waitFor();
    facts.tell(`large_${time}`, await report.innerText());
    facts.tell(`large_${time}_told`, await toasts.last().innerText());
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
  await page.waitForFunction(() => document.activeElement?.textContent === "Go on");
  facts.tell("stopped", { state: await state.innerText(), failures: await state.getByRole("alert").count() });
  await facts.picture(page, "stopped");
  await audited(page, facts, "import stopped");
  const before = await settled("stopped");
  await page.keyboard.press("Enter");
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
  await state.getByRole("alert").waitFor();
  facts.tell("broken", await state.innerText());
  await facts.picture(page, "broken");
  await settled("broken");
  proxy.rule = () => undefined;
  await state.getByRole("button", { name: "Try again" }).click();
  await report.waitFor({ timeout: 60_000 });
  facts.tell("broken_again", { report: await report.innerText(), held: await held("broken") });
}

/** Files that are none of those, and one that is mended under its name. */
async function refused() {
  await enter("refused");
  for (const [name, text] of [["empty.json", ""], ["letter.txt", "Dear Ines,\nthis is a letter."], ["picture.png", "\u0089PNG\r\n\u001a\n\u0000"]]) {
    await choose(name, text);
    await state.getByText(name).first().waitFor();
    await state.getByRole("alert").waitFor();
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

const named = (name) => state.filter({ has: page.getByRole("heading", { name, exact: true }) });
const all = page.locator(".import-all");

/** Several at once: one is stopped, one taken out of the queue, one refused; then all go on that can. */
async function several() {
  await enter("several");
  const texts = { "first.jsonl": lines(20_000), "second.jsonl": lines(5_200).split("\n").slice(5_000).join("\n"), "letter.txt": "Dear Ines,\nthis is a letter.", "third.jsonl": lines(300) };
  await field.setInputFiles(Object.entries(texts).map(([name, text]) => ({ name, mimeType: "application/octet-stream", buffer: Buffer.from(text) })));
  await named("first.jsonl").getByText(/\d,?\d00 rows so far/).waitFor();
  facts.tell("several_going", { all: await all.innerText(), waiting: await named("third.jsonl").innerText() });
  await facts.picture(page, "several going");
  await audited(page, facts, "several going");
  await named("third.jsonl").getByRole("button", { name: "Stop", exact: true }).click();
  await named("first.jsonl").getByRole("button", { name: "Stop", exact: true }).click();
  await named("letter.txt").getByRole("alert").waitFor();
  await all.getByText("1 of 4 files imported").waitFor();
  facts.tell("several_told", await toasts.last().innerText());
  facts.tell("several_stopped", { reports: await reports.count(), first: await named("first.jsonl").innerText(), third: await named("third.jsonl").innerText(), letter: await named("letter.txt").innerText() });
  await facts.picture(page, "several stopped");
  await audited(page, facts, "several stopped");
  await all.getByRole("button", { name: "Go on with all" }).click();
  await all.getByText("3 of 4 files imported").waitFor({ timeout: 60_000 });
  facts.tell("several_done", { reports: await reports.allInnerTexts(), held: await held("several"), left: await state.count() });
  await facts.picture(page, "several done");
  await audited(page, facts, "several done");
}

/** The service is away: the first fails, the others are not even tried, and all go on together. */
async function away() {
  await enter("away");
  proxy.rule = ({ url }) => (url.startsWith("/v1/import/file") ? { refuse: true } : undefined);
  const from = proxy.seen.length;
  await field.setInputFiles([0, 1, 2].map((n) => ({ name: `part-${n}.jsonl`, mimeType: "application/octet-stream", buffer: Buffer.from(lines(10 * (n + 1)).split("\n").slice(10 * n).join("\n")) })));
  await named("part-0.jsonl").getByRole("alert").waitFor();
  await all.getByText("0 of 3 files imported").waitFor();
  facts.tell("away", { asked: proxy.seen.slice(from).filter((each) => /^\/v1\/import\/file.*part-[12]/.test(each.url)).length, first: await named("part-0.jsonl").innerText(), last: await named("part-2.jsonl").innerText() });
  proxy.rule = () => undefined;
  await all.getByRole("button", { name: "Go on with all" }).click();
  await page.locator(".nav, .side").first().getByRole("link", { name: "Overview" }).click();
  await page.getByText("30 rows taken").waitFor();
  await page.goBack();
  await all.getByText("3 of 3 files imported").waitFor();
  facts.tell("away_done", { held: await held("away"), reports: await reports.count() });
}

/** Dropped together: a folder, a file that is gone since, and a good one, which is taken all the same. */
async function dropped() {
  await enter("dropped");
  const place = mkdtempSync(join(tmpdir(), "recollect-dropped-"));
  mkdirSync(join(place, "chats"));
  writeFileSync(join(place, "good.jsonl"), lines(4));
  writeFileSync(join(place, "gone.jsonl"), lines(40));
  writeFileSync(join(place, "large.jsonl"), lines(10_000));
  const files = ["large.jsonl", "chats", "gone.jsonl", "good.jsonl"].map((each) => join(place, each));
  const box = await page.locator(".drop").boundingBox();
  const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  const devtools = await page.context().newCDPSession(page);
  const data = { items: [], files, dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver"]) await devtools.send("Input.dispatchDragEvent", { type, ...at, data });
  await page.locator(".drop.over").waitFor();
  await devtools.send("Input.dispatchDragEvent", { type: "drop", ...at, data });
  await named("large.jsonl").getByText(/rows so far/).waitFor();
  unlinkSync(files[2]);
  await all.getByText("2 of 4 files imported").waitFor({ timeout: 60_000 });
  facts.tell("dropped", { folder: await named("chats").innerText(), gone: await named("gone.jsonl").innerText(), reports: await reports.allInnerTexts(), held: await held("dropped"), buttons: await state.getByRole("button", { name: "Try again" }).count() });
  await facts.picture(page, "dropped");
  for (const type of ["dragEnter", "dragOver", "drop"]) await devtools.send("Input.dispatchDragEvent", { type, x: box.x + 20, y: box.y - 60, data: { ...data, files: [files[3]] } });
  await page.waitForTimeout(300);
  facts.tell("dropped_beside", page.url().startsWith(`${base}/#/settings`));
  rmSync(place, { recursive: true });
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
  facts.tell("put_back", { report: await report.innerText(), held: await held("large"), links: await report.locator(".report-threads a").evaluateAll((all) => all.map((each) => each.getAttribute("href"))) });
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
  const [chat] = JSON.parse(claudeExport(1, 3));
  chat.chat_messages[1] = { ...chat.chat_messages[1], text: "", content: [] };
  await choose("conversations.json", JSON.stringify([chat]));
  await report.getByText("conversations.json").waitFor();
  facts.tell("handheld_otherwise", await report.innerText());
  await audited(page, facts, "import handheld");
}

await told({ large, stopped, broken, refused, half, several, away, dropped, exported, handheld }, { facts, page, noted, close: async () => { await close(); proxy.close(); } });
