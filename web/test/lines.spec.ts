// What can be done with single lines of a log.
import { readFileSync } from "node:fs";

import { expect, test } from "./session";

test.use({ permissions: ["clipboard-read", "clipboard-write"] });

const clipboard = (page: import("@playwright/test").Page) => page.evaluate(() => navigator.clipboard.readText());

test("lines of JSON can be read, and unfolded", async ({ page, session }) => {
  await page.goto(session.ticket("ticks"));
  const tick = page.locator(".line .text", { hasText: /^tick n=2 user=/ });
  await expect(page.locator(".line .text", { hasText: /^tick n=/ }).first()).toBeVisible();
  await expect(async () => {
    await page.locator(".lines").evaluate((el) => (el.scrollTop = 0)); // the first lines arrive at the end, and move it there
    await expect(tick).toHaveText('tick n=2 user={"id":7,"name":"ada"}', { timeout: 1000 });
  }).toPass();
  await page.keyboard.press("J");
  await expect(page.locator(".line .text", { hasText: '"n":2,' })).toContainText('{"level":"info","msg":"tick","n":2');
  await page.keyboard.press("J");
  await tick.click();
  const chosen = page.getByRole("region", { name: "the chosen line" });
  await expect(chosen).toContainText("n 2");
  await expect(chosen.getByText("user 2 fields")).toBeVisible();
  await chosen.getByText("user 2 fields").click();
  await expect(chosen.getByText('"ada"')).toBeHidden();
  await chosen.getByRole("button", { name: "copy line" }).click();
  expect(await clipboard(page)).toContain('"n":2,"user"');
});

test("a link leads to a line", async ({ page, session, context }) => {
  await page.goto(session.ticket("gateway"));
  await page.locator(".line", { hasText: "building gateway" }).last().click();
  await page.getByRole("button", { name: "copy link" }).click();
  await expect(page.getByText("a link to the line copied")).toBeVisible();
  const link = await clipboard(page);
  expect(link).toMatch(/#\/r\/gateway\?line=\d+$/);
  const other = await context.newPage(); // of the same browser: it has the cookie
  await other.goto(link);
  await expect(other.locator(".line.current")).toContainText("building gateway");
  await expect(other.getByRole("region", { name: "the chosen line" })).toBeVisible();
  await other.close();
});

test("the log can be copied, downloaded and cleared", async ({ page, session }) => {
  await page.goto(session.ticket("api"));
  await expect(page.locator(".line .text", { hasText: /^ready\s*$/ })).toBeVisible();
  await page.getByLabel(/^show only lines/).fill("building");
  await expect(page.locator(".line .text", { hasText: /^ready\s*$/ })).toHaveCount(0);
  await page.getByRole("button", { name: "copy", exact: true }).click();
  await expect(page.getByText(/lines? copied/)).toBeVisible();
  expect(await clipboard(page)).toMatch(/^api │ .*building api/);
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "download" }).click();
  const file = await download;
  expect(file.suggestedFilename()).toBe("api.log");
  const text = readFileSync(await file.path(), "utf8");
  expect(text).toContain("building api");
  expect(text).not.toContain("│ ready");
  await page.getByLabel(/^show only lines/).fill("");
  await expect(page.locator(".line .text", { hasText: /^ready\s*$/ })).toBeVisible();

  await page.getByRole("button", { name: "clear", exact: true }).click();
  await expect(page.locator(".foot")).toContainText("0 lines, older ones are hidden");
  session.hone("trigger", "api");
  await expect(page.locator(".line", { hasText: "building api" })).toHaveCount(2); // the command, and what it prints
  await page.getByRole("button", { name: "show all again" }).click();
  await expect(page.locator(".foot")).not.toContainText("hidden");
  await page.locator(".line .text", { hasText: /^ready\s*$/ }).first().click();
  await page.getByRole("button", { name: "clear up to here" }).click();
  await expect(page.locator(".line").first()).not.toContainText("Initial Build");
  await page.getByRole("button", { name: "show all again" }).click();
});

test("shows the log of a group", async ({ page, session }) => {
  await page.goto(session.ticket());
  await page.locator("tr.group", { hasText: "backend" }).getByRole("link", { name: "log" }).click();
  await expect(page.getByRole("heading", { name: "log of backend" }).first()).toBeVisible();
  await expect(page.locator(".line .name", { hasText: "mailer" }).first()).toBeVisible();
  await page.getByLabel(/^show only lines/).fill("/^ready$/");
  await expect(page.locator(".line .name", { hasText: "gateway" })).not.toHaveCount(0);
  await expect(page.locator(".line .name", { hasText: "api" })).not.toHaveCount(0);
  await expect(page.locator(".line .name", { hasNotText: /gateway|api/ })).toHaveCount(0);
});
