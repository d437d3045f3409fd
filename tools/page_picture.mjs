/** Take a picture of the page: node page_picture.mjs ADDRESS PLACE FILE CHROMIUM. */

import { createRequire } from "node:module";

const { chromium } = createRequire(new URL("../web/package.json", import.meta.url))("playwright-core");
const [address, place, file, executablePath] = process.argv.slice(2);

const browser = await chromium.launch({ executablePath, headless: true, args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, locale: "en-GB", timezoneId: "UTC", reducedMotion: "reduce" });
await page.goto(address);
await page.locator("main").waitFor();
if (place) await page.evaluate((to) => (location.hash = to), place);
// The stream of changes keeps the network busy, so that its rest is nothing to wait for.
await page.waitForTimeout(3_000);
await page.screenshot({ path: file });
await browser.close();
