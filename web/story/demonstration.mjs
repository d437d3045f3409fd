/** What the page says of the formations of the demonstration: node demonstration.mjs ADDRESS FOLDER CHROMIUM. Facts go to standard output. */

import { openBrowser, watched } from "./browser.mjs";
import { audited, told } from "./chapters.mjs";
import { Facts } from "./facts.mjs";

const [base, folder, chromium] = process.argv.slice(2);
const facts = new Facts(folder);
const { browser, close } = await openBrowser(chromium);
const { page, noted } = await watched(browser, base);
const SCOPE = "scope=mira";

async function receipts() {
  for (const [width, height] of [[1280, 800], [390, 844]]) {
    await page.setViewportSize({ width, height });
    await page.goto(`${base}/#/formation?${SCOPE}`);
    await page.locator(".receipts li").first().waitFor();
    await facts.picture(page, `${width}x${height}-receipts`);
  }
  facts.tell("receipts", await page.locator(".receipts summary > span:nth-of-type(2)").allInnerTexts());
}

async function opened() {
  await page.locator(".receipts summary").first().click();
  await page.locator(".receipt-body a").first().waitFor();
  facts.tell("opened", await page.locator(".receipt-body").first().innerText());
  await facts.picture(page, "opened");
}

/** A slider over the days: what was true then, and not what came later. */
async function trueThen() {
  await page.setViewportSize({ width: 1280, height: 860 });
  await page.goto(`${base}/#/memories?${SCOPE}`);
  await page.locator(".row", { hasText: "Mira lives in Porto" }).waitFor();
  const said = () => page.locator(".row .said").allInnerTexts();
  await page.locator("#true-on").focus();
  await page.keyboard.press("Home");
  await page.waitForFunction(() => location.hash.includes("on=2025-"));
  await page.locator(".row", { hasText: "Mira lives in Porto" }).waitFor({ state: "detached" });
  // On the first day nobody had said yet where she lived.
  facts.tell("true_first", await said());
  for (let day = 0; day < 4; day += 1) await page.keyboard.press("ArrowRight");
  await page.locator(".row", { hasText: "Mira lives in Utrecht" }).waitFor();
  const listed = await page.locator(".day-says").innerText();
  facts.tell("true_then", { address: await page.evaluate(() => location.hash), rows: await said(), says: listed });
  await facts.picture(page, "true-then");
  await audited(page, facts, "true then");
  await page.locator("#true-on").focus();
  await page.keyboard.press("End");
  await page.locator(".row", { hasText: "Mira lives in Porto" }).waitFor();
  facts.tell("true_now", { address: await page.evaluate(() => location.hash), rows: await said() });
}

/** Only who moves the slider changes the day: one that still follows an address takes no day out of the next. */
async function nextDay() {
  await page.goto("about:blank");
  await page.goto(`${base}/#/graph?${SCOPE}&known=2025-03-12`);
  await page.locator("#believed-on").waitFor();
  const kept = await page.evaluate(async (scope) => {
    const after = (ms) => new Promise((done) => setTimeout(done, ms));
    let count = 0;
    for (let wait = 90; wait < 170; wait += 4) {
      location.hash = `#/graph?${scope}&known=2025-03-12`;
      await after(400);
      location.hash = `#/graph?${scope}&on=2025-03-12`;
      await after(wait);
      location.hash = `#/graph?${scope}&known=2025-03-20`;
      await after(400);
      count += Number(location.hash.includes("known=2025-03-20"));
    }
    return count;
  }, SCOPE);
  facts.tell("next_day", kept);
}

/** How many memories there are, on each screen that counts them. */
async function counts() {
  await page.goto(`${base}/#/overview?${SCOPE}`);
  await page.locator(".of-all").waitFor();
  const overview = await page.locator(".of-all").innerText();
  facts.tell("example", await page.locator(".overview-head .hint").innerText());
  const types = await page.locator(".of-type").allInnerTexts();
  await page.goto(`${base}/#/memories?${SCOPE}`);
  await page.locator(".total", { hasText: "no longer true" }).waitFor();
  const memories = await page.locator(".total").innerText();
  const options = await page.locator(".filters option").allInnerTexts();
  await page.goto(`${base}/#/chat?${SCOPE}`);
  await page.locator(".memories-button .count").waitFor();
  const asOf = "known=2025-03-12";
  await page.goto(`${base}/#/overview?${SCOPE}&${asOf}`);
  await page.locator(".of-all").waitFor();
  const then = { overview: await page.locator(".of-all").innerText() };
  await page.goto(`${base}/#/overview?${SCOPE}&on=2025-03-12`);
  await page.locator(".overview-head .about", { hasText: "What was true on" }).waitFor();
  await page.locator(".overview-main .sentences .said", { hasText: "Mira lives in Utrecht" }).waitFor();
  then.true_on = { about: await page.locator(".overview-head .about").innerText(), counted: await page.locator(".of-all").innerText() };
  await page.goto(`${base}/#/memories?${SCOPE}&on=2025-03-12`);
  await page.locator(".total", { hasText: then.true_on.counted }).waitFor();
  then.true_on.listed = await page.locator(".row .said").allInnerTexts();
  await page.goto(`${base}/#/chat?${SCOPE}&${asOf}`);
  await page.locator(".composer-past").waitFor();
  await page.locator(".memories-button .count").waitFor();
  then.chat = await page.locator(".memories-button .count").innerText();
  await page.goto(`${base}/#/chat?${SCOPE}`);
  await page.locator("#composer").waitFor();
  await page.locator(".memories-button .count").waitFor();
  facts.tell("counts", { then, overview, memories, types, options, chat: await page.locator(".memories-button .count").innerText() });
}

/** The day since when something is true is the same everywhere, as it was said. */
async function days() {
  await page.goto(`${base}/#/overview?${SCOPE}`);
  const row = page.locator(".sentences li", { hasText: "Tangyuan" });
  await row.waitFor();
  const overview = await row.innerText();
  await page.goto(`${base}/#/memories/Fact/cat-tangyuan?${SCOPE}`);
  await page.locator(".half-one dd time").first().waitFor();
  const since = await page.locator(".half-one dd time").first().innerText();
  // The list beside it is read by itself, and may come later.
  const plans = page.locator(".row-body", { hasText: "plans to move" });
  await plans.first().waitFor();
  facts.tell("days", { overview, since, plans: await plans.allInnerTexts() });
  await facts.picture(page, "cat");
}

/** The button that saves is in sight however long the form is, and the fields have plain names. */
async function edited() {
  for (const [width, height] of [[1280, 800], [390, 844]]) for (const place of ["User/User", "Fact/home-porto"]) {
    await page.setViewportSize({ width, height });
    await page.goto("about:blank");
    await page.goto(`${base}/#/memories/${place}?${SCOPE}`);
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.locator(".edit .field").first().waitFor();
    const save = page.locator(".edit").getByRole("button", { name: "Save" });
    const isSeen = await page.waitForFunction((button) => {
      const { left, top, width: w, height: h } = button.getBoundingClientRect();
      const foot = button.closest("footer").getBoundingClientRect();
      // No field shows below the foot, as if it stood in the middle of the form.
      const below = document.elementFromPoint(left + w / 2, foot.bottom + 3);
      return !below?.closest(".edit") && button.contains(document.elementFromPoint(left + w / 2, top + h - 3)) && button.contains(document.elementFromPoint(left + w / 2, top + 3));
    }, await save.elementHandle(), { timeout: 3_000 }).then(() => true, () => false);
    facts.tell(`edited ${place} ${width}`, { isSeen, labels: await page.locator(".edit .field label").allInnerTexts() });
    await facts.picture(page, `edited-${place.replace("/", "-")}-${width}`);
    await audited(page, facts, `edited ${place} ${width}`);
    await page.locator(".edit").getByRole("button", { name: "Cancel" }).click();
  }
}

/** A fact that was told before it began is not yet true on that day, and what it follows still is: on each screen. */
async function notYet() {
  const asOf = "known=2025-03-20";
  await page.setViewportSize({ width: 1280, height: 860 });
  await page.goto(`${base}/#/memories?${SCOPE}&type=Fact&${asOf}`);
  const job = page.locator(".row-body", { hasText: "exhibition writer" });
  await job.locator(".badge").waitFor();
  await page.locator(".total", { hasText: "not yet true" }).waitFor();
  const memories = { job: await job.innerText(), total: await page.locator(".total").innerText() };
  await facts.picture(page, "not-yet");
  await page.goto(`${base}/#/graph?${SCOPE}&${asOf}`);
  await page.locator(".plain-table tbody tr").first().waitFor();
  const graph = await page.locator(".plain-table tbody").innerText();
  await page.goto(`${base}/#/overview?${SCOPE}&${asOf}`);
  await page.locator(".of-all").waitFor();
  const overview = { all: await page.locator(".of-all").innerText(), facts: await page.locator(".of-type", { hasText: "fact" }).innerText() };
  await page.goto(`${base}/#/chat?${SCOPE}&${asOf}`);
  await page.locator(".composer-past").waitFor();
  await page.locator(".memories-button .count").waitFor();
  facts.tell("not_yet", { memories, graph, overview, chat: await page.locator(".memories-button .count").innerText() });
}

/** The bar of days shows the day that the address names, also after its other button was pressed on the screen before. */
async function mode() {
  const pressed = async () => (await page.locator(".time-mode[aria-pressed=true]").innerText()).replaceAll("\n", " ");
  await page.goto(`${base}/#/memories?${SCOPE}`);
  await page.locator("#true-on").waitFor();
  await page.locator(".day-button:visible").click();
  await page.locator(".time-mode").nth(1).click();
  const chosen = await pressed();
  await page.getByRole("link", { name: "Graph", exact: true }).click();
  await page.locator("#true-on").waitFor();
  const next = await pressed();
  await page.locator(".time-mode").nth(1).click();
  await page.evaluate((scope) => { location.hash = `#/graph?${scope}&on=2025-03-12`; }, SCOPE);
  await page.locator("#true-on").waitFor();
  facts.tell("mode", { chosen, next, linked: await pressed() });
}

/** Today, what begins later is counted apart from what has ended: on the overview and in the list. */
async function later() {
  await page.request.put(`${base}/v1/memories/Fact/home-oslo?${SCOPE}`, { data: { value: { subject: "Mira", predicate: "plans to live in", object: "Oslo" }, valid_from: new Date(Date.now() + 9e8).toISOString() } });
  await page.goto(`${base}/#/overview?${SCOPE}`);
  await page.locator(".of-all", { hasText: "not yet true" }).waitFor();
  const overview = await page.locator(".of-all").innerText();
  await page.goto(`${base}/#/memories?${SCOPE}`);
  await page.locator(".total", { hasText: "not yet true" }).waitFor();
  facts.tell("later", { overview, list: await page.locator(".total").innerText() });
}

/** What was true before a fact stands below it, however much was written since. */
async function newer() {
  for (let count = 0; count < 30; count += 1) await page.request.put(`${base}/v1/memories/Note/newer-${count}?${SCOPE}`, { data: { value: { note: `Mira bought book ${count}.` } } });
  await page.goto(`${base}/#/overview?${SCOPE}`);
  await page.locator(".changed-row", { hasText: "Mira bought book" }).first().waitFor();
  const home = page.locator(".sentences li", { hasText: "Mira lives in Porto" });
  await home.locator(".sentence-before").waitFor();
  facts.tell("newer", await home.innerText());
}

/** The field for a message is as high as what is typed, up to a part of the window. */
async function typed() {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${base}/#/chat?${SCOPE}`);
  const field = page.locator("#composer");
  await field.waitFor();
  const sizes = async (words) => {
    await field.fill(words);
    return field.evaluate((element) => ({ height: element.clientHeight, hidden: element.scrollHeight - element.clientHeight }));
  };
  facts.tell("typed", { none: await sizes(""), some: await sizes("I like rowing on the river in the morning. ".repeat(5)), many: await sizes("很長的話。".repeat(1000)), again: await sizes("") });
}

/** In Chinese too: a profile that was recalled has its fields' names, and a key is told in words, not in single characters. */
async function inChinese() {
  await page.request.post(`${base}/v1/recall?${SCOPE}`, { data: { query: "coffee: one espresso in the morning; sister: Ines, in Ghent; partner: Rui", limit: 1 } });
  await page.request.post(`${base}/v1/keys`, { data: { name: "reader", scope: ["mira"], permissions: ["read", "write", "erase"] } });
  await page.goto(`${base}/#/overview?${SCOPE}`);
  await page.evaluate(() => localStorage.setItem("recollect.page", JSON.stringify({ language: "zh-hant", theme: "light" })));
  await page.reload();
  const row = page.locator(".recalled-row", { hasText: "Rui" });
  await row.waitFor();
  const recalled = await row.locator(".said").first().innerText();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${base}/#/settings?${SCOPE}`);
  const cells = page.locator("#keys tbody td");
  await cells.first().waitFor();
  facts.tell("in_chinese", { recalled, keys: await cells.evaluateAll((all) => all.slice(0, 5).map((each) => each.getBoundingClientRect().width)) });
  await page.evaluate(() => localStorage.removeItem("recollect.page"));
}

await told({ receipts, opened, trueThen, nextDay, counts, days, edited, notYet, mode, later, newer, typed, inChinese }, { facts, page, noted, close });
