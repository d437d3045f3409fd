/** Saying something over a bad network: node sending.mjs ADDRESS FOLDER CHROMIUM. Facts go to standard output. */

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

const button = (name, within = page) => within.getByRole("button", { name, exact: true });
const isChat = ({ method, url }) => method === "POST" && url.startsWith("/v1/chat");
const failing = (what) => (proxy.rule = (request) => (isChat(request) ? what : undefined));
/** As `failing`, and the thread cannot be read either, so that it is not found what came of it. */
const failingBlindly = (what) => (proxy.rule = (request) => (isChat(request) ? what : request.url.startsWith("/v1/threads") ? { refuse: true } : undefined));
const healed = () => (proxy.rule = () => undefined);
const turn = (text) => page.locator(".turn-user", { hasText: text });
const answered = () => page.locator(".messages[aria-busy=false]").waitFor();
/** The role and text of each message that the service has. */
/** How many turns are shown once there are two, or after a while all the same. */
const shown = async () => {
  await page.locator(".turn").nth(1).waitFor({ timeout: 10_000 }).catch(() => undefined);
  return page.locator(".turn").count();
};
const kept = async (thread) => {
  const answer = await page.request.get(`${service}/v1/threads/${thread}/messages?limit=100`);
  return answer.ok() ? (await answer.json()).messages.map((each) => `${each.role}: ${each.text}`) : [];
};
/** What is kept once there are so many messages: the service keeps an answer only when all of it was made. */
const keptOf = async (thread, count) => {
  for (let tries = 0; tries < 50 && (await kept(thread)).length < count; tries++) await page.waitForTimeout(100);
  return kept(thread);
};
const keys = () => proxy.seen.filter((each) => each.key).map((each) => each.key);

async function at(thread) {
  await page.goto(`${base}/#/chat/${thread}`);
  await page.locator("#composer").waitFor();
  await page.locator(".messages[role=log]").waitFor();
}

async function say(text) {
  await page.fill("#composer", text);
  await page.keyboard.press("Enter");
}

/** The service hears nothing: the message says that it was not sent, whatever is looked at meanwhile. */
async function refused() {
  await at("refused");
  failing({ refuse: true });
  await say("My boat is blue.");
  const alert = page.locator(".not-sent");
  // The thread can be read, and the message is not in it.
  const known = page.locator(".not-sent", { hasText: "did not answer" });
  await known.waitFor();
  const badge = await turn("My boat is blue.").locator(".badge").innerText();
  await facts.picture(page, "not-sent");
  await audited(page, facts, "not sent");
  for (const [width, height] of [[390, 844], [1920, 1080], [1280, 800]]) {
    await page.setViewportSize({ width, height });
    if (width < 1000) await button("Close", page.locator("#memories-panel")).click();
    await facts.picture(page, `not-sent-${width}`);
    const tops = await alert.getByRole("button").evaluateAll((all) => all.map((each) => each.getBoundingClientRect().top));
    if (new Set(tops).size !== 1) throw new Error(`at ${width} px the buttons of a message that was not sent stand at ${tops}`);
    facts.tell("overflow_px", { screen: `not sent ${width}`, px: await page.evaluate(() => document.documentElement.scrollWidth - innerWidth) });
  }
  const told = await alert.innerText();
  await page.fill("#composer", "Typed, and not sent.");
  await page.goto(`${base}/#/memories`);
  await page.locator(".half-list").waitFor();
  await at("refused");
  const draft = await page.inputValue("#composer");
  await page.reload();
  await known.waitFor();
  const after = { draft: await page.inputValue("#composer"), alert: await alert.innerText() };
  await button("Send again", alert).click();
  await alert.waitFor();
  healed();
  await button("Send again", alert).click();
  await alert.waitFor({ state: "detached" });
  await answered();
  facts.tell("refused", { badge, told, draft, after, kept: await kept("refused"), keys: new Set(keys()).size, tries: keys().length, shown: await shown() });
}

/** The service stops: that is said once, for all of the page; once it is back nothing says it still, and the message can be sent. */
async function stopped() {
  const said = "I moor in Faro.";
  await at("stopped");
  await page.locator(".threads .thread").first().waitFor();
  proxy.rule = ({ url }) => (url.startsWith("/v1/") || url.startsWith("/health") ? { refuse: true } : undefined);
  proxy.drop("/v1/changes");
  await say(said);
  await page.locator(".cut-off").waitFor();
  const alert = page.locator(".not-sent");
  await alert.waitFor();
  // As long as the page asks again by itself.
  await page.waitForTimeout(4_000);
  const whole = await page.locator("body").innerText();
  const away = { told: await alert.innerText(), sayings: whole.match(/(cannot be reached|does not answer|did not answer)/g) ?? [], boxes: await page.locator(".wrong").filter({ visible: true }).count() };
  await facts.picture(page, "stopped");
  await audited(page, facts, "stopped");
  healed();
  await page.locator(".cut-off").waitFor({ state: "detached" });
  await page.locator(".not-sent.calm", { hasText: "Not sent" }).waitFor();
  const back = { told: await alert.innerText(), alerts: await page.getByRole("alert").count(), badge: await turn(said).locator(".badge").innerText() };
  await facts.picture(page, "stopped-back");
  await audited(page, facts, "stopped, back");
  await button("Send again", alert).click();
  await alert.waitFor({ state: "detached" });
  await answered();
  facts.tell("stopped", { away, back, kept: await kept("stopped"), shown: await shown() });
}

/** The service has the message, and its answer is lost: sent again it is neither kept nor answered twice. */
async function lost() {
  await at("lost");
  proxy.seen.length = 0;
  failingBlindly({ lose: true });
  await say("I keep bees.");
  const alert = page.locator(".not-sent");
  await alert.waitFor();
  const told = await alert.innerText();
  await facts.picture(page, "unsure");
  await button("Send again", alert).click();
  await alert.waitFor();
  failingBlindly(undefined);
  await button("Send again", alert).click();
  await alert.waitFor({ state: "detached" });
  healed();
  await answered();
  facts.tell("lost", { told, kept: await kept("lost"), keys: new Set(keys()).size, tries: keys().length, shown: await shown() });
}

/** When the service is heard again, what it has got all the same is found without being sent again. */
async function found() {
  await at("found");
  failing({ lose: true });
  await say("I play chess.");
  await page.locator(".turn-assistant").waitFor();
  await page.locator(".not-sent").waitFor({ state: "detached" });
  healed();
  facts.tell("found", { kept: await keptOf("found", 2), shown: await shown() });
}

/** The answer breaks off: what came of it is shown, the message is known to be kept, and the rest can be had. */
async function cutOff() {
  await at("cut");
  failingBlindly({ cut: 420 });
  await say("My cat is called Tom.");
  const alert = page.locator(".not-sent");
  await alert.waitFor();
  await facts.picture(page, "cut-off");
  const badges = await turn("My cat is called Tom.").locator(".badge").count();
  const told = await alert.innerText();
  // The thread stays unreadable: else the page may find the answer before it is asked to try again.
  failingBlindly(undefined);
  await button("Try again", alert).click();
  await alert.waitFor({ state: "detached" });
  healed();
  await answered();
  facts.tell("cut", { told, badges, kept: await kept("cut"), shown: await shown() });
}

/** The service says no: why is told beside the message, and the message goes back into the field. */
async function denied() {
  await at("denied");
  const body = JSON.stringify({ title: "Too many", status: 429, code: "quota", detail: "The quota of today is used up: it begins anew at midnight." });
  failing({ status: 429, type: "application/problem+json", body });
  await say("I sail on Sundays.");
  const alert = page.locator(".not-sent");
  await alert.waitFor();
  const told = await alert.innerText();
  const badge = await turn("I sail on Sundays.").locator(".badge").innerText();
  await page.fill("#composer", "And on Mondays.");
  await button("Edit", alert).click();
  await alert.waitFor({ state: "detached" });
  healed();
  facts.tell("denied", { told, badge, field: await page.inputValue("#composer"), shown: await page.locator(".turn").count(), kept: await kept("denied") });
}

/** Something else answers: neither its page nor its silence is taken for an answer. */
async function garbled() {
  await at("garbled");
  failing({ status: 502, type: "text/html", body: "<h1>Bad Gateway</h1>" });
  await say("I live in Porto.");
  const alert = page.locator(".not-sent");
  await alert.waitFor();
  const told = await alert.innerText();
  failing({ status: 200, type: "text/html", body: "<h1>Welcome</h1>" });
  await button("Send again", alert).click();
  await page.locator(".not-sent", { hasText: "broke off" }).waitFor();
  healed();
  await button("Send again", alert).click();
  await alert.waitFor({ state: "detached" });
  await answered();
  facts.tell("garbled", { told, kept: await kept("garbled") });
}

/** The model fails: the message is kept and says so; tried again, it is answered. */
async function unanswered() {
  await at("model");
  await say("FAIL once, please.");
  const alert = page.locator(".not-sent");
  await alert.waitFor();
  const told = await alert.innerText();
  const before = await kept("model");
  await facts.picture(page, "unanswered");
  await page.reload();
  await alert.waitFor();
  const other = await page.context().newPage();
  await other.goto(`${base}/#/chat/model`);
  const there = other.locator(".not-sent");
  await there.waitFor();
  const elsewhere = await there.innerText();
  await facts.picture(other, "unanswered-elsewhere");
  await button("Try again", there).click();
  await there.waitFor({ state: "detached" });
  await other.locator(".turn-assistant").waitFor();
  const shownThere = await other.locator(".turn").count();
  await other.reload();
  await other.locator(".turn-assistant").waitFor();
  const left = { alerts: await there.count(), browser: await other.evaluate(() => JSON.stringify({ ...localStorage })) };
  await other.close();
  await page.bringToFront();
  await alert.waitFor({ state: "detached" });
  await answered();
  facts.tell("unanswered", { told, before, elsewhere, shownThere, left, kept: await kept("model") });
}

/** Who leaves while it is answered finds the whole answer when they come back. */
async function lookedAway() {
  await at("away");
  await say("SLOWLY, please.");
  await page.locator(".turn-user", { hasText: "SLOWLY" }).waitFor();
  await page.goto(`${base}/#/memories`);
  await page.locator(".half-list").waitFor();
  await at("away");
  await page.locator(".turn-assistant .thinking").waitFor();
  await page.request.post(`${service}/v1/chat`, { data: { thread: "other", text: "GO ON" } });
  await page.locator(".turn-assistant", { hasText: "whole" }).waitFor();
  await answered();
  facts.tell("away", { kept: await kept("away"), shown: await shown(), interrupted: await page.locator(".badge").count() });
}

await told({ refused, stopped, lost, found, cutOff, denied, garbled, unanswered, lookedAway }, { facts, page, noted, close: async () => { await close(); proxy.close(); } });
