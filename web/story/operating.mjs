/** Somebody who looks after the memories of many people, and keys that may do less: node operating.mjs ADDRESS FOLDER CHROMIUM. Facts go to standard output. */

import { openBrowser, watched } from "./browser.mjs";
import { audited as auditedBy, told } from "./chapters.mjs";
import { Facts } from "./facts.mjs";

const [base, folder, chromium] = process.argv.slice(2);
const facts = new Facts(folder);
const { browser, close } = await openBrowser(chromium);
const { page, noted } = await watched(browser, base);
const { first, reader } = JSON.parse(process.env.RECOLLECT_KEY);
const ADA = "scope=users&scope=ada";

const main = page.locator("main");
const at = (place) => page.goto(`${base}/#/${place}`);
const seen = async (name) => {
  await facts.picture(page, name);
  await auditedBy(page, facts, name);
  facts.tell("overflow_px", { screen: name, px: await page.evaluate(() => document.documentElement.scrollWidth - innerWidth) });
};
/** Come to the page with a key: another one is forgotten. */
const enter = async (key) => {
  await page.goto("about:blank");
  await page.goto(`${base}/#key=${key}`);
  await page.locator(".side").waitFor();
};

/** At the scope above all others it is told in which something waits, or failed. */
async function above() {
  await enter(first);
  await at("overview");
  const more = page.locator(".waits-below");
  await more.waitFor();
  facts.tell("waits_below", await more.innerText());
  await more.getByRole("link").click();
  const places = page.locator(".places-below");
  await places.waitFor();
  facts.tell("reviews_below", await places.innerText());
  await seen("review-above");
  await places.getByRole("link", { name: /ada/ }).click();
  await page.locator(".card").first().waitFor();
  facts.tell("review_of_ada", { url: page.url(), doubt: await page.locator(".card .doubt").first().innerText() });
  await at("formation");
  await places.waitFor();
  facts.tell("failed_below", await places.innerText());
  await seen("formation-above");
}

/** Messages that were given up are not formed, wherever that is told; once they are tried again they are. */
async function givenUp() {
  await at(`overview?${ADA}`);
  const state = page.locator(".formation-state");
  await state.getByText("given up").waitFor();
  facts.tell("overview_given_up", await state.innerText());
  await at(`chat/broken?${ADA}`);
  const countdown = page.locator(".countdown");
  await countdown.getByText("given up").waitFor();
  facts.tell("chat_given_up", await countdown.innerText());
  await seen("chat-given-up");
  await countdown.getByRole("link", { name: "Formation" }).click();
  const receipt = page.locator(".receipts li", { hasText: "given up" });
  await receipt.locator("summary").click();
  await receipt.getByRole("button", { name: "Retry" }).click();
  await page.locator(".receipts li", { hasText: "1 stored" }).first().waitFor();
  await at(`overview?${ADA}`);
  await state.getByText("All is formed").waitFor();
  await at(`chat/broken?${ADA}`);
  await countdown.getByText("This thread is formed").waitFor();
}

/** Where nothing is remembered yet it is told that messages wait; of more than are listed, that there are more. The audit names a thread once. */
async function waiting() {
  const cy = "scope=users&scope=cy";
  await at(`overview?${cy}`);
  const state = page.locator(".formation-state");
  await state.waitFor();
  facts.tell("overview_waiting", await state.innerText());
  await seen("overview-waiting");
  await at(`formation?${cy}`);
  await page.locator(".jobs li").first().waitFor();
  facts.tell("formation_waiting", await page.locator(".block h2").first().innerText());
  let names = 0;
  const count = (request) => (names += /\/messages\?/.test(request.url()) ? 1 : 0);
  page.on("request", count);
  await at(`settings?${cy}`);
  const audit = page.locator("#audit details");
  await audit.waitFor();
  await page.waitForTimeout(500);
  const unseen = names;
  await audit.locator("summary").click();
  await audit.locator(".thread-title", { hasText: "My cat" }).first().waitFor();
  page.off("request", count);
  facts.tell("audit", { threads: await audit.locator(".thread-title").allInnerTexts(), unseen: unseen <= 50 });
}

/** What was imported was said before it was stored: on a day between, its thread is listed, and opened. */
async function imported() {
  await at("chat?on=2025-03-02&scope=users&scope=di");
  await page.locator(".turn").first().waitFor();
  // A thread has its id for a name until its first message is there.
  await page.locator(".thread-name", { hasText: "I own a kayak." }).waitFor();
  facts.tell("imported", { threads: await page.locator(".thread-name").allInnerTexts(), said: await page.locator(".turn-text").allInnerTexts() });
}

/** What each value says, and in how many lines. */
const values = (within) => within.locator(".leaf").evaluateAll((all) => all.map((each) => {
  const text = document.createRange();
  text.selectNodeContents(each);
  return { said: each.innerText, lines: new Set([...text.getClientRects()].map(({ top }) => Math.round(top))).size };
}));

/** A value of fields within fields is read at any width; yes and no are said as in the form. */
async function nested() {
  const told = {};
  for (const [name, width] of [["wide", 1440], ["tablet", 768], ["phone", 390]]) {
    await page.setViewportSize({ width, height: 900 });
    await at(`memories/Customer/Customer?${ADA}`);
    await main.locator(".value .leaf", { hasText: "Portugal" }).first().waitFor();
    told[name] = await values(main.locator(".half-one > .block .value").first());
    await seen(`nested-${name}`);
  }
  await page.setViewportSize({ width: 1360, height: 860 });
  await at(`chat/broken?${ADA}`);
  const panel = page.locator("#memories-panel");
  await panel.locator(".leaf", { hasText: "Portugal" }).waitFor();
  told.panel = await values(panel.locator(".panel-memory", { hasText: "Portugal" }));
  facts.tell("nested", told);
  await at(`memories/Ticket/t1?${ADA}`);
  await page.locator(".memory-head h1").waitFor();
  facts.tell("ticket", { called: await page.locator(".memory-head h1").innerText(), waits: await main.locator(".notice").first().innerText() });
}

/** What is typed before the types are known stays, and what is not touched is read by its kind once they are; the way back closes what lies over a place. */
async function edited() {
  await page.route(/\/v1\/types/, async (route) => {
    await new Promise((done) => setTimeout(done, 1_500));
    await route.continue();
  });
  await at(`overview?${ADA}`);
  await page.reload();
  await at(`memories/Customer/Customer?${ADA}`);
  await page.locator(".half-one .acts").getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("City").fill("Faro");
  const plan = page.getByRole("combobox", { name: "Plan" });
  await plan.waitFor();
  await page.unroute(/\/v1\/types/);
  facts.tell("typed_early", { city: await page.getByLabel("City").inputValue(), plan: await plan.inputValue(), faults: await page.locator(".edit .at-fault").count() });
  await page.getByRole("button", { name: "Save" }).click();
  const told = page.locator(".toast", { hasText: "Saved as version" });
  await told.waitFor();
  const { value } = await (await page.request.get(`${base}/v1/memories/Customer/Customer?${ADA}`, { headers: { "x-api-key": first } })).json();
  facts.tell("saved", { toast: await told.innerText(), value });
  await at(`profile/Customer/Customer?${ADA}`);
  await page.locator(".lanes").waitFor();
  facts.tell("lanes", await page.locator(".lanes").innerText());
  await page.locator(".scope-button").click();
  await page.locator("dialog[open]").waitFor();
  await page.goBack();
  await page.locator(".half-one .memory-head").waitFor();
  facts.tell("dialogs_after_back", await page.locator("dialog[open]").count());
}

/** A key that has expired says so; the quotas of a day stand beside what was used. */
async function keys() {
  await at("settings");
  const row = page.locator("tr", { hasText: "old-dashboard" });
  await row.waitFor();
  facts.tell("expired", await row.innerText());
  facts.tell("lasting", await page.locator("tr", { hasText: "ada-reader" }).innerText());
  await page.locator("#usage p", { hasText: "At most in a day" }).waitFor();
  facts.tell("quotas", await page.locator("#usage").innerText());
  await seen("settings-keys");
}

/** A key that may only read is told so where it could otherwise write; a link of another key is not taken for something erased. */
async function reading() {
  await enter(reader);
  const told = {};
  for (const [place, there] of [["review", ".card"], ["types", ".type-list"], ["chat/broken", ".composer-past"]]) {
    await at(place);
    await page.locator(there).first().waitFor();
    told[place] = await main.innerText();
    await seen(`reader-${place.replace("/", "-")}`);
  }
  facts.tell("reader", told);
  await at(`memories/Customer/Customer?scope=users&scope=bo`);
  const gone = page.locator(".half-one .empty");
  await gone.waitFor();
  facts.tell("link_of_another_key", await gone.innerText());
  await at(`chat/t1?scope=users&scope=bo`);
  await main.getByText("This thread is gone").first().waitFor();
  facts.tell("thread_of_another_key", await main.locator(".messages .empty").innerText());
  await at("memories/Customer/nobody");
  await gone.waitFor();
  facts.tell("gone_here", await gone.innerText());
}

await told({ above, givenUp, waiting, imported, nested, edited, keys, reading }, { facts, page, noted, close });
