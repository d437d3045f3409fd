/** What people meet who use the page for weeks: node everyday.mjs ADDRESS FOLDER CHROMIUM. Facts go to standard output. */

import { openBrowser, watched } from "./browser.mjs";
import { audited, told } from "./chapters.mjs";
import { Facts } from "./facts.mjs";
import { openProxy } from "./proxy.mjs";

const [service, folder, chromium] = process.argv.slice(2);
const proxy = await openProxy(service);
proxy.isKept = false;
const base = proxy.address;
const facts = new Facts(folder);
const { browser, close } = await openBrowser(chromium);
const { page, noted } = await watched(browser, base);
const SCOPE = "scope=mira";
const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1440, height: 900 };
const button = (name, within = page) => within.getByRole("button", { name, exact: true });
const post = (path, data) => page.request.post(`${base}/v1/${path}${path.includes("?") ? "&" : "?"}${SCOPE}`, { data });
/** How wide the first of what is found is drawn: one that is just being replaced has no width. */
const widthOf = async (tab, selector) => Math.round(await (await tab.waitForFunction((name) => document.querySelector(name)?.getBoundingClientRect().width, selector)).jsonValue());
const letter = (what) => Array.from({ length: 60 }, (_, at) => `Line ${at + 1} of a letter about the ${what}.`).join("\n");

/** Long messages are folded, to be shown whole where they stand; words that are marked, or found by the browser, are in sight. */
async function folded() {
  const messages = [["user", "A letter came."], ["assistant", letter("harbour")], ["user", `${letter("garden")}\nThe gate is green.`], ["assistant", letter("house")]];
  await post("threads/letters/messages", { messages: messages.map(([role, text]) => ({ role, text })) });
  await page.goto(`${base}/#/chat/letters?${SCOPE}`);
  const turns = page.locator(".turn");
  await turns.nth(3).locator(".fold-more").waitFor();
  const heights = {};
  for (const [name, size] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
    await page.setViewportSize(size);
    heights[name] = await page.locator(".folded").evaluateAll((all) => all.map((each) => Math.round(each.clientHeight / Number.parseFloat(getComputedStyle(each).lineHeight))));
  }
  await page.setViewportSize(DESKTOP);
  const last = turns.nth(3);
  const topOf = () => last.evaluate((each) => Math.round(each.getBoundingClientRect().top));
  await last.locator(".fold-more").scrollIntoViewIfNeeded();
  const before = await topOf();
  await button("Show all", last).click();
  await button("Show less", last).waitFor();
  await page.waitForTimeout(300);
  const after = await topOf();
  await button("Show less", last).click();
  await button("Show all", last).waitFor();
  // As the browser's own search does with what it finds.
  await turns.nth(1).locator(".folded").evaluate((each) => each.scrollTo(0, 400));
  await button("Show less", turns.nth(1)).waitFor();
  const id = (await turns.nth(2).getAttribute("id")).slice("message-".length);
  await page.goto(`${base}/#/chat/letters?${SCOPE}&message=${id}&quote=${encodeURIComponent("The gate is green.")}`);
  await turns.nth(2).locator("mark").waitFor();
  await page.waitForTimeout(300);
  facts.tell("folded", { heights, before, after, marked: await turns.nth(2).locator("mark").evaluate((each) => each.getBoundingClientRect().bottom < innerHeight && each.getBoundingClientRect().top > 0), folds: await turns.nth(2).locator(".fold-more").count() });
  await page.goto(`${base}/#/chat/letters?${SCOPE}&message=${id}`);
  await page.locator("mark").waitFor({ state: "detached" });
  facts.tell("linked", { folds: await turns.nth(2).locator(".fold-more").count(), others: await turns.nth(1).locator(".fold-more").count() });
  await audited(page, facts, "folded");
}

/** What waits is decided on its own page, too. */
async function decided() {
  await page.goto(`${base}/#/review?${SCOPE}`);
  await page.locator(".card header a").first().click();
  const decision = page.locator(".decision");
  await decision.locator(".decision-asked").waitFor();
  facts.tell("asked", { words: await decision.innerText(), key: await page.locator(".memory-head .memory-key").innerText() });
  await audited(page, facts, "decision");
  await button("Make this change", decision).click();
  await page.locator(".toast", { hasText: "Changed" }).waitFor();
  await page.waitForURL(/Note\/books\?/);
  await page.locator(".memory-head h1", { hasText: "1,350" }).waitFor();
  facts.tell("decided", { hash: new URL(page.url()).hash, waiting: (await (await page.request.get(`${base}/v1/review?${SCOPE}`)).json()).memories.length });
  await button("Undo", page.locator(".toast", { hasText: "Changed" })).click();
  await page.locator(".memory-head h1", { hasText: "1,150" }).waitFor();
}

/** What was deleted in one tab can be restored in another, and after a reload of either. */
async function restored() {
  const other = await browser.newPage();
  await other.goto(`${base}/#/memories?${SCOPE}`);
  await other.locator(".row").first().waitFor();
  await page.goto(`${base}/#/memories/Note/lost-box?${SCOPE}`);
  await button("Delete", page.locator(".memory-head")).click();
  await page.locator(".toast", { hasText: "Deleted" }).waitFor();
  await other.locator(".deleted-lately").waitFor();
  await page.reload();
  await page.goto(`${base}/#/memories/Note/lost-box?${SCOPE}`);
  await button("Restore").last().waitFor();
  const late = await browser.newPage();
  await late.goto(`${base}/#/memories/Note/lost-box?${SCOPE}`);
  await button("Restore", late.locator(".half-one")).click();
  await late.locator(".memory-head").waitFor();
  await page.locator(".memory-head").waitFor();
  await other.locator(".deleted-lately").waitFor({ state: "detached" });
  const status = (await page.request.get(`${base}/v1/memories/Note/lost-box?${SCOPE}`)).status();
  // Whoever comes too late is told where it can be restored.
  await late.goto(`${base}/#/memories/Note/never?${SCOPE}`);
  facts.tell("restored", { status, gone: await late.locator(".empty p").last().innerText() });
  await other.close();
  await late.close();
}

/** A new key is copied by a button, and its text selected where the browser does not copy. */
async function copied() {
  await browser.grantPermissions(["clipboard-read", "clipboard-write"], { origin: base });
  await page.goto(`${base}/#/settings?${SCOPE}&part=keys`);
  await button("New key").click();
  await page.getByLabel("Name", { exact: true }).fill("phone");
  await button("New key", page.locator("dialog")).click();
  const key = await page.locator(".secret").innerText();
  await page.locator("dialog").getByRole("button", { name: "Copy" }).click();
  await page.locator("dialog").getByText("Copied.").waitFor();
  const text = await page.evaluate(() => navigator.clipboard.readText());
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  await page.locator("dialog").getByRole("button", { name: "Copied." }).click();
  await page.locator("dialog").getByText("Selected: copy it yourself").waitFor();
  facts.tell("copied", { isKey: text === key && key.startsWith("rk_"), isSelected: (await page.evaluate(() => getSelection().toString())).trim() === key });
  await audited(page, facts, "key");
  await page.keyboard.press("Escape");
}

/** By keys alone: a dialog gives the focus back, and a box that is ticked takes no letters. On a telephone the slider over the days has room. */
async function keyed() {
  await page.goto(`${base}/#/memories?${SCOPE}`);
  await page.locator(".row").first().waitFor();
  const focused = () => page.evaluate(() => document.activeElement?.className ?? "");
  await page.locator(".scope-button").focus();
  await page.keyboard.press("Enter");
  await page.locator("dialog[open]").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
  const after = await focused();
  await page.locator(".filters input[type=checkbox]").focus();
  await page.keyboard.press("g");
  await page.keyboard.press("v");
  await page.waitForURL(/#\/review/);
  await page.keyboard.press("?");
  await page.locator("dialog[open] kbd").first().waitFor();
  await page.keyboard.press("Escape");
  await page.setViewportSize(PHONE);
  await page.goto(`${base}/#/overview?${SCOPE}&known=2025-03-20`);
  const slider = await widthOf(page, ".time-slider input[type=range]");
  facts.tell("keyed", { after, slider });
  await page.setViewportSize(DESKTOP);
}

/** The wait of a quota is said as people say it, in the reader's language, also after a reload. */
async function limited() {
  const body = JSON.stringify({ status: 429, code: "quota", title: "Too Many Requests", detail: "messages today: 12 and 2 more: the limit messages_a_day is 12; retry after 19657 s", facts: { what: "messages today", limit_name: "messages_a_day", limit: 12, retry_after_s: 19656.7 } });
  proxy.rule = ({ method, url }) => (method === "POST" && url.startsWith("/v1/chat") ? { status: 429, body, type: "application/problem+json" } : undefined);
  await page.goto(`${base}/#/chat/letters?${SCOPE}`);
  await page.fill("#composer", "And one more.");
  await page.keyboard.press("Enter");
  const said = [await page.locator(".not-sent p").innerText()];
  await page.evaluate(() => localStorage.setItem("recollect.page", JSON.stringify({ language: "zh-hant" })));
  await page.reload();
  await page.locator(".not-sent p", { hasText: "小時" }).waitFor();
  said.push(await page.locator(".not-sent p").innerText());
  facts.tell("limited", said);
  await page.evaluate(() => localStorage.setItem("recollect.page", JSON.stringify({ language: "en" })));
  await page.reload();
  await page.locator(".not-sent").waitFor();
}

/** A screen that is first gone to while the service is away says so, and comes by itself. */
async function away() {
  const screens = {};
  for (const [name, there] of [["chat", ".turn"], ["memories", ".row"], ["recall", "#search"]]) {
    proxy.rule = () => undefined;
    const tab = await browser.newPage();
    await tab.goto(`${base}/#/overview?${SCOPE}`);
    await tab.locator(".overview-head").waitFor();
    proxy.rule = () => ({ refuse: true });
    proxy.drop("/v1/changes");
    await tab.evaluate(([to, scope]) => (location.hash = `#/${to}?${scope}`), [name, SCOPE]);
    await tab.locator("#content").getByText("This screen is shown once the service answers.").waitFor();
    const bone = await widthOf(tab, "#content .bone");
    proxy.rule = () => undefined;
    await tab.locator(there).first().waitFor();
    screens[name] = bone;
    await tab.close();
  }
  facts.tell("away", screens);
}

await told({ folded, decided, restored, keyed, copied, limited, away }, { facts, page, noted, close: async () => { await close(); proxy.close(); } });
