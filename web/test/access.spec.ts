import AxeBuilder from "@axe-core/playwright";

import { type Page } from "@playwright/test";

import { expect, row, test } from "./session";

// check fails if what a page shows now is not accessible, or is wider than the window.
async function check(page: Page, view: string) {
  const found = await new AxeBuilder({ page }).withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]).analyze();
  expect(
    found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(" ")).slice(0, 3).join(", ")}`),
    view,
  ).toEqual([]);
  const beyond = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(beyond, `${view} is wider than the window`).toBeLessThanOrEqual(0);
}

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of colorScheme === "light" ? [360, 1280] : [1280, 3840]) {
    // Each scheme has one size in the core.
    test.describe(`${colorScheme}, ${width} pixels`, { tag: width === (colorScheme === "light" ? 360 : 1280) ? [] : "@breadth" }, () => {
      test.beforeEach(async ({ page, session }) => {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        await page.goto(session.ticket());
        await expect(row(page, "api")).toBeVisible();
      });

      test("every view is accessible", async ({ page }) => {
        test.setTimeout(120_000); // it examines every view: 37 to 52 seconds on two cores
        await check(page, "overview");
        for (const [hash, shown] of [
          ["#/r/mailer", "log of mailer"],
          ["#/r/api", "log of api"],
          ["#/log", "log of all"],
        ] as const) {
          await page.evaluate((h) => (location.hash = h), hash);
          await expect(page.getByRole("region", { name: shown, exact: true })).toBeVisible();
          await expect(page.locator(".line").first()).toBeVisible();
          await check(page, hash);
        }
        await page.evaluate(() => (location.hash = "#/r/api"));
        for (const tab of ["process", "ports", "definition"]) {
          await page.getByRole("tab", { name: tab }).click();
          await check(page, tab);
        }
        await page.evaluate(() => (location.hash = "#/r/(Tiltfile)"));
        await page.getByRole("tab", { name: "files and arguments" }).click();
        await check(page, "the Tiltfile");
        for (const [hash, shown] of [
          ["#/graph", "a.node"],
          ["#/time", ".item.update.bad"],
          ["#/start", ".span.work"],
          ["#/tests", ".empty"],
          ["#/hone", ".parts tbody tr"],
          ["#/plan", ".step, .card, .empty"],
          ["#/revisions", ".empty"],
        ] as const) {
          await page.evaluate((h) => (location.hash = h), hash);
          await expect(page.locator(shown).first()).toBeVisible();
          await check(page, hash);
        }
      });

      test("what opens in a view is accessible", async ({ page }) => {
        await page.keyboard.press("?");
        await expect(page.getByRole("dialog")).toBeVisible();
        await check(page, "help");
        await page.keyboard.press("Escape");
        await page.evaluate(() => (location.hash = "#/log"));
        await expect(page.locator(".line").first()).toBeVisible();
        await page.locator(".line").first().click();
        await expect(page.getByRole("region", { name: "the chosen line" })).toBeVisible();
        await check(page, "a chosen line");
        await page.evaluate(() => (location.hash = "#/r/(Tiltfile)"));
        await expect(page.getByRole("tab", { name: "files and arguments" })).toBeVisible();
        await page.keyboard.press("A");
        await expect(page.getByRole("dialog")).toBeVisible();
        await check(page, "arguments");
        await page.keyboard.press("Escape");
        await page.keyboard.press("Control+k");
        await expect(page.getByRole("listbox")).toBeVisible();
        await check(page, "palette");
        await page.keyboard.press("Escape");
        await page.evaluate(() => (location.hash = "#/time"));
        await page.locator(".item.update.bad").last().click();
        await check(page, "details of the time line");
        await page.evaluate(() => (location.hash = "#/r/docs"));
        await page.getByRole("button", { name: "do again" }).click();
        await check(page, "inputs of a button");
        await page.keyboard.press("Escape");
        await page.evaluate(() => (location.hash = "#/"));
        await page.keyboard.press("j");
        await page.keyboard.press("j");
        await page.keyboard.press("Space");
        await check(page, "marked");
      });
    });
  }
}
