/** A talk of ten thousand messages: node long_talk.mjs ADDRESS FOLDER CHROMIUM EXTENT FIRST. What it takes goes to standard output. */

import { openBrowser, watched } from "./browser.mjs";
import { told } from "./chapters.mjs";
import { Facts } from "./facts.mjs";
import { Timings, traced } from "./timing.mjs";

const [base, folder, chromium] = process.argv.slice(2);
const facts = new Facts(folder);
const { browser, close } = await openBrowser(chromium);
const { page, noted } = await watched(browser, base);
page.setDefaultTimeout(60_000);
await traced(page);
const timings = new Timings(page);
const turns = () => page.locator(".turn").count();
const isInSight = (selector) => page.evaluate((name) => {
  const all = document.querySelectorAll(name);
  const { top, bottom } = all[all.length - 1].getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
}, selector);

/** It opens at its newest message. */
async function opens() {
  await page.goto(`${base}/#/types`);
  await page.locator(".types-code").waitFor();
  await timings.timed("opened", () => page.evaluate(() => (location.hash = "#/chat/long")), () => page.locator(".turn", { hasText: "harbour 9999" }).waitFor());
  facts.tell("opened", { turns: await turns(), isNewestInSight: await isInSight(".turn") });
}

/** What is typed is seen at once, and sent, after a way back of some pages. */
async function typed() {
  await page.locator("#composer").pressSequentially("And this is first.");
  await timings.timed("sent first", () => page.keyboard.press("Enter"), () => page.locator(".turn-user", { hasText: "And this is first." }).waitFor());
  for (let n = 0; n < 10; n++) {
    const before = await turns();
    await page.evaluate(() => document.querySelector(".messages").scrollTo(0, 0));
    await page.getByRole("button", { name: "Earlier messages" }).click();
    await page.waitForFunction((count) => document.querySelectorAll(".turn").length > count, before);
  }
  facts.tell("read_back", await turns());
  await timings.timed("typed", () => page.locator("#composer").pressSequentially("And this is new.", { delay: 20 }), () => page.waitForFunction(() => document.querySelector("#composer").value === "And this is new."));
  await timings.timed("sent", () => page.keyboard.press("Enter"), () => page.locator(".turn-user", { hasText: "And this is new." }).waitFor());
  facts.tell("sent", await isInSight(".turn-user"));
}

/** A link leads to the very first message. */
async function linked() {
  await page.goto(`${base}/#/types`);
  await page.locator(".types-code").waitFor();
  const { messages } = await (await page.request.get(`${base}/v1/threads/long/messages?limit=1`)).json();
  await timings.timed("linked", () => page.evaluate((id) => (location.hash = `#/chat/long?message=${id}`), messages[0].id), () => page.locator(".turn.wanted").waitFor());
  await page.waitForTimeout(300);
  facts.tell("linked", { turns: await turns(), isInSight: await isInSight(".turn.wanted") });
  await timings.timed("typed there", () => page.locator("#composer").pressSequentially("Here too.", { delay: 20 }), () => page.waitForFunction(() => document.querySelector("#composer").value === "Here too."));
  await facts.picture(page, "linked");
  const before = await turns();
  await page.getByRole("button", { name: "Messages in between" }).click();
  await page.waitForFunction((count) => document.querySelectorAll(".turn").length > count, before);
  const shown = await page.locator(".turn-text").evaluateAll((all) => all.map((each) => Number(/harbour (\d+)/.exec(each.textContent)?.[1] ?? -1)));
  facts.tell("between", { shown: shown.filter((each) => each >= 0) });
}

process.on("exit", () => {
  facts.tell("waits_ms", timings.waits);
  facts.tell("tasks", timings.tasks);
});
await told({ opens, typed, linked }, { facts, page, noted, close });
