/** The first five minutes of somebody who has never seen the page: node first_minutes.mjs ADDRESS FOLDER CHROMIUM. */

import { openBrowser, watched } from "./browser.mjs";
import { audited, told } from "./chapters.mjs";
import { Facts } from "./facts.mjs";

const [base, folder, chromium] = process.argv.slice(2);
const facts = new Facts(folder);
const { browser, close } = await openBrowser(chromium);
const { page, noted } = await watched(browser, base);
const SCOPE = "scope=mira";

const button = (name, within = page) => within.getByRole("button", { name, exact: true });
const started = Date.now();
/** The clicks of the shortest way; a look at the words in their message is one more, and the way back. */
let clicks = 0;
const click = async (there) => {
  clicks += 1;
  await there.click();
};

/** What does the system believe about Mira's home, why, and since when? */
async function find() {
  await page.goto(`${base}/#/overview?${SCOPE}`);
  const home = page.locator(".sentence", { hasText: "Mira lives in" });
  await home.waitFor();
  facts.tell("believed", await home.innerText());
  await facts.picture(page, "overview");
  await click(home);
  await page.locator(".memory-head h1", { hasText: "Mira lives in" }).waitFor();
  await page.locator(".revision").first().waitFor();
  facts.tell("why", await page.locator(".half-one .quote").first().innerText());
  facts.tell("since", await page.locator(".half-one .block", { hasText: "True from" }).locator("dd").first().innerText());
  await facts.picture(page, "home");
  await page.locator(".half-one .quote").first().click();
  await page.locator(".turn.wanted mark").first().waitFor();
  facts.tell("said", await page.locator(".turn.wanted mark").first().innerText());
  await facts.picture(page, "said");
  await page.goBack();
}

/** It is wrong: it is corrected, and the chat uses the correction. */
async function correct() {
  await page.locator(".memory-head h1", { hasText: "Mira lives in" }).waitFor();
  await click(button("Edit"));
  // No click into a field: what the sentence says is chosen, and replaced by what is typed.
  await page.waitForFunction(() => document.activeElement.value?.includes("Porto"));
  await page.keyboard.type("Braga, Rua do Souto 7");
  await facts.picture(page, "edit");
  await click(button("Save"));
  await page.locator(".memory-head h1", { hasText: "Braga" }).waitFor();
  await page.getByText("was corrected by hand").waitFor();
  facts.tell("why_now", await page.locator(".half-one .block").first().innerText());
  await facts.picture(page, "corrected");
  await click(page.getByRole("link", { name: "Chat", exact: true }));
  await page.locator("#composer").fill("Where does Mira live?");
  await page.keyboard.press("Enter");
  const answer = page.locator(".turn-assistant").last();
  await answer.locator(".used-chip", { hasText: "Braga" }).waitFor();
  await page.locator(".messages[aria-busy=false]").waitFor();
  facts.tell("answer", await answer.locator(".turn-text").innerText());
  facts.tell("clicks", clicks);
  facts.tell("minutes", (Date.now() - started) / 60_000);
  await facts.picture(page, "answer");
  await audited(page, facts, "answer");
}

await told({ find, correct }, { facts, page, noted, close });
