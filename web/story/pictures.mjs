/** A picture of each screen: node pictures.mjs ADDRESS FOLDER CHROMIUM. Small grey ones go to standard output, whole ones to the folder. */

import { join } from "node:path";
import { openBrowser, watched } from "./browser.mjs";
import { Facts } from "./facts.mjs";

const [base, folder, chromium] = process.argv.slice(2);
const facts = new Facts(folder);
const { browser, close } = await openBrowser(chromium);
const { page, noted } = await watched(browser, base);
page.setDefaultTimeout(60_000);
/** So many pixels of the screen become one of the small picture. */
const SCALE = 8;
/** The day on which the page believes to be: all that it shows as "ago" stays as it is. */
const TODAY = "2025-06-02T12:00:00Z";
const THEN = "known=2025-03-12";
const SCOPE = "scope=mira";

await page.clock.setFixedTime(TODAY);

/** What the service measures differs each time; these figures do not. */
const days = Array.from({ length: 30 }, (_, n) => ({ day: new Date(Date.parse("2025-05-04") + n * 86_400_000).toISOString().slice(0, 10), messages: (n * 7) % 11, memories: (n * 3) % 5, recalls: (n * 5) % 9, tokens: 400 * ((n * 5) % 7) }));
await page.route(/\/v1\/usage/, (route) => route.fulfill({ json: { days } }));
await page.route(/\/v1\/health/, async (route) => {
  const told = await (await route.fetch()).json();
  const frozen = JSON.parse(JSON.stringify(told, (_, each) => (typeof each === "number" ? 12 : typeof each === "string" && /^\d{4}-\d\d-\d\dT/.test(each) ? "2025-06-02T11:00:00Z" : each)));
  await route.fulfill({ json: frozen });
});

/** Each screen, and what is there once it is whole. */
const PLACES = {
  overview: ["overview", ".changed-row"],
  "overview then": [`overview?${THEN}`, ".changed-row"],
  chat: ["chat", ".stored-mark"],
  "chat then": [`chat?${THEN}`, ".stored-mark"],
  memories: ["memories", ".virtual .row:not(.blank)"],
  memory: ["memories/Fact/move-date", ".revision"],
  recall: ["recall?q=Where%20does%20Mira%20live%3F", ".entry"],
  profile: ["profile", ".lanes"],
  graph: ["graph", ".graph canvas[data-look]"],
  review: ["review", ".card"],
  formation: ["formation", ".receipt, .page-head"],
  types: ["types", ".type-list"],
  settings: ["settings", ".bars, .block"],
  api: ["api", ".api-operation"],
  "not found": ["nowhere", ".empty"],
};
const WIDE = { width: 1280, height: 864 };
const NARROW = { width: 392, height: 848 };
const LOOKS = [
  { name: "wide", size: WIDE, language: "en", theme: "light", places: Object.keys(PLACES) },
  { name: "narrow", size: NARROW, language: "en", theme: "light", places: Object.keys(PLACES) },
  { name: "dark", size: WIDE, language: "en", theme: "dark", places: ["overview", "chat", "memories", "graph", "recall"] },
  { name: "chinese", size: NARROW, language: "zh", theme: "light", places: ["overview", "memories"] },
];

const small = await browser.newPage();
/** A picture as grey values, each the mean of a square. */
const shrunk = (png) => small.evaluate(async ([data, scale]) => {
  const picture = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
  const [width, height] = [Math.floor(picture.width / scale), Math.floor(picture.height / scale)];
  const context = new OffscreenCanvas(picture.width, picture.height).getContext("2d", { willReadFrequently: true });
  context.drawImage(picture, 0, 0);
  const { data: rgba } = context.getImageData(0, 0, width * scale, height * scale);
  const grey = new Float64Array(width * height);
  for (let y = 0; y < height * scale; y++) for (let x = 0; x < width * scale; x++) {
    const at = 4 * (y * width * scale + x);
    grey[Math.floor(y / scale) * width + Math.floor(x / scale)] += 0.299 * rgba[at] + 0.587 * rgba[at + 1] + 0.114 * rgba[at + 2];
  }
  return { width, height, grey: btoa(String.fromCharCode(...grey.map((each) => Math.round(each / (scale * scale))))) };
}, [png.toString("base64"), SCALE]);

/** Whether a font has Chinese: two characters that are shown as the same box are none. */
const hasChinese = await small.evaluate(() => {
  const context = new OffscreenCanvas(40, 40).getContext("2d", { willReadFrequently: true });
  const drawn = (text) => {
    context.clearRect(0, 0, 40, 40);
    context.font = "32px sans-serif";
    context.fillText(text, 2, 34);
    return context.getImageData(0, 0, 40, 40).data.join();
  };
  return drawn("一") !== drawn("龍");
});
facts.tell("has_chinese", hasChinese);

async function taken(name) {
  const png = await page.screenshot({ path: join(folder, `${name.replaceAll(" ", "-")}.png`), animations: "disabled", caret: "hide" });
  facts.tell("picture", { name, ...(await shrunk(png)) });
}

/** Go to a place in a look, and wait until nothing moves. */
async function shown(place, { size, language, theme }) {
  const [address, there] = PLACES[place];
  await page.setViewportSize(size);
  await page.goto("about:blank");
  await page.goto(`${base}/#/${address}${address.includes("?") ? "&" : "?"}${SCOPE}`);
  const stored = JSON.stringify({ language, theme });
  if ((await page.evaluate(() => localStorage.getItem("recollect.page"))) !== stored) {
    await page.evaluate((settings) => localStorage.setItem("recollect.page", settings), stored);
    await page.reload();
  }
  await page.locator(there).first().waitFor();
  await page.waitForFunction(() => !document.querySelector(".bone, .loading, .former-rows, .row.blank, .graph[aria-busy=\"true\"]"));
  await page.evaluate(() => document.fonts.ready);
  let before;
  for (let n = 0; n < 20; n++) {
    const now = (await page.screenshot({ animations: "disabled" })).toString("base64");
    if (now === before) return;
    before = now;
    await page.waitForTimeout(150);
  }
}

/** Faults of the looks: each must make the picture of a screen another one. */
const FAULTS = {
  "overview-columns": ["overview", ".overview-columns"],
  "frame": ["chat", ".frame"],
  "row-body": ["memories", ".row"],
};
const without = (selector) => page.evaluate((wanted) => {
  for (const sheet of document.styleSheets) for (let at = sheet.cssRules.length - 1; at >= 0; at--) if (sheet.cssRules[at].selectorText?.split(", ").includes(wanted)) sheet.deleteRule(at);
}, selector);

for (const look of LOOKS) for (const place of look.places) {
  await shown(place, look);
  await taken(`${look.name} ${place}`);
}
for (const [name, [place, selector]] of Object.entries(FAULTS)) {
  await shown(place, LOOKS[0]);
  await without(selector);
  await taken(`fault ${name} of wide ${place}`);
}
await shown("overview", LOOKS[0]);
await page.evaluate(() => document.querySelector(".overview-main .block").remove());
await taken("fault panel of wide overview");
facts.tell("noted", noted);
await close();
