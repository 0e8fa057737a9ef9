// Takes pictures of the page for the README: node pictures.mjs ADDRESS OUTDIR NAME…. The address is one that lets a browser in.
import { chromium } from "@playwright/test";

const [address, out, ...names] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1200, height: 640 }, colorScheme: "light", timezoneId: "UTC", locale: "en-GB" });
const views = [
  ["page-resources", "#/", async () => page.locator("tr.row").nth(3).waitFor()],
  [
    "page-resource",
    "#/r/api?tab=updates",
    async () => {
      await page.locator(".updates > li").nth(1).waitFor();
      await page.locator(".line").nth(3).waitFor();
    },
  ],
  ["page-log", "#/log", async () => page.locator(".line").nth(3).waitFor()],
  ["page-graph", "#/graph", async () => page.locator("a.node").nth(2).waitFor()],
  [
    "page-time",
    "#/time",
    async () => {
      await page.locator(".item.update.bad, .item.update.place").last().waitFor();
      await page.getByText("median until running").waitFor();
      await page.getByRole("group", { name: "web", exact: true }).focus();
      await page.keyboard.press("ArrowLeft"); // the save
      await page.keyboard.press("ArrowLeft"); // its update
    },
  ],
  [
    "page-changes",
    "#/plan",
    async () => {
      await page.locator(".step.update").nth(1).waitFor();
      await page.locator(".step.update summary").evaluateAll((all) => all.forEach((s) => (s.parentElement.open = true)));
    },
  ],
  ["page-hone", "#/hone", async () => page.locator(".parts tbody tr").nth(3).waitFor()],
];
await page.goto(address);
for (const [name, hash, shown] of views.filter(([name]) => names.includes(name))) {
  await page.evaluate((h) => (location.hash = h), hash);
  await shown();
  await page.waitForTimeout(400); // the progress and the first second
  await page.screenshot({ path: `${out}/${name}.png`, animations: "disabled" });
  console.log("took", name);
}
await browser.close();
