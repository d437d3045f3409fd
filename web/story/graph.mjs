/** Graphs of 40, 500 and 2,000 entities: node graph.mjs ADDRESS FOLDER CHROMIUM. How long each act takes goes to standard output, pictures to the folder. */

import { openBrowser, watched } from "./browser.mjs";
import { audited, told } from "./chapters.mjs";
import { Facts } from "./facts.mjs";
import { Timings, traced } from "./timing.mjs";

const [base, folder, chromium] = process.argv.slice(2);
const facts = new Facts(folder);
const { browser, close } = await openBrowser(chromium);
const { page, noted } = await watched(browser, base);
page.setDefaultTimeout(30_000);
await traced(page);

const WIDE = { width: 1440, height: 900 };
const NARROW = { width: 390, height: 844 };
const ready = () => page.locator('.graph[aria-busy="false"] canvas[data-look]').waitFor();
const canvas = page.locator(".graph canvas");
const chosen = page.locator(".graph-details h2");
/** Two pictures of the browser later all that was asked for is drawn. */
const drawn = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const placeOf = (size) => `${base}/#/graph?scope=g${size}&most=${Math.max(40, size)}`;

async function looked(size) {
  for (const [look, room] of [["wide", WIDE], ["narrow", NARROW]]) {
    for (const theme of ["light", "dark"]) {
      await page.setViewportSize(room);
      await page.evaluate((settings) => localStorage.setItem("recollect.page", settings), JSON.stringify({ language: "en", theme }));
      await page.reload();
      await ready();
      await drawn();
      await page.evaluate(() => document.querySelector(".graph").scrollIntoView({ block: "center" }));
      await facts.picture(page, `${size}-${look}-${theme}`);
    }
  }
  await page.setViewportSize(WIDE);
  await page.evaluate(() => localStorage.setItem("recollect.page", JSON.stringify({ language: "en", theme: "light" })));
  await page.reload();
  await ready();
}

async function of(size) {
  const timings = new Timings(page);
  const timed = timings.timed.bind(timings);
  await page.setViewportSize(WIDE);
  await page.goto(`${base}/#/types?scope=g${size}`);
  await page.locator(".page-head").waitFor();
  await timed("shown", () => page.goto(placeOf(size)), ready);
  facts.tell(`size ${size}`, (await page.locator(".recall-sum").innerText()).replaceAll(",", ""));
  facts.tell(`look ${size}`, await canvas.getAttribute("data-look"));
  const box = await canvas.boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await timed("zoom by a button", () => page.getByRole("button", { name: "Larger" }).click(), drawn);
  await page.keyboard.down("Control");
  await timed("zoom by the wheel", async () => { await page.mouse.move(x, y); for (let n = 0; n < 8; n++) await page.mouse.wheel(0, n < 6 ? -80 : 80); }, drawn);
  await page.keyboard.up("Control");
  await timed("pan", async () => { await page.mouse.move(box.x + 8, box.y + 8); await page.mouse.down(); for (let n = 1; n <= 20; n++) await page.mouse.move(box.x + 8 + 6 * n, box.y + 8 + 4 * n); await page.mouse.up(); }, drawn);
  await timed("pan by a key", async () => { await page.locator(".graph").focus(); await page.keyboard.press("ArrowLeft"); }, drawn);
  await timed("all of it", () => page.getByRole("button", { name: "All of it" }).click(), drawn);
  await timed("hover", async () => { for (let n = 0; n < 20; n++) await page.mouse.move(x - 100 + 10 * n, y + 3 * n); }, drawn);
  await timed("choose in the list", () => page.locator(".node").nth(2).click(), () => chosen.waitFor());
  await facts.picture(page, `${size}-chosen`);
  await audited(page, facts, `graph of ${size}`);
  const name = await page.locator(".node").nth(Math.min(90, size - 4)).innerText();
  await timed("a way", () => page.getByLabel("Way to").fill(name), drawn);
  await page.waitForTimeout(200);
  facts.tell(`way ${size}`, await page.locator(".graph-details").getByText("No way leads there").count() ? 0 : 1);
  await facts.picture(page, `${size}-way`);
  await timed("search", () => page.getByLabel("Find in this picture").pressSequentially("Ada Alder"), () => page.locator(".node", { hasText: "Ada" }).first().waitFor());
  await facts.picture(page, `${size}-search`);
  await page.getByLabel("Find in this picture").fill("");
  await timed("more facts", () => page.locator(".more-facts, .graph-side h2").last().click(), drawn);
  await timed("another day", () => page.locator(".ask-options input[type=date]").first().fill("2020-01-01"), () => page.locator(".empty, .graph").first().waitFor());
  facts.tell(`waits_ms ${size}`, timings.waits);
  facts.tell(`tasks ${size}`, timings.tasks);
  await page.goto(placeOf(size));
  await ready();
  await looked(size);
}

await told(Object.fromEntries([40, 500, 2_000].map((size) => [`of${size}`, () => of(size)])), { facts, page, noted, close });
