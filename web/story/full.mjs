/** The same talk over a store that is full: node full.mjs ADDRESS FOLDER CHROMIUM. Facts go to standard output. */

import { openBrowser, watched } from "./browser.mjs";
import { told } from "./chapters.mjs";
import { Facts } from "./facts.mjs";

const [base, folder, chromium] = process.argv.slice(2);
const facts = new Facts(folder);
const { browser, close } = await openBrowser(chromium);
const { page, noted } = await watched(browser, base);
page.setDefaultTimeout(60_000);

const panel = page.locator("#memories-panel");
const button = (name, within = page) => within.getByRole("button", { name, exact: true });
const waits = {};

/** Note how long an act takes until something is there. */
async function timed(name, act, there) {
  const started = Date.now();
  await act();
  await there.first().waitFor();
  waits[name] = Date.now() - started;
  await facts.picture(page, name.replaceAll(/[^a-z]+/g, "-"));
}

/** Go to a place from another one, as a click does: the page itself is there already. */
async function seen(name, place, there) {
  await page.goto(`${base}/#/types`);
  await page.locator(".type-list").first().waitFor();
  await timed(name, () => page.goto(`${base}/#/${place}`), page.locator(there));
}

async function lists() {
  await seen("overview", "overview", ".changed-row");
  await seen("memories", "memories", ".row");
  await timed("more memories", () => page.locator(".half-list").evaluate((list) => list.scrollBy(0, 45 * 66)), page.locator('li[data-index="45"] .row:not(.blank)'));
  await timed("of a type", () => page.getByLabel("Type").selectOption("Fact"), page.locator(".row", { hasText: "knows" }));
  await seen("rejected", "memories?state=rejected", ".row");
  await seen("to review", "review", ".card");
  await seen("searched", "memories?q=harbour%2077777", ".row");
  await seen("searched again", "memories?q=harbour%2055555", ".row");
  await page.goto(`${base}/#/memories?q=harbour%2077777`);
  await page.locator(".row", { hasText: "77777" }).first().waitFor();
  facts.tell("found", await page.locator(".row").first().innerText());
  await seen("one memory", "memories/Note/n000777", ".revision");
  await seen("recall", "recall?q=Where%20is%20harbour%2077777%3F", ".entry");
  await seen("graph", "graph", ".node");
  await seen("graph of one", "graph?entity=Person%207", ".node");
  await seen("profile", "profile", ".page-head");
  await seen("formation", "formation", ".page-head");
  await seen("settings", "settings", ".bars");
}

async function talk() {
  await page.goto(`${base}/#/chat`);
  await page.locator("#composer").waitFor();
  await page.fill("#composer", "I live in Lisbon. I like rock climbing.");
  await timed("said", () => page.keyboard.press("Enter"), page.locator(".turn-user", { hasText: "Lisbon" }));
  await page.locator(".messages[aria-busy=false]").waitFor();
  const form = page.locator("#memories-panel button:not([disabled])", { hasText: "Form now" });
  await form.waitFor();
  await timed("formed", () => form.click(), panel.getByText("rock climbing"));
}

async function correctAndDelete() {
  await page.goto(`${base}/#/memories/User/User`);
  await page.locator(".revision").first().waitFor();
  await button("Edit").click();
  await button("JSON").click();
  const text = page.locator("textarea.code");
  await text.fill((await text.inputValue()).replace("Lisbon", "Braga"));
  await timed("corrected", () => button("Save").click(), page.locator(".history").getByText("Braga"));
  await seen("found again", "recall?q=Braga", ".entry");
  facts.tell("recalled", await page.locator(".entry").first().innerText());
  await page.goto(`${base}/#/memories/User/User`);
  await timed("deleted", () => button("Delete").click(), page.locator(".toast", { hasText: "Deleted:" }));
  facts.tell("gone", (await page.request.get(`${base}/v1/memories/User/User`)).status());
}

process.on("exit", () => facts.tell("waits_ms", waits));
await told({ lists, talk, correctAndDelete }, { facts, page, noted, close });
