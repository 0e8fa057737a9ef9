import { spawn } from "node:child_process";

import { expect, row, test } from "./session";

test("shows a snapshot, in which nothing can be changed", async ({ page, session }) => {
  await expect.poll(() => session.hone("get", "uiresource", "mailer", "-o", "name")).toContain("mailer");
  session.hone("snapshot", "create", "snapshot.json");
  const viewer = spawn(session.binary, ["snapshot", "view", "--web", "--no-open", "snapshot.json"], { cwd: session.dir, stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((done) => viewer.once("exit", done));
  try {
    const address = await new Promise<string>((done) => viewer.stdout.once("data", (b: Buffer) => done(b.toString().trim())));
    await page.goto(address);
    await expect(page.getByText("A snapshot:")).toBeVisible();
    await expect(row(page, "mailer")).toContainText("exit code 3");
    await expect(page.getByRole("button", { name: "pause" })).toHaveCount(0);
    await expect(page.getByRole("button", { name: /^update/ })).toHaveCount(0);
    await expect(page.getByRole("button", { name: "clear caches" })).toHaveCount(0);
    await page.locator('a[data-name="mailer"]').focus();
    await page.keyboard.press("t"); // does nothing
    await page.keyboard.press("?");
    await expect(page.getByRole("dialog")).not.toContainText("update now");
    await page.keyboard.press("Escape");
    await row(page, "mailer").locator("a.resource").click();
    await expect(page.locator(".line", { hasText: "no such host: smtp" }).first()).toBeVisible();
    await expect(page.getByRole("button", { name: "update now" })).toHaveCount(0);
    await page.evaluate(() => (location.hash = "#/time"));
    await expect(page.getByRole("group", { name: "mailer", exact: true }).locator(".item.update.bad")).not.toHaveCount(0);
    await page.evaluate(() => (location.hash = "#/graph"));
    await expect(page.locator('a.node[data-name="e2e"]')).toContainText("waits for mailer");
    const answers = await page.evaluate(() =>
      Promise.all(["trigger", "stop", "click", "switch", "prune", "ticket"].map((path) => fetch(`/api/${path}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" }).then((r) => r.status))),
    );
    expect(answers).toEqual([409, 409, 409, 409, 409, 409]);
    expect((await page.request.get(`${new URL(address).origin}/apis`)).status()).toBe(404);
  } finally {
    viewer.kill("SIGINT");
    await ended;
  }
  expect(viewer.exitCode).toBe(0);
});
