import { expect, row, test } from "./session";

test.beforeEach(async ({ page, session }) => {
  await page.goto(session.ticket());
  await expect(row(page, "docs")).toBeVisible();
});

test("shows every resource with what it does and why it waits", async ({ page }) => {
  await expect(page).toHaveURL(/^http:\/\/127\.0\.0\.1:\d+\/$/); // without the ticket
  await expect(row(page, "api")).toContainText("ok, local");
  await expect(row(page, "api")).toContainText("pid ");
  await expect(row(page, "api").getByRole("img", { name: "ok", exact: true })).toBeVisible();
  await expect(row(page, "mailer")).toContainText("exit code 3");
  await expect(row(page, "mailer").getByRole("img", { name: "failed" })).toBeVisible();
  await expect(row(page, "e2e")).toContainText("mailer");
  await expect(row(page, "seed")).toContainText("manual");
  await expect(page.locator("tr.group button[aria-expanded]")).toHaveText([/backend/, /frontend/, /no label/]);
  await expect(page).toHaveTitle(/^✖ 1 /);
});

test("is moved through by the screen's keys", async ({ page }) => {
  await page.keyboard.press("j");
  await expect(page.locator("a.resource:focus")).toHaveText("(Tiltfile)");
  await page.keyboard.press("e");
  await expect(page.locator("a.resource:focus")).toHaveText("mailer");
  await page.keyboard.press("k");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toContainText("api");
  await page.keyboard.press("Escape");
  await expect(page.locator("a.resource:focus")).toHaveText("api");
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog")).toContainText("update now");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toBeHidden();
});

test("takes keys as soon as a view is shown", async ({ page }) => {
  // A key that arrives after the view and before the next frame.
  const pressed = await page.evaluate(async () => {
    const turned = new Promise((done) => window.addEventListener("hashchange", done, { once: true }));
    location.hash = "#/r/api";
    await turned;
    await new Promise((done) => setTimeout(done)); // it is rendered after the event
    const shown = document.querySelector("h1")?.textContent;
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
    return { shown, hash: location.hash };
  });
  expect(pressed.shown).toContain("api");
  expect(pressed.hash).toBe("#/");
  await expect(row(page, "api")).toBeVisible();
});

test("filters and orders", async ({ page }) => {
  const names = page.locator("a.resource");
  await page.keyboard.press("/");
  await page.keyboard.type("label:backend !gate");
  await expect(names).toHaveText(["api", "mailer"]);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "1 failed" }).click();
  await expect(names).toHaveText(["mailer"]);
  await page.getByRole("button", { name: "1 failed" }).click();
  await page.getByLabel("order").selectOption("alerts first");
  await expect(names.first()).toHaveText("mailer");
  await page.getByLabel("order").selectOption("by name");
  await expect(names.nth(1)).toHaveText("api");
  await page.reload(); // the order is remembered
  await expect(names.nth(1)).toHaveText("api");
  await page.getByLabel("order").selectOption("by group");
  await page.getByRole("button", { name: /backend/ }).click();
  await expect(row(page, "api")).toBeHidden();
  await page.getByRole("button", { name: /backend/ }).click();
  await expect(row(page, "api")).toBeVisible();
});

test("triggers, disables and enables, and shows the result at once", async ({ page }) => {
  await page.locator('a[data-name="seed"]').focus();
  await page.keyboard.press("t");
  await expect(page.getByText("seed will be updated")).toBeVisible();
  await expect(row(page, "seed")).toContainText("ok, local");
  await page.locator('a[data-name="docs"]').focus();
  await page.keyboard.press("d");
  await expect(row(page, "docs")).toContainText("disabled");
  await page.keyboard.press("d");
  await expect(row(page, "docs")).toContainText("pid ");
  await page.keyboard.press("Z");
  await expect(page.locator(".notice", { hasText: "updates are paused" })).toBeVisible();
  await page.keyboard.press("Z");
  await expect(page.locator(".notice", { hasText: "updates are paused" })).toBeHidden();
});

test("marks, and acts on all that are marked", async ({ page }) => {
  await page.locator('a[data-name="gateway"]').focus();
  await page.keyboard.press("Space");
  await page.keyboard.press("Space"); // it has moved on
  await expect(page.getByRole("toolbar", { name: "marked resources" })).toContainText("2 marked");
  await page.getByRole("checkbox", { name: "mark docs" }).check();
  await page.keyboard.press("t");
  await expect(page.getByText("3 resources will be updated")).toBeVisible();
  const bar = page.getByRole("toolbar", { name: "marked resources" });
  await bar.getByRole("button", { name: "disable", exact: true }).click();
  for (const name of ["gateway", "api", "docs"]) await expect(row(page, name)).toContainText("disabled");
  await bar.getByRole("button", { name: "enable", exact: true }).click();
  for (const name of ["gateway", "api", "docs"]) await expect(row(page, name)).toContainText("pid ");
  await bar.getByRole("button", { name: "trigger mode" }).click();
  await expect(row(page, "docs")).toContainText("manual");
  await bar.getByRole("button", { name: "trigger mode" }).click();
  await expect(row(page, "docs")).not.toContainText("manual");
  await page.keyboard.press("Escape");
  await expect(bar).toBeHidden();
  // A group, and all that is shown.
  await page.locator("tr.group", { hasText: "backend" }).getByRole("button", { name: "mark" }).click();
  await expect(bar).toContainText("3 marked");
  await page.keyboard.press("*");
  await expect(bar).toContainText("10 marked");
  await bar.getByRole("button", { name: "clear" }).click();
});

test("stars come first, also after the page was loaded again", async ({ page }) => {
  await page.locator('a[data-name="web"]').focus();
  await page.keyboard.press("s");
  await expect(page.locator("tr.group button[aria-expanded]").first()).toContainText("starred");
  await page.reload();
  await expect(page.locator("a.resource").nth(1)).toHaveText("web");
  await page.keyboard.press("/");
  await page.keyboard.type("is:starred");
  await expect(page.locator("a.resource")).toHaveText(["web"]);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "star web" }).click();
  await expect(page.locator("tr.group button[aria-expanded]").first()).toContainText("backend");
});
