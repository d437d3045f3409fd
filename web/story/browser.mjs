/** A headless Chromium with what it does watched: requests elsewhere, policy violations, errors. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

export async function openBrowser(executablePath, locale = "en-GB") {
  const folder = mkdtempSync(join(tmpdir(), "recollect-page-"));
  const browser = await chromium.launchPersistentContext(folder, {
    executablePath, headless: true, args: [...FLAGS, `--lang=${locale}`], viewport: { width: 1360, height: 860 }, locale,
    timezoneId: "UTC", bypassCSP: false, reducedMotion: "reduce",
  });
  return { browser, close: async () => { await browser.close(); rmSync(folder, { recursive: true, force: true }); } };
}

/** Watch a page: what it notes grows while the page is used. */
export async function watched(browser, base) {
  const page = await browser.newPage();
  const noted = { elsewhere: [], violations: [], errors: [] };
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(base) && !url.startsWith("data:") && !url.startsWith("blob:")) noted.elsewhere.push(url);
  });
  page.on("pageerror", (error) => noted.errors.push(`uncaught: ${error}`));
  page.on("console", (message) => {
    const text = message.text();
    if (/Content Security Policy/i.test(text)) noted.violations.push(text);
    else if (message.type() === "error" && !/Failed to load resource/.test(text)) noted.errors.push(text);
  });
  await page.addInitScript(() => {
    window.violations = [];
    addEventListener("securitypolicyviolation", (event) => window.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
  });
  page.setDefaultTimeout(40_000);
  return { page, noted };
}
