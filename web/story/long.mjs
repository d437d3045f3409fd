/** Memories without end: node long.mjs ADDRESS FOLDER CHROMIUM. How long rows, interactions and tasks take goes to standard output. */

import { openBrowser, watched } from "./browser.mjs";
import { audited, told } from "./chapters.mjs";
import { Facts } from "./facts.mjs";
import { Timings, traced } from "./timing.mjs";

const [base, folder, chromium] = process.argv.slice(2);
const facts = new Facts(folder);
const { browser, close } = await openBrowser(chromium);
const { page, noted } = await watched(browser, base);
page.setDefaultTimeout(60_000);

const button = (name, within = page) => within.getByRole("button", { name, exact: true });
const timings = new Timings(page);
const timed = timings.timed.bind(timings);

await traced(page);

const row = (words) => page.locator(".virtual .row:not(.blank)", words ? { hasText: words } : {}).first();
const seen = (words) => () => row(words).waitFor();
const scrolledTo = (share) => page.evaluate((at) => { const box = document.querySelector(".half-list"); box.scrollTop = (box.scrollHeight - box.clientHeight) * at; }, share);
/** Whether what is in sight are rows, none of them on its way. */
const filled = () => page.waitForFunction(() => {
  const box = document.querySelector(".half-list").getBoundingClientRect();
  const rows = [...document.querySelectorAll(".virtual .row")].filter((each) => { const at = each.getBoundingClientRect(); return at.bottom > box.top && at.top < box.bottom; });
  return rows.length > 3 && rows.every((each) => !each.classList.contains("blank"));
});

async function rows() {
  await page.goto(`${base}/#/settings`);
  await page.locator(".page-head").waitFor();
  await timed("first rows of a service that just started", () => page.goto(`${base}/#/memories`), seen());
  await page.goto(`${base}/#/settings`);
  await page.locator(".page-head").waitFor();
  await timed("first rows", () => page.goto(`${base}/#/memories`), seen());
  facts.tell("total", await page.locator(".total", { hasText: /\d/ }).innerText());
  facts.tell("in_the_page", await page.locator(".virtual li").count());
  await timed("to the middle", () => scrolledTo(0.5), filled);
  facts.tell("middle", await page.locator(".virtual li").nth(12).getAttribute("aria-posinset"));
  await timed("to the end", () => scrolledTo(1), filled);
  facts.tell("end", await page.locator(".virtual li").last().getAttribute("aria-posinset"));
  await facts.picture(page, "end");
  await timed("by steps", async () => { for (let n = 1; n <= 20; n++) { await scrolledTo(n / 40); await page.waitForTimeout(30); } }, filled);
  await scrolledTo(0);
  await filled();
}

async function sorted() {
  await timed("oldest first", () => page.getByLabel("Order").selectOption("oldest"), async () => { await page.waitForFunction(() => location.hash.includes("order=oldest")); await page.locator(".former-rows").waitFor({ state: "detached" }); await filled(); });
  await timed("by type", () => page.getByLabel("Order").selectOption("type"), async () => { await row("knows").waitFor(); });
  await timed("of a type", () => page.getByLabel("Type").selectOption("Fact"), async () => { await page.getByText("2,000 memories").waitFor(); });
  facts.tell("address", await page.evaluate(() => location.hash));
  await page.reload();
  await page.getByText("2,000 memories").waitFor();
  facts.tell("kept", await page.getByLabel("Order").inputValue());
  await page.goto(`${base}/#/memories`);
  await seen()();
}

async function keyed() {
  await page.locator(".virtual a").first().focus();
  await timed("arrow down", () => page.keyboard.press("ArrowDown"), () => page.waitForFunction(() => document.activeElement.closest("[data-index]")?.dataset.index === "1"));
  await timed("end of the list by a key", () => page.keyboard.press("End"), async () => { await page.waitForFunction(() => document.activeElement.closest("[data-index]")?.getAttribute("aria-posinset") === document.querySelector(".virtual li").getAttribute("aria-setsize")); });
  facts.tell("focused", await page.evaluate(() => document.activeElement.textContent.slice(0, 40)));
  await page.keyboard.press("Home");
  await page.waitForFunction(() => document.activeElement.closest("[data-index]")?.dataset.index === "0");
}

async function many() {
  await page.goto(`${base}/#/memories?type=Fact`);
  await page.getByText("2,000 memories").waitFor();
  page.on("dialog", (dialog) => void dialog.accept());
  await timed("to choose", () => button("Select").click(), () => page.locator(".bulk").waitFor());
  await timed("one chosen", () => page.locator(".row-choice").first().click(), () => page.getByText("1 selected").waitFor());
  await timed("all 2,000 chosen", () => button("Select all 2,000").click(), () => page.getByText("2,000 selected").waitFor());
  await facts.picture(page, "chosen");
  await audited(page, facts, "chosen");
  await timed("2,000 deleted", () => button("Delete", page.locator(".bulk")).click(), () => page.getByText("2,000 memories deleted.").waitFor());
  await timed("2,000 back", () => button("Undo", page.locator(".toast").last()).click(), () => page.getByText("2,000 memories", { exact: true }).waitFor());
}

process.on("exit", () => { facts.tell("waits_ms", timings.waits); facts.tell("tasks", timings.tasks); });
await told({ rows, sorted, keyed, many }, { facts, page, noted, close });
