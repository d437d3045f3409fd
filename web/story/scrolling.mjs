/** Every screen on every size, with more than fits: node scrolling.mjs ADDRESS FOLDER CHROMIUM. Facts go to standard output. */

import { openBrowser, watched } from "./browser.mjs";
import { told } from "./chapters.mjs";
import { Facts } from "./facts.mjs";

const [base, folder, chromium] = process.argv.slice(2);
const facts = new Facts(folder);
const { browser, close } = await openBrowser(chromium);
const { page, noted } = await watched(browser, base);

const SIZES = [[1280, 800], [1920, 1080], [390, 844], [844, 390]];
/** For each screen, what is there when it is loaded, and what scrolls with the last thing in it. */
const SCREENS = [
  ["chat/long", ".turn", [[".messages", ".turn:last-child"], [".threads", ".threads .more"], [".panel", ".panel-memory:last-child"]]],
  ["memories", ".row", [[".half-list", ".half-list li:last-child"]]],
  ["memories/User/User", ".revision", [[".half-one", ".half-one > :last-child"], [".half-list", ".half-list li:last-child"]]],
  ["recall?q=harbour&limit=60&budget=9000", ".entry", [["main", ".page > :last-child"]]],
  ["profile", ".lane", [["main", ".page .two > *"]]],
  ["graph?entity=Ada", ".node", [["main", ".plain-table tbody tr:last-child"]]],
  ["review", ".card", [["main", ".card:last-child footer"]]],
  ["formation", ".receipts li", [["main", ".receipts li:last-child"]]],
  ["types", ".type-list li", [["main", ".types .block:last-child footer"]]],
  ["settings", ".plain-table tbody tr", [["main", ".page > :last-child"]]],
];

/** Leaves of the page that no scrolling brings into view: those below or beside a box that hides what is over its edge, but for text cut with an ellipsis. */
function hidden() {
  const hides = (value) => value === "hidden" || value === "clip";
  const scrolls = (value) => value === "auto" || value === "scroll";
  const found = [];
  for (const leaf of document.querySelectorAll("#root *")) {
    if (leaf.children.length || leaf.closest("svg, select, datalist, .unseen, .toasts, details:not([open]) > :not(summary)")) continue;
    const box = leaf.getBoundingClientRect();
    if (!box.width || !box.height) continue;
    let [isScrolledDown, isScrolledAside, isCut, by] = [false, false, false, ""];
    for (let around = leaf.parentElement; around && around.id !== "root"; around = around.parentElement) {
      const style = getComputedStyle(around);
      const edge = around.getBoundingClientRect();
      isCut ||= style.webkitLineClamp !== "none" && box.bottom > edge.bottom + 1;
      isScrolledDown ||= scrolls(style.overflowY);
      isScrolledAside ||= scrolls(style.overflowX);
      if (!isScrolledDown && hides(style.overflowY) && style.textOverflow !== "ellipsis" && box.bottom > edge.bottom + 1) by ||= around.className;
    }
    if (!isScrolledDown && box.bottom > innerHeight + 1) by ||= "window";
    if (!isScrolledAside && box.right > innerWidth + 1) by ||= "window, sideways";
    if (by && !isCut) found.push(`${leaf.tagName} ${leaf.textContent.slice(0, 30)} by ${by}`);
  }
  return found.slice(0, 5);
}

/** Why the lowest of the last things in a region cannot be seen (of a tall one its last line); nothing if it can. */
function seen([region, last]) {
  const all = [...document.querySelectorAll(last)].filter((each) => each.getClientRects().length);
  const element = all.reduce((lowest, each) => (lowest && lowest.getBoundingClientRect().bottom > each.getBoundingClientRect().bottom ? lowest : each), null);
  const around = document.querySelector(region)?.getBoundingClientRect();
  if (!element || !around) return `${last} is not there`;
  const box = element.getBoundingClientRect();
  const x = Math.min(Math.max(box.left + Math.min(box.width / 2, 40), 1), innerWidth - 2);
  const y = box.height > 60 ? box.bottom - 12 : box.top + box.height / 2;
  const top = document.elementFromPoint(x, y);
  return top && (element.contains(top) || top.contains(element)) && y < Math.min(innerHeight, around.bottom + 1) ? "" : `${last} ends at ${Math.round(box.bottom)} of ${innerHeight}`;
}

/** How many pixels the window, or what scrolls down in it, can be moved sideways. */
function sideways() {
  const boxes = [document.documentElement, ...document.querySelectorAll("main, .messages, .half-list, .half-one, .panel")];
  return Math.max(...boxes.map((each) => each.scrollWidth - each.clientWidth));
}

/** Turn the wheel over a region as far as it goes; what is wider than it is high is turned sideways. */
async function wheeled(region) {
  const box = await page.locator(region).first().boundingBox();
  if (!box) return;
  await page.mouse.move(box.x + box.width / 2, box.y + Math.min(box.height / 2, 300));
  for (let n = 0; n < 2; n++) {
    await page.mouse.wheel(0, 400_000);
    await page.mouse.wheel(400_000, 0);
    await page.waitForTimeout(40);
  }
}

async function shown(place, ready) {
  await page.goto(`${base}/#/${place}`);
  await page.locator(`main ${ready}`).filter({ visible: true }).first().waitFor();
  // An opened receipt names its threads by words without end.
  await page.evaluate(() => { for (const each of document.querySelectorAll(".receipts details")) each.open = true; });
  await page.waitForTimeout(150);
}

async function everyScreen() {
  for (let n = 0; n < 30; n++) await page.request.post(`${base}/v1/keys`, { data: { name: `key ${n}`, scope: [], permissions: ["read"] } });
  for (const [width, height] of SIZES) {
    await page.setViewportSize({ width, height });
    for (const [place, ready, regions] of SCREENS) {
      const name = `${width}x${height} ${place.split("?")[0]}`;
      await shown(place, ready);
      facts.tell("overflow_px", { screen: name, px: await page.evaluate(sideways) });
      const lost = await page.evaluate(hidden);
      for (const region of regions) {
        if (!(await page.locator(region[0]).first().isVisible())) continue;
        let why = "";
        for (let n = 0; n < 10; n++) {
          // Titles and memories arrive one after the other, and lengthen what is scrolled.
          await wheeled(region[0]);
          why = await page.evaluate(seen, region);
          if (!why) break;
          await page.waitForTimeout(200);
        }
        if (why) lost.push(`${region[0]}: ${why}`);
      }
      facts.tell("unseen", { screen: name, unseen: lost });
      await facts.picture(page, name.replaceAll(/[ /]/g, "-"));
    }
  }
}

/** All of a long talk can be read back, and nothing that arrives moves what is being read. */
async function backAndForth() {
  await page.setViewportSize({ width: 1280, height: 800 });
  await shown("chat/long", ".turn");
  const top = (id) => page.evaluate((name) => document.getElementById(name)?.getBoundingClientRect().top ?? null, id);
  const moved = [];
  for (;;) {
    await page.evaluate(() => document.querySelector(".messages").scrollTo(0, 0));
    const earlier = page.getByRole("button", { name: "Earlier messages" });
    if (!(await earlier.count())) break;
    const first = await page.locator(".turn").first().getAttribute("id");
    const count = await page.locator(".turn").count();
    const before = await top(first);
    await earlier.click();
    await page.waitForFunction((n) => document.querySelectorAll(".turn").length > n, count);
    await page.waitForTimeout(50);
    moved.push(Math.round(Math.abs((await top(first)) - before)));
  }
  facts.tell("read_back", { turns: await page.locator(".turn").count(), moved });
  await facts.picture(page, "read-back");
  const anchor = await page.locator(".turn").nth(10).getAttribute("id");
  await page.evaluate((id) => document.getElementById(id).scrollIntoView({ block: "start" }), anchor);
  const before = await top(anchor);
  await page.request.post(`${base}/v1/threads/long/messages`, { data: { messages: [{ role: "assistant", text: "This was said elsewhere." }] } });
  await page.locator(".turn", { hasText: "This was said elsewhere." }).waitFor({ state: "attached" });
  facts.tell("moved_while_reading", Math.round(Math.abs((await top(anchor)) - before)));
  await page.fill("#composer", "And this here.");
  await page.keyboard.press("Enter");
  await page.locator(".turn-user", { hasText: "And this here." }).waitFor();
  await page.locator(".messages[aria-busy=false]").waitFor();
  facts.tell("own_words_end", await page.evaluate(seen, [".messages", ".turn:last-child"]));
}

/** Where many messages are gone from the middle of a talk, those before them are read all the same. */
async function overGap() {
  await shown("chat/gaps", ".turn");
  const earlier = page.getByRole("button", { name: "Earlier messages" });
  for (let n = 0; n < 6 && (await earlier.count()); n++) {
    await earlier.click();
    await page.waitForTimeout(400);
  }
  facts.tell("read_over_gap", { turns: await page.locator(".turn").count(), first: await page.locator(".turn-text").first().innerText() });
}

/** Where the words that a link marked are in the talk; nothing if they are in view. */
function outOfView() {
  const words = document.querySelector(".turn.wanted mark")?.getBoundingClientRect();
  const box = document.querySelector(".messages")?.getBoundingClientRect();
  if (!words || !box) return "no marked words";
  return words.top >= box.top && words.bottom <= Math.min(box.bottom, innerHeight) ? "" : `${Math.round(words.top - box.top)} px below the upper edge of ${Math.round(box.height)} px`;
}

/** A link from quoted words leads to them, whatever is read after them or grows above them, until the reader scrolls. */
async function ledTo() {
  const lost = {};
  const grow = (px) => page.evaluate((by) => { document.querySelector(".turn").style.paddingTop = `${by}px`; }, px);
  for (const [width, height] of SIZES.filter((each) => each[0] === 1280 || each[0] === 390)) {
    await page.setViewportSize({ width, height });
    for (const memory of ["User/User", "Fact/f000", "Fact/f001", "Fact/f002"]) {
      const name = `${width}x${height} ${memory}`;
      await shown(`memories/${memory}`, ".revision");
      const link = page.locator('main a[href*="message="]').filter({ visible: true }).first();
      await link.click();
      await page.locator(".turn.wanted mark").first().waitFor();
      await page.waitForTimeout(600);
      lost[name] = await page.evaluate(outOfView);
      await grow(900);
      await page.waitForTimeout(100);
      lost[`${name}, grown`] = await page.evaluate(outOfView);
      await grow(0);
      await page.evaluate(() => { const link = document.createElement("a"); link.href = location.hash; link.id = "again"; link.textContent = "again"; document.querySelector(".turn:last-child .turn-text").append(link); });
      await page.evaluate(() => document.querySelector(".messages").scrollTo(0, document.querySelector(".turn.wanted").offsetTop > 2_000 ? 0 : 1e6));
      await page.waitForTimeout(100);
      const left = await page.evaluate(outOfView);
      if (!left) lost[`${name}, left`] = "the reader cannot scroll away";
      await page.evaluate(() => document.getElementById("again").click());
      await page.waitForTimeout(100);
      lost[`${name}, again`] = await page.evaluate(outOfView);
    }
  }
  facts.tell("led_to", lost);
}

/** Nothing is asked of a thread in which nothing was said: the service would not know it. */
async function newThread() {
  await page.setViewportSize({ width: 1280, height: 800 });
  await shown("chat/long", ".turn");
  const unknown = [];
  page.on("response", (answer) => answer.status() === 404 && unknown.push(answer.url()));
  await page.getByRole("button", { name: "New thread", exact: true }).click();
  await page.locator(".talk-head h1", { hasText: "New thread" }).waitFor();
  await page.waitForTimeout(600);
  await page.fill("#composer", "The first words here.");
  await page.keyboard.press("Enter");
  await page.locator(".messages[aria-busy=false] .turn-user").waitFor();
  // The list has a page of the threads: what is said elsewhere in this one is read all the same.
  const id = decodeURIComponent(new URL(page.url()).hash.split("/")[2].split("?")[0]);
  await page.request.post(`${base}/v1/threads/${id}/messages`, { data: { messages: [{ role: "user", text: "And more from elsewhere." }] } });
  await page.locator(".turn", { hasText: "And more from elsewhere." }).waitFor();
  const said = await page.locator(".turn-user .turn-text").allInnerTexts();
  await page.reload();
  await page.locator(".turn", { hasText: "And more from elsewhere." }).waitFor();
  facts.tell("new_thread", { unknown, said });
}

/** The check must be able to fail: without the row that holds it, the talk ends below the window. */
async function mutants() {
  await shown("chat/long", ".turn");
  await page.evaluate(() => document.styleSheets[0].insertRule(".chat { grid-template-rows: none !important; } ", document.styleSheets[0].cssRules.length));
  await page.evaluate(() => document.styleSheets[0].insertRule(".talk { min-height: auto !important; } ", document.styleSheets[0].cssRules.length));
  await wheeled(".messages");
  facts.tell("mutants", { hidden: await page.evaluate(hidden), seen: await page.evaluate(seen, [".messages", ".turn:last-child"]) });
}

await told({ everyScreen, backAndForth, overGap, ledTo, newThread, mutants }, { facts, page, noted, close });
