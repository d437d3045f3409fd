/** The first view of a browser that has nothing of the page: node first.mjs ADDRESS FOLDER CHROMIUM. What it takes goes to standard output. */

import { openBrowser, watched } from "./browser.mjs";
import { told } from "./chapters.mjs";
import { Facts } from "./facts.mjs";

const [base, folder, chromium] = process.argv.slice(2);
const facts = new Facts(folder);
/** Each is what is there of a screen once a reader has what they came for. */
const PLACES = { overview: ["overview", ".changed-row"], chat: ["chat", ".turn"], memories: ["memories", ".virtual .row:not(.blank)"] };
const RATES = [1, 4];
const TIMES = 3;
/** Browsers of other languages, whose words are other files. */
const LOCALES = ["zh-CN", "zh-TW"];
/** A task longer than this blocks what a person does meanwhile. */
const BLOCKED_MS = 50;
const SETTLED_MS = 800;
let last;

/** Open a place in a new browser, and say how soon it was there. */
async function opened([place, there], rate, locale) {
  const { browser, close } = await openBrowser(chromium, locale);
  const { page, noted } = await watched(browser, base);
  last = { page, noted, close };
  await page.goto(`${base}/health/live`);
  const cdp = await browser.newCDPSession(page);
  let bytes = 0;
  const names = [];
  await cdp.send("Network.enable");
  await cdp.send("Network.clearBrowserCache");
  const ids = new Set();
  // What was asked before this may end only now: it is none of the view's.
  cdp.on("Network.loadingFinished", (event) => { bytes += ids.has(event.requestId) ? event.encodedDataLength : 0; });
  cdp.on("Network.requestWillBeSent", (event) => {
    ids.add(event.requestId);
    names.push(new URL(event.request.url).pathname);
  });
  await cdp.send("Emulation.setCPUThrottlingRate", { rate });
  await page.addInitScript((limit) => {
    window.seen = { largest_ms: 0, shift: 0, blocked_ms: 0, longest_ms: 0 };
    const watch = (type, note) => new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({ type, buffered: true });
    watch("largest-contentful-paint", (each) => { window.seen.largest_ms = each.startTime; });
    watch("layout-shift", (each) => { if (!each.hadRecentInput) window.seen.shift += each.value; });
    watch("longtask", (each) => { window.seen.blocked_ms += Math.max(0, each.duration - limit); window.seen.longest_ms = Math.max(window.seen.longest_ms, each.duration); });
  }, BLOCKED_MS);
  await page.goto(`${base}/#/${place}${place.includes("?") ? "&" : "?"}scope=mira`);
  await page.locator(there).first().waitFor();
  const whole_ms = await page.evaluate(() => performance.now());
  await page.waitForTimeout(SETTLED_MS * rate);
  const seen = await page.evaluate(() => ({ first_ms: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? -1, ...window.seen }));
  const answers = await page.evaluate(() => performance.getEntriesByType("resource").filter((each) => each.name.includes("/v1/")).map((each) => [new URL(each.name).pathname + new URL(each.name).search.slice(0, 40), Math.round(each.startTime), Math.round(each.responseEnd)]));
  const found = Object.fromEntries(Object.entries({ ...seen, whole_ms, bytes }).map(([name, value]) => [name, name === "shift" ? Number(value.toFixed(4)) : Math.round(value)]));
  return { found, requests: names.length, answers, noted };
}

const median = (values) => values.sort((one, other) => one - other)[Math.floor(values.length / 2)];

async function of(name, rate) {
  const all = [];
  for (let n = 0; n < TIMES; n++) {
    if (last) await last.close();
    all.push(await opened(PLACES[name], rate));
    facts.tell("noted_once", all.at(-1).noted);
  }
  const measured = Object.fromEntries(Object.keys(all[0].found).map((each) => [each, median(all.map(({ found }) => found[each]))]));
  facts.tell(`${name} ${rate}`, { ...measured, requests: all[0].requests });
  facts.tell(`answers ${name} ${rate}`, all[0].answers);
  await facts.picture(last.page, `${name}-${rate}`);
}

/** What a view weighs in another language. */
async function inLocale(name, locale) {
  await last?.close();
  const { found, noted } = await opened(PLACES[name], 1, locale);
  facts.tell("noted_once", noted);
  facts.tell(`${name} ${locale}`, { bytes: found.bytes, language: await last.page.evaluate(() => document.documentElement.lang) });
}

const names = Object.keys(PLACES);
const chapters = Object.fromEntries(names.flatMap((name) => [
  ...RATES.map((rate) => [`${name}${rate}`, () => of(name, rate)]),
  ...LOCALES.map((locale) => [`${name} ${locale}`, () => inLocale(name, locale)]),
]));
await told(chapters, { facts, get page() { return last.page; }, get noted() { return last.noted; }, close: () => last.close() });
