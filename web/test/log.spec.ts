import { expect, row, test } from "./session";

test("shows a long log of which only what is visible is in the page, as text", async ({ page, session }) => {
  await page.goto(session.ticket("flood"));
  await page.getByRole("button", { name: "update now" }).click();
  const lines = page.locator(".line");
  const foot = page.locator(".foot");
  await expect(foot).toContainText("20,004 lines");
  await expect(lines.last()).toContainText("done");
  expect(await lines.count()).toBeLessThan(120);

  await test.step("what programs print stays text", async () => {
    const text = lines.filter({ hasText: "red plain" });
    await expect(text.locator(".text")).toHaveText("red plain <script>alert(1)</script> http://localhost:3999/x?y=<z>");
    await expect(text.locator(".fg-red")).toHaveText("red");
    await expect(text.getByRole("link")).toHaveAttribute("href", "http://localhost:3999/x?y=");
    await expect(page.locator(".lines img, .lines b, .lines script")).toHaveCount(0);
    await expect(lines.last().locator(".text")).toHaveText("click  done");
    await expect(page.locator('a[href^="javascript"]')).toHaveCount(0);
    await expect(page).toHaveTitle(/flood/);
  });

  await test.step("only who goes up leaves the end: it may move on before the page hears that it was reached", async () => {
    const box = page.locator(".lines");
    await box.evaluate((el) => {
      (el.querySelector(".all") as HTMLElement).style.height = `${el.scrollHeight + 1000}px`;
      el.dispatchEvent(new Event("scroll"));
    });
    await expect(foot.getByRole("button")).toHaveCount(0);
    await box.evaluate((el) => (el.scrollTop -= 2000));
    await expect(foot.getByRole("button")).toHaveCount(1);
    await foot.getByRole("button").click();
    await expect(foot.getByRole("button")).toHaveCount(0);
    await expect(lines.last()).toContainText("done");
  });

  await test.step("the whole history can be scrolled through", async () => {
    const box = page.locator(".lines");
    await box.evaluate((el) => (el.scrollTop = 0));
    await expect(page.locator(".line", { hasText: /line 1 </ })).toBeVisible();
    await box.evaluate((el) => (el.scrollTop = el.scrollHeight / 2));
    await expect(page.locator(".line", { hasText: /line 100\d\d </ }).first()).toBeVisible();
    await expect(page.locator(".line.missing")).toHaveCount(0);
    const shown = await page.locator(".line").evaluateAll((all) => all.map((el) => Number((el as HTMLElement).dataset.at)));
    expect(shown).toEqual(shown.map((_, i) => (shown[0] ?? 0) + i));
  });

  await test.step("following pauses, and goes on", async () => {
    const before = await page.locator(".lines").evaluate((el) => el.scrollTop);
    session.hone("trigger", "flood");
    await expect(foot).toContainText("40,0");
    expect(await page.locator(".lines").evaluate((el) => el.scrollTop)).toBe(before);
    await page.getByRole("button", { name: /new lines ↓/ }).click();
    await expect(lines.last()).toContainText("done");
    await expect(foot.getByRole("button")).toHaveCount(0);
  });

  await test.step("find", async () => {
    await page.keyboard.press("f");
    await page.keyboard.type("line 12345 ");
    await page.keyboard.press("Enter");
    await expect(page.getByText("2 of 2")).toBeVisible();
    await expect(page.locator(".line.current mark")).toHaveText("line 12345 ");
    await page.keyboard.press("Escape");
    await page.getByLabel(/^find in the log/).fill("/^line 777. /");
    await page.keyboard.press("Enter");
    await expect(page.getByText("20 of 20")).toBeVisible();
    await page.locator(".lines").focus();
    await page.keyboard.press("N");
    await expect(page.getByText("19 of 20")).toBeVisible();
    await page.keyboard.press("n");
    await page.keyboard.press("n");
    await expect(page.getByText("1 of 20", { exact: true })).toBeVisible();
    await page.getByLabel(/^find in the log/).fill("/(/");
    await page.keyboard.press("Enter");
    await expect(page.getByText(/missing closing/)).toBeVisible();
    await page.getByLabel(/^find in the log/).fill("");
  });

  await test.step("filter", async () => {
    const filter = page.getByLabel(/^show only lines/);
    await filter.fill('"LINE 19999 "');
    await expect(foot).toContainText(/^2 lines/);
    await expect(lines.first()).toContainText("line 19999 <b>");
    await filter.fill("<b> line source:build !/19999 /"); // as on the screen
    await expect(foot).not.toContainText(/^[02] lines/);
    await filter.fill("level:loud");
    await expect(page.getByText('no level is called "loud"')).toBeVisible();
    await filter.fill("");
    await page.getByRole("button", { name: "error", exact: true }).click();
    await expect(foot).toContainText(/^0 lines/);
    await page.getByRole("button", { name: "any level" }).click();
    await page.getByRole("button", { name: "runtime", exact: true }).click();
    await expect(foot).toContainText(/^0 lines/);
  });
});

test("shows the lines of all resources with their names", async ({ page, session }) => {
  await page.goto(session.ticket());
  await expect(row(page, "api")).toBeVisible();
  await page.keyboard.press("a");
  await page.getByLabel(/^show only lines/).fill("/^ready$/");
  for (const name of ["gateway", "api", "web", "docs"]) await expect(page.locator(".line .name", { hasText: name })).not.toHaveCount(0);
  await expect(page.locator(".line .name", { hasNotText: /gateway|api|web|docs/ })).toHaveCount(0);
  await page.locator(".line .name", { hasText: "gateway" }).first().click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("gateway");
});

test("shows the beginning of a short log whose lines are wrapped", async ({ page, session }) => {
  await page.setViewportSize({ width: 360, height: 500 });
  await page.goto(session.ticket("mailer"));
  const lines = page.locator(".line");
  await expect(lines.first()).toContainText("Initial Build");
  await expect(lines.last()).toBeVisible();
  await page.locator(".lines").evaluate((el) => (el.scrollTop = 0));
  const above = await page.locator(".lines").evaluate((el) => (el.querySelector(".line")?.getBoundingClientRect().top ?? -1e6) - el.getBoundingClientRect().top);
  expect(above).toBeGreaterThanOrEqual(0);
});
