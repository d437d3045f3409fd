/** Screens that cannot be loaded, read or shown: node broken.mjs ADDRESS FOLDER CHROMIUM. Facts go to standard output. */

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
// As for who comes for the first time: a script that was fetched once is kept for a year otherwise.
proxy.isKept = false;

const button = (name, within = page) => within.getByRole("button", { name, exact: true });
const healed = () => (proxy.rule = () => undefined);
/** The screens whose script comes when they are first gone to, and what is there when they are shown. */
const LAZY = { chat: "#composer", memories: ".row", recall: ".ask", api: ".api-operation", profile: ".page-head", graph: ".ask", review: ".page-head", settings: ".facts" };
/** All screens, each with what it reads first. */
const SCREENS = {
  overview: [".changed-row", "/v1/overview"],
  "chat/talk": [".turn", "/v1/threads"], memories: [".row", "/v1/memories"], "memories/User/User": [".revision", "/v1/memories/User/User"],
  "recall?q=harbour": [".entry", "/v1/recall"], profile: [".lane", "/v1/memories"], "graph?entity=Ada": [".node", "/v1/graph"], review: [".card", "/v1/review"],
  formation: [".receipts li", "/v1/formations"], types: [".types-code", "/v1/types"], settings: [".facts", "/v1/usage"],
  api: [".api-operation", "/openapi.json"],
};
/** Which file has a screen that shares one: with it comes that of formation and that of types, which need no other. */
const FILES = { review: "upkeep" };
const isScript = ({ url }, name) => url.startsWith("/assets/") && url.includes(name) && url.endsWith(".js");
const main = page.locator("main");
const TABS = 4;

/** What is seen of a screen that failed: never nothing, and the way to the other screens. */
async function seen(name) {
  const alert = main.locator(".broken, .wrong").filter({ visible: true }).first();
  await alert.waitFor();
  return { text: await alert.innerText(), nav: await page.locator("a.side-link").count(), name };
}

async function opened(place = "overview") {
  await page.goto("about:blank");
  await page.goto(`${base}/#/${place}`);
  await page.locator("a.side-link").first().waitFor();
}

/** The service stops, or answers without the file, before a screen is first gone to. */
async function missing() {
  const found = [];
  for (const [name, ready] of Object.entries(LAZY)) {
    await stoppedBefore(name, ready, found);
    for (const cause of ["files", "without"]) {
      healed();
      await opened();
      // The service answers, its files do not come: all of them, or the screen's own.
      proxy.rule = (request) => (cause === "files" ? (/^\/(assets\/.*)?$/.test(request.url) ? { refuse: true } : undefined) : isScript(request, FILES[name] ?? name) ? { status: 404, body: "{}" } : undefined);
      await page.evaluate((place) => (location.hash = `#/${place}`), name);
      await main.locator(".broken").waitFor();
      found.push({ cause, ...(await seen(name)) });
      if (name === "settings") {
        await facts.picture(page, `missing-${cause}`);
        await audited(page, facts, `missing ${cause}`);
      }
      const again = button(cause === "files" ? "Try again" : "Reload", main);
      // The failure of before stands until this try has failed too: a service asked or a page loaded once more.
      const tried = cause === "files" ? page.waitForEvent("requestfailed", (request) => new URL(request.url()).pathname === "/") : page.waitForEvent("load");
      await again.click();
      await tried;
      await main.locator(".broken").waitFor();
      healed();
      // The page looks for the service by itself, too, and may have found it before the click.
      await again.click({ timeout: 2_000 }).catch(() => undefined);
      await main.locator(ready).first().waitFor();
    }
  }
  facts.tell("missing", found);
}

/** The service stopped before a screen was first gone to: the bar says it, and the screen comes once it is back. */
async function stoppedBefore(name, ready, found) {
  healed();
  await opened();
  proxy.rule = () => ({ refuse: true });
  proxy.drop("/v1/changes");
  await page.evaluate((place) => (location.hash = `#/${place}`), name);
  await page.locator(".cut-off").waitFor();
  await page.waitForTimeout(300);
  // On a busy machine the screen's own failure may be drawn just before the bar is known to stand for it.
  const boxes = main.locator(".broken, .wrong").filter({ visible: true });
  await boxes.first().waitFor({ state: "hidden", timeout: 3_000 }).catch(() => undefined);
  found.push({ cause: "stopped", name, text: await page.locator(".cut-off").innerText(), boxes: await boxes.count(), nav: await page.locator("a.side-link").count() });
  if (name === "settings") {
    await facts.picture(page, "missing-stopped");
    await audited(page, facts, "missing stopped");
  }
  healed();
  await main.locator(ready).first().waitFor();
}

/** The service was renewed while the page was open: its scripts have other names now. */
async function renewed() {
  await opened("chat/talk");
  await page.locator("#composer").fill("Typed before the reload.");
  const index = await (await page.request.get(`${service}/`)).text();
  const other = index.replaceAll(/assets\/index-[\w-]+\.js/g, "assets/index-Renewed0.js");
  proxy.rule = (request) => (request.url === "/" ? { status: 200, type: "text/html", body: other } : isScript(request, "settings") ? { status: 404, body: "{}" } : undefined);
  await page.evaluate(() => (location.hash = "#/settings"));
  const told = await seen("settings");
  await main.locator(".broken", { hasText: "newer version" }).waitFor();
  facts.tell("renewed", await seen("settings"));
  for (const [width, height] of [[390, 844], [1920, 1080], [1280, 800]]) {
    await page.setViewportSize({ width, height });
    await facts.picture(page, `renewed-${width}`);
    facts.tell("overflow_px", { screen: `renewed ${width}`, px: await page.evaluate(() => document.documentElement.scrollWidth - innerWidth) });
  }
  healed();
  await button("Reload", main).click();
  await main.locator(".facts").first().waitFor();
  await page.evaluate(() => (location.hash = "#/chat/talk"));
  await page.locator("#composer").waitFor();
  facts.tell("after_reload", { told: told.text, draft: await page.inputValue("#composer") });
}

/** Each screen is given what it cannot read: nothing, a status without a word, another page, an answer of another shape. */
async function unread() {
  const answers = {
    nothing: { refuse: true }, status: { status: 503, body: "" }, page: { status: 200, type: "text/html", body: "<h1>Welcome</h1>" },
    shape: { status: 200, body: JSON.stringify({ threads: [null], messages: [{}], memories: [null], entries: [{}], formations: [{}], types: [{ name: null }], nodes: [{ id: "a" }], edges: 3, revisions: null, usage: [{ day: 4 }] }) },
  };
  const found = [];
  const gone = async (place) => {
    await page.evaluate((hash) => (location.hash = hash), `#/${place}`);
  };
  healed();
  await opened("types");
  for (const [place, [ready, path]] of Object.entries(SCREENS)) {
    for (const [kind, answer] of Object.entries(answers)) {
      healed();
      const elsewhere = place === "types" ? "settings" : "types";
      await gone(elsewhere);
      await main.locator(SCREENS[elsewhere][0]).first().waitFor();
      proxy.rule = ({ url }) => (url.startsWith(path) ? answer : undefined);
      await gone(place);
      await main.locator(".broken, .wrong, .empty, .turn, .block, .row, .card").filter({ visible: true }).first().waitFor();
      // What is beside the list may be shown before its answer has come.
      const failure = main.locator(".broken, .wrong").filter({ visible: true }).first();
      await (kind === "shape" ? page.waitForTimeout(150) : failure.waitFor({ timeout: 10_000 }).catch(() => undefined));
      const alerts = await main.locator(".broken, .wrong").filter({ visible: true }).allInnerTexts();
      const again = button("Try again", main);
      const offers = await again.count();
      if (kind === "shape") await facts.picture(page, `shape-${place.split(/[?/]/)[0]}`);
      healed();
      for (let n = 0; offers && n < 8 && !(await main.locator(ready).first().isVisible()); n++) {
        if (await again.count()) await again.first().click({ timeout: 1_000 }).catch(() => undefined);
        await page.waitForTimeout(150);
      }
      found.push({ place, kind, alerts, offers, nav: await page.locator("a.side-link").count(), isShown: await main.locator(ready).first().isVisible() });
    }
  }
  facts.tell("unread", found);
}

/** A screen that fails does not take the others with it. */
async function others() {
  proxy.rule = ({ url }) => (url.startsWith("/v1/formations") ? { status: 200, body: '{"formations": [{}]}' } : undefined);
  await opened("formation");
  await main.locator(".broken").waitFor();
  await facts.picture(page, "broken");
  await audited(page, facts, "broken");
  await page.evaluate(() => localStorage.setItem("recollect.page", JSON.stringify({ language: "zh", theme: "dark" })));
  await page.reload();
  await main.locator(".broken").waitFor();
  await facts.picture(page, "broken-zh");
  await audited(page, facts, "broken, zh");
  await page.evaluate(() => localStorage.removeItem("recollect.page"));
  await page.reload();
  await main.locator(".broken").waitFor();
  await page.evaluate(() => (location.hash = "#/memories"));
  await main.locator(".row").first().waitFor();
  facts.tell("other_screen", await main.locator(".broken").count());
  healed();
}

/** A part of a list cannot be had: that is said in sight, what is there stays, and the part can be had. */
async function noMore() {
  await opened("memories");
  await main.locator(".row").first().waitFor();
  const total = await main.locator(".total", { hasText: /\d/ }).innerText();
  proxy.rule = ({ url }) => (/[?&]offset=[1-9]/.test(url) ? { refuse: true } : undefined);
  const toEnd = () => page.evaluate(() => { const box = document.querySelector(".half-list"); box.scrollTop = box.scrollHeight; });
  await toEnd();
  const alert = main.locator(".list-failure");
  await alert.waitFor();
  const { top, bottom } = await alert.evaluate((each) => each.getBoundingClientRect());
  const blank = await main.locator(".row.blank").count();
  await facts.picture(page, "no-more");
  await audited(page, facts, "no more");
  healed();
  await button("Try again", alert).click();
  await alert.waitFor({ state: "detached" });
  await toEnd();
  await main.locator(".row.blank").first().waitFor({ state: "detached" });
  const after = await main.locator(".row").last().innerText();
  await page.request.put(`${service}/v1/memories/Note/z-new`, { data: { value: { context: "a", content: "b" } } });
  await page.waitForFunction((before) => document.querySelector(".total").textContent !== before, total);
  facts.tell("no_more", { total, isInSight: top > 0 && bottom <= 860, blank, after, afterChange: await main.locator(".row:not(.blank)").count() });
}

/** The page itself does not come: what is there says so. */
async function start() {
  proxy.rule = (request) => (isScript(request, "index") ? { refuse: true } : undefined);
  await page.goto("about:blank");
  await page.goto(base);
  await page.locator(".starting").waitFor();
  const without = await page.locator(".starting").innerText();
  await facts.picture(page, "without-script");
  proxy.rule = ({ url }) => (url.startsWith("/v1/") ? { refuse: true } : undefined);
  await page.goto("about:blank");
  await page.goto(base);
  const alert = page.locator(".wrong");
  await alert.waitFor();
  const silent = await alert.innerText();
  healed();
  await button("Try again", alert).click();
  await page.locator(".overview-head").waitFor();
  facts.tell("start", { without, silent });
}

/** The service is gone while a screen is shown, and comes back: both are seen, without a word of the reader. */
async function cutOff() {
  healed();
  await opened("overview");
  await main.locator(".changed-row").first().waitFor();
  const bar = page.locator(".cut-off");
  const before = await bar.count();
  proxy.rule = ({ url }) => (url.startsWith("/v1/") ? { refuse: true } : undefined);
  proxy.drop("/v1/changes");
  await bar.waitFor();
  const told = await bar.innerText();
  for (const [width, height, language] of [[390, 844, "en"], [1280, 800, "en"]]) {
    await page.setViewportSize({ width, height });
    await facts.picture(page, `cut-off-${width}`);
    await audited(page, facts, `cut off ${width} ${language}`);
    facts.tell("overflow_px", { screen: `cut off ${width}`, px: await page.evaluate(() => document.documentElement.scrollWidth - innerWidth) });
  }
  await page.request.put(`${service}/v1/memories/Note/z-back`, { data: { value: { context: "a", content: "Written while the page was cut off." } } });
  healed();
  // The page may find the service by itself before it is told to look.
  await button("Look again", bar).click({ timeout: 2_000 }).catch(() => undefined);
  await bar.waitFor({ state: "detached" });
  await main.getByText("Written while the page was cut off.").first().waitFor();
  facts.tell("cut_off", { before, told });
}

/** A tab that lost its network says so at once, although nothing is asked, and shows at once what it missed when it is back. */
async function offline() {
  healed();
  await opened();
  await page.evaluate(() => (location.hash = "#/overview"));
  await main.locator(".changed-row").first().waitFor();
  const bar = page.locator(".cut-off");
  const before = await bar.count();
  await browser.setOffline(true);
  await bar.waitFor({ timeout: 2_000 });
  const told = await bar.innerText();
  await facts.picture(page, "offline");
  const note = { value: { context: "x", content: "Written while the tab was offline." } };
  await fetch(`${base}/v1/memories/Note/offline`, { method: "PUT", headers: { "content-type": "application/json" }, body: JSON.stringify(note) });
  const from = Date.now();
  await browser.setOffline(false);
  await bar.waitFor({ state: "detached", timeout: 2_000 });
  await main.getByText("Written while the tab was offline.").first().waitFor();
  facts.tell("offline", { before, told, back_ms: Date.now() - from });
}

/** Screens that were gone to while the service was away come by themselves once it is back; a talk that was read stays. */
async function back() {
  healed();
  await opened("chat/talk");
  await main.locator(".turn").first().waitFor();
  await page.evaluate(() => (location.hash = "#/types"));
  await main.locator(".types-code").waitFor();
  await page.evaluate(() => (location.hash = "#/graph"));
  await main.locator(".ask").waitFor();
  await page.evaluate(() => (location.hash = "#/types"));
  await main.locator(".types-code").waitFor();
  proxy.rule = ({ url }) => (url.startsWith("/v1/") || url.startsWith("/health") ? { refuse: true } : undefined);
  proxy.drop("/v1/changes");
  const found = {};
  const bar = page.locator(".cut-off");
  const sayings = async () => (await page.locator("body").innerText()).match(/(cannot be reached|does not answer|did not answer|slow to answer)/g) ?? [];
  const places = {
    chat: ".turn", memories: ".row", "memories/User/User": ".revision", "recall?q=harbour": ".entry", profile: ".lane", graph: ".node, .graph canvas, .empty", review: ".card",
    formation: ".receipts li", types: ".types-code", settings: ".facts", overview: ".changed-row",
  };
  for (const [place, ready] of Object.entries(places)) {
    await page.evaluate((hash) => (location.hash = hash), `#/${place}`);
    await bar.waitFor();
    // Longer than a slow service is waited for in silence, and than a failed list is shown.
    await page.waitForTimeout(place === "overview" ? 4_500 : 500);
    found[place] = { boxes: await page.locator(".wrong, .broken").filter({ visible: true }).count(), sayings: await sayings(), turns: await main.locator(".turn").count() };
    await facts.picture(page, `away-${place.split(/[?/]/)[0]}`);
    if (place === "overview") await audited(page, facts, "away");
    // What was waited for comes a moment after it is known that the service is back: nothing of before may be told meanwhile.
    proxy.rule = ({ url }) => (url.startsWith("/v1/") ? { slow_ms: 600 } : undefined);
    const since = Date.now();
    await bar.waitFor({ state: "detached" });
    found[place].left = await sayings();
    await main.locator(ready).first().waitFor();
    found[place].back_ms = Date.now() - since;
    // A slow answer of now would tell the next screen that the service is there.
    await page.waitForTimeout(800);
    proxy.rule = ({ url }) => (url.startsWith("/v1/") || url.startsWith("/health") ? { refuse: true } : undefined);
    proxy.drop("/v1/changes");
  }
  facts.tell("back", found);
}

/** A key that the service does not know any more: one message, and the way in. */
async function deadKey() {
  healed();
  await opened("chat/talk");
  await main.locator(".turn").first().waitFor();
  await page.locator("#composer").fill("Typed before the key was refused.");
  await page.evaluate(() => sessionStorage.setItem("recollect.key", "rk_dead"));
  const body = JSON.stringify({ code: "unknown_key", title: "Unauthorized", status: 401, detail: "this API key is unknown" });
  proxy.rule = ({ url }) => (url.startsWith("/v1/") ? { status: 401, type: "application/problem+json", body } : undefined);
  proxy.drop("/v1/changes");
  await page.getByLabel("Key", { exact: true }).waitFor({ timeout: 20_000 });
  await facts.picture(page, "dead-key");
  await audited(page, facts, "dead key");
  const told = { alerts: await page.getByRole("alert").count(), bars: await page.locator(".cut-off").count(), text: await page.locator(".ask-key").innerText() };
  healed();
  await page.getByLabel("Key", { exact: true }).fill("rk_new");
  await button("Enter").click();
  await main.locator(".turn").first().waitFor();
  facts.tell("dead_key", { ...told, draft: await page.inputValue("#composer") });
  await page.evaluate(() => sessionStorage.removeItem("recollect.key"));
}

/** The service answers late: first the shape of what comes, then a sentence. */
async function slow() {
  await opened("types");
  await page.locator(".types-code").waitFor();
  proxy.rule = ({ url }) => (url.startsWith("/v1/usage") || url.startsWith("/v1/memories") ? { slow_ms: 6_000 } : undefined);
  await page.evaluate(() => (location.hash = "#/memories/User/User"));
  const late = main.locator(".loading .hint");
  await late.first().waitFor();
  const told = await late.first().innerText();
  await facts.picture(page, "slow");
  await audited(page, facts, "slow");
  healed();
  await main.locator(".revision").first().waitFor();
  facts.tell("slow", { told, left: await late.count() });
}

/** Between a change of the address and the browser's word of it the chat is shown anew: it must not go back to itself. */
async function leaving() {
  await opened("chat/talk");
  await page.locator("#composer").waitFor();
  const shownAnew = page.locator(".memories-button");
  await shownAnew.waitFor();
  await shownAnew.evaluate((each) => { location.hash = "#/settings"; each.click(); });
  await main.locator(".facts").first().waitFor();
  facts.tell("left_for", await page.evaluate(() => location.hash));
}

/** A browser has six connections to a service for all its tabs: those that listen leave enough to the others. */
async function tabs() {
  const opened_ms = [];
  const open = [];
  for (let n = 0; n < TABS; n++) {
    const { page: tab } = await watched(browser, base);
    open.push(tab);
    const began = Date.now();
    await tab.goto(`${base}/#/overview`);
    await tab.locator(".overview-head").waitFor();
    await tab.locator(".changed-row").first().waitFor();
    opened_ms.push(Date.now() - began);
  }
  facts.tell("tabs_ms", opened_ms);
  for (const tab of open) await tab.close();
}

/** The browser keeps nothing for the page: it works all the same, as long as it is open. */
async function noStorage() {
  const { page: other, noted: seenThere } = await watched(browser, base);
  await other.addInitScript(() => {
    for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(window, name, { get: () => { throw new DOMException("denied", "SecurityError"); } });
  });
  await other.goto(`${base}/#/chat/stored`);
  await other.locator("#composer").fill("Typed without storage.");
  await other.evaluate(() => (location.hash = "#/settings"));
  await other.getByLabel("Look").selectOption("dark");
  await other.evaluate(() => (location.hash = "#/chat/stored"));
  await other.locator("#composer").waitFor();
  facts.tell("no_storage", { draft: await other.inputValue("#composer"), theme: await other.evaluate(() => document.documentElement.dataset.theme), errors: seenThere.errors });
  await other.close();
}

await told({ missing, renewed, unread, others, noMore, start, cutOff, offline, back, deadKey, slow, leaving, tabs, noStorage }, { facts, page, noted, close: async () => { await close(); proxy.close(); } });
