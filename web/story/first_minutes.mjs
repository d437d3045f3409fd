/** The first five minutes of somebody who has never seen the page: node first_minutes.mjs ADDRESS FOLDER CHROMIUM. */

import { openBrowser, watched } from "./browser.mjs";
import { audited, told } from "./chapters.mjs";
import { Facts } from "./facts.mjs";

const [base, folder, chromium, extent] = process.argv.slice(2);
const language = extent.split("_").at(-1);
const facts = new Facts(folder);
const WORDS = {
  "en-GB": { from: "True from", edit: "Edit", save: "Save", by_hand: "You corrected it by hand", chat: "Chat", begin: "New thread", question: "Where does Mira live?" },
  "zh-TW": { from: "生效時間", edit: "編輯", save: "儲存", by_hand: "手動更正：", chat: "對話", begin: "新對話串", question: "我的家在哪裡？" },
};
const words = WORDS[language];
const { browser, close } = await openBrowser(chromium, language);
const { page, noted } = await watched(browser, base);
/** With a key, as `make demo` opens the page, the address is of the scope that the key is bound to. */
const key = process.env.RECOLLECT_KEY;
const SCOPE = key ? "" : "scope=mira";
const OWN = "I live in Oslo.";

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
  await page.goto(key ? `${base}/#key=${key}` : `${base}/#/overview?${SCOPE}`);
  const home = page.locator(".sentence", { hasText: "Mira lives in" });
  await home.waitFor();
  facts.tell("believed", await home.innerText());
  await facts.picture(page, "overview");
  await click(home);
  await page.locator(".memory-head h1", { hasText: "Mira lives in" }).waitFor();
  await page.locator(".revision").first().waitFor();
  facts.tell("why", await page.locator(".half-one .quote").first().innerText());
  facts.tell("since", await page.locator(".half-one .block", { hasText: words.from }).locator("dd").first().innerText());
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
  await click(button(words.edit));
  // No click into a field: what the sentence says is chosen, and replaced by what is typed.
  await page.waitForFunction(() => document.activeElement.value?.includes("Porto"));
  await page.keyboard.type("Braga, Rua do Souto 7");
  await facts.picture(page, "edit");
  await click(button(words.save));
  await page.locator(".memory-head h1", { hasText: "Braga" }).waitFor();
  await page.getByText(words.by_hand).waitFor();
  facts.tell("why_now", await page.locator(".half-one .block").first().innerText());
  await facts.picture(page, "corrected");
  await click(page.getByRole("link", { name: words.chat, exact: true }));
  await page.locator("#composer").fill(words.question);
  await page.keyboard.press("Enter");
  const answer = page.locator(".turn-assistant").last();
  await answer.locator(".used-chip", { hasText: "Braga" }).waitFor();
  await page.locator(".messages[aria-busy=false]").waitFor();
  facts.tell("answer", await answer.locator(".turn-text").innerText());
  facts.tell("clicks", clicks);
  facts.tell("minutes", (Date.now() - started) / 60_000);
  facts.tell("language", await page.evaluate(() => document.documentElement.lang));
  await facts.picture(page, "answer");
  await audited(page, facts, "answer");
}

/** A new thread proposes a question to who is known, and no fact: that would contradict what was corrected. */
async function begin() {
  await button(words.begin).click();
  await page.locator(".messages .chip").first().waitFor();
  facts.tell("beginnings", await page.locator(".messages .chip").allInnerTexts());
}

/** The overview tells the correction, and no longer quotes what was said before. */
async function lookAgain() {
  await page.goto(`${base}/#/overview?${SCOPE}`);
  const home = page.locator(".sentence", { hasText: "Braga" });
  await home.waitFor();
  facts.tell("believed_now", await home.innerText());
  await facts.picture(page, "overview_again");
}

/** What is told in the chat stands among the memories, with the words that it rests on. */
async function own() {
  await page.goto(`${base}/#/chat/own`);
  await page.locator("#composer").fill(OWN);
  await page.keyboard.press("Enter");
  await page.locator(".turn-user", { hasText: OWN }).first().waitFor();
  await page.goto(`${base}/#/overview`);
  const told = page.locator(".rests-on", { hasText: OWN.slice(0, -1) }).first();
  await told.waitFor();
  facts.tell("own", await told.innerText());
  await facts.picture(page, "own");
}

await told({ find, correct, begin, look_again: lookAgain, ...(key ? { own } : {}) }, { facts, page, noted, close });
