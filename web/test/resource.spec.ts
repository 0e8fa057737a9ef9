import { expect, Session, test } from "./session";

test("shows a failure beside its log, and its end", async ({ page }) => {
  const session = new Session(`
local_resource('mailer', cmd='echo connecting; test -f fixed || { echo "no such host: smtp" >&2; exit 3; }')
local_resource('e2e', cmd='echo tested', resource_deps=['mailer'])
`);
  try {
    await session.start();
    await page.goto(session.ticket("mailer"));
    await expect(page).toHaveURL(/#\/r\/mailer$/);
    await expect(page.getByRole("region", { name: "error" })).toContainText("exit code 3");
    await expect(page.getByRole("region", { name: "error" })).toContainText("no such host: smtp");
    await expect(page.locator(".line.error")).toContainText("Build Failed");
    await expect(page.locator(".updates > li")).toHaveCount(1);
    session.write("fixed", "");
    await page.getByRole("button", { name: "update now" }).click();
    await expect(page.locator(".updates > li")).toHaveCount(2);
    await expect(page.locator(".updates > li").first()).toContainText("ok, local");
    await expect(page.locator(".updates > li").first()).toContainText("triggered");
    await expect(page.locator(".updates .stage-name").first()).toContainText("run");
    await expect(page.getByRole("region", { name: "error" })).toBeHidden();
    await expect(page.getByRole("link", { name: "e2e" })).toBeVisible();

    await page.locator(".updates > li").last().getByRole("button", { name: "log" }).click();
    await expect(page.locator(".foot")).toContainText(/^\d lines/);
    await expect(page.locator(".line .text", { hasText: "Build Failed" })).toBeVisible();
    await page.keyboard.press("]"); // the next update
    await expect(page.locator(".line .text", { hasText: "Build Failed" })).toHaveCount(0);
    await page.getByRole("button", { name: "one update" }).click();
    await expect(page.locator(".line .text", { hasText: "Build Failed" })).toBeVisible();
  } finally {
    await session.close();
  }
});

test("has tabs for what runs and for its definition", async ({ page, session }) => {
  await page.goto(session.ticket("api"));
  await page.getByRole("tab", { name: "process" }).click();
  await expect(page.getByRole("tabpanel")).toContainText("running, pid");
  await expect(page.getByRole("tabpanel")).toContainText("exec sleep 100000");
  await page.keyboard.press("ArrowRight");
  await expect(page.getByRole("tab", { name: "ports" })).toBeFocused();
  await page.keyboard.press("ArrowRight");
  await expect(page.getByRole("tab", { name: "definition" })).toBeFocused();
  await expect(page.getByRole("tabpanel")).toContainText("Tiltfile:6");
  await expect(page.getByRole("tabpanel").locator("pre")).toContainText("local_resource(name");
  await expect(page.getByRole("link", { name: "localhost:3999/api" })).toHaveAttribute("rel", "noreferrer noopener");
});

test("lists the updates of earlier sessions below its own", async ({ page }) => {
  const session = new Session("local_resource('saved', cmd='cat saved.txt', deps=['saved.txt'])", { "saved.txt": "one" });
  try {
    await session.start();
    await session.until(() => session.hone("get", "updates", "saved", "-o", "jsonpath={.entry.succeeded}") === "true");
    session.write("saved.txt", "two");
    await session.until(() => session.hone("get", "updates", "saved", "-o", "jsonpath={.entry.serial}") === "2" && session.hone("get", "uiresource", "saved", "-o", "jsonpath={.status.updateStatus}") === "ok");
    await session.stop();
    await session.start();
    await page.goto(session.ticket("saved"));
    const earlier = page.getByRole("region", { name: "updates of earlier sessions" }).locator(".updates > li");
    await expect(earlier).toHaveCount(2);
    await expect(earlier.first()).toContainText(/#2.*saved\.txt/);
    await expect(page.locator(".updates").first().locator("> li")).toHaveCount(1);
  } finally {
    await session.close();
  }
});

test("says when there is no such resource", async ({ page, session }) => {
  await page.goto(session.ticket());
  await page.evaluate(() => (location.hash = "#/r/nothing"));
  await expect(page.getByRole("heading", { name: /No resource is called/ })).toBeVisible();
});
