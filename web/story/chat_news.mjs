/** News are told in the chat, learnt, and taken back: node chat_news.mjs ADDRESS FOLDER CHROMIUM. */

import { openBrowser, watched } from "./browser.mjs";
import { audited, told } from "./chapters.mjs";
import { Facts } from "./facts.mjs";

const [base, folder, chromium] = process.argv.slice(2);
const facts = new Facts(folder);
const { browser, close } = await openBrowser(chromium);
const { page, noted } = await watched(browser, base);
const SCOPE = "scope=mira";
const NEWS = "Guess what, I've taken up the cello since last week; my teacher is called Duarte.";

const answer = page.locator(".turn-assistant").last();
/** How many sources an answer has, those that are not shown at once included. */
const counted = () => answer.locator(".used-chips").getAttribute("aria-label");
const chips = () => answer.locator(".used-chip").allInnerTexts();
const say = async (words) => {
  const before = await page.locator(".turn-assistant").count();
  await page.locator("#composer").fill(words);
  await page.keyboard.press("Enter");
  await page.locator(".turn-assistant").nth(before).locator(".turn-text").waitFor();
  await page.locator(".messages[aria-busy=false]").waitFor();
  return answer.locator(".turn-text").innerText();
};
const reload = async () => {
  await page.reload();
  await page.locator(".turn-assistant").first().waitFor();
};

/** The sources of an answer are there again after the page was left. */
async function sources() {
  await page.goto(`${base}/#/chat/news?${SCOPE}`);
  await page.locator("#composer").waitFor();
  facts.tell("answer", await say("Where does Mira live, and where did she live before?"));
  await answer.locator(".used-chip").nth(1).waitFor();
  facts.tell("used", await chips());
  facts.tell("counted", await counted());
  await reload();
  await answer.locator(".used-chip").nth(1).waitFor();
  facts.tell("used_again", await chips());
  facts.tell("counted_again", await counted());
  facts.tell("said", await say("展览文字什么时候要交？"));
  await reload();
  await answer.locator(".used-chip").first().waitFor();
  facts.tell("used_message", await chips());
}

/** What an answer used keeps its words when the memory is corrected, also after the page was left. */
async function corrected() {
  await page.goto(`${base}/#/chat/before?${SCOPE}`);
  await page.locator("#composer").waitFor();
  facts.tell("before_answer", await say("Where does Mira live?"));
  const address = `${base}/v1/memories/Fact/home-porto?${SCOPE}`;
  const { value, valid_from } = await (await page.request.get(address)).json();
  await page.request.put(address, { data: { value: { ...value, object: "Coimbra" }, valid_from } });
  const chip = answer.locator(".used-chip", { hasText: "Mira lives in" }).first();
  await answer.locator(".used-chip[title*='now: Mira lives in Coimbra']").waitFor();
  await reload();
  await answer.locator(".used-chip[title*='now: ']").waitFor();
  facts.tell("corrected_chip", { words: await chip.locator(".used-words").innerText(), title: await chip.getAttribute("title") });
  await facts.picture(page, "corrected");
  await page.request.put(address, { data: { value, valid_from } });
  await page.goto(`${base}/#/chat/news?${SCOPE}`);
  await page.locator("#composer").waitFor();
}

/** News are noted without their words, and stand first in the panel, in sight. */
async function news() {
  facts.tell("noted_answer", await say(NEWS));
  const mark = page.locator(".turn-user").last().locator(".stored-mark a");
  await mark.waitFor();
  facts.tell("learnt", await mark.innerText());
  const first = page.locator(".panel-memory").first();
  await first.filter({ hasText: "cello" }).waitFor();
  facts.tell("heading", await page.locator(".panel-head h2").innerText());
  facts.tell("in_sight", await first.evaluate((each) => each.getBoundingClientRect().bottom <= innerHeight));
  await facts.picture(page, "learnt");
  await audited(page, facts, "learnt");
}

/** What is undone is said to be, also after the page was left, until the undo is undone. */
async function undone() {
  const turn = page.locator(".turn-user").last();
  await turn.getByRole("button", { name: "Undo what this message changed in memory" }).click();
  await turn.locator(".taken-back").waitFor();
  facts.tell("taken_back", await turn.locator(".taken-back").innerText());
  await facts.picture(page, "taken_back");
  const toast = page.locator(".toast", { hasText: "Taken back" }).last();
  await toast.getByRole("button", { name: "Undo", exact: true }).click();
  await turn.locator(".stored-mark a").waitFor();
  facts.tell("back_again", await turn.locator(".taken-back").count());
  await turn.getByRole("button", { name: "Undo what this message changed in memory" }).click();
  await turn.locator(".taken-back").waitFor();
  await reload();
  await turn.locator(".taken-back").waitFor();
  facts.tell("marks", await turn.locator(".stored-mark").count());
  const { days } = await (await page.request.get(`${base}/v1/usage?${SCOPE}`)).json();
  facts.tell("usage", days.at(-1));
}

/** Of more memories than the panel lists the newest stand there, with how many there are of each type, and the way to the others. */
async function many() {
  await page.goto(`${base}/#/chat?scope=many`);
  const panel = page.locator("#memories-panel");
  await panel.getByText("The harbour has a new crane.").waitFor();
  facts.tell("many", { button: await page.locator(".memories-button .count").innerText(), types: await panel.locator("h3").allInnerTexts(), listed: await panel.locator(".panel-memory").count(), all: await panel.getByRole("link", { name: "All memories" }).getAttribute("href") });
}

/** Requests are counted where the key is bound: below it none are, and none is told of. */
async function used() {
  const told = {};
  for (const [name, query] of [["own", ""], ["below", SCOPE]]) {
    // What is counted is written now and then.
    const asked = async () => (await (await page.request.get(`${base}/v1/usage?${query}`)).json()).days;
    for (let tries = 0; tries < 60 && !(await asked()).length; tries += 1) await page.waitForTimeout(250);
    await page.goto(`${base}/#/settings?part=usage&${query}`);
    await page.locator(".usage").waitFor();
    told[name] = await page.locator(".usage").innerText();
  }
  facts.tell("used_below", told);
}

await told({ sources, corrected, news, undone, many, used }, { facts, page, noted, close });
