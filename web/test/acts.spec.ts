// Everything that a screen can do, done as a user of the page does it.
import { expect, row, Session, test } from "./session";

test.beforeEach(async ({ page, session }) => {
  await page.goto(session.ticket());
  await expect(row(page, "docs")).toBeVisible();
});

test("the palette goes to resources and does what keys do", async ({ page }) => {
  await page.keyboard.press("Control+k");
  await page.keyboard.type("gatew"); // right after the key that opens it: no letter is lost
  await expect(page.getByRole("combobox", { name: "resource or command" })).toHaveValue("gatew");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toContainText("gateway");
  await page.getByLabel("find in the log").focus();
  await page.keyboard.press("Control+k"); // from an input, too
  await page.keyboard.type("restart the proc");
  await expect(page.getByRole("option").first()).toContainText("restart the process");
  await expect(page.getByRole("option").first().locator("kbd")).toHaveText("r");
  await page.keyboard.press("Enter");
  await expect(page.getByText("gateway is restarted")).toBeVisible();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("do again");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog")).toContainText("whose");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("zzzz");
  await expect(page.getByRole("dialog")).toContainText("Nothing is called that");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toBeHidden();
});

test("a button asks for its inputs", async ({ page }) => {
  await page.locator('a[data-name="docs"]').click();
  await page.getByRole("button", { name: "do again" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByLabel("whose")).toHaveValue("ada");
  await dialog.getByLabel("whose").fill("grace");
  await dialog.getByLabel("SIZE").selectOption("large");
  await dialog.getByLabel("DRY").check();
  await dialog.getByRole("button", { name: "do again" }).click();
  await expect(dialog).toBeHidden();
  await expect(page.locator(".line", { hasText: "again: grace large dry" })).toBeVisible();
});

test("a button that wants a confirmation asks for it", async ({ page, session }) => {
  const clicks = () => (JSON.parse(session.hone("dump", "webview")) as { buttons: { name: string; clicks: number }[] }).buttons.find((b) => b.name === "everything")?.clicks;
  await page.getByRole("button", { name: "clear caches" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "cancel" }).click();
  expect(clicks()).toBe(0);
  await page.getByRole("button", { name: "clear caches" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "clear caches" }).click();
  await expect.poll(clicks).toBe(1);
});

test("the arguments of the Tiltfile can be changed", async ({ page }) => {
  await page.keyboard.press("A");
  await page.getByLabel("One argument in each line").fill("--only=a b\n--only=c");
  await page.getByRole("dialog").getByRole("button", { name: "evaluate" }).click();
  await expect(page.getByRole("dialog")).toBeHidden();
  await page.evaluate(() => (location.hash = "#/r/(Tiltfile)"));
  await page.getByRole("tab", { name: "files and arguments" }).click();
  await expect(page.getByRole("tabpanel")).toContainText("--only=a b --only=c");
  await expect(page.getByRole("tabpanel")).toContainText("Tiltfile");
  await page.getByRole("tabpanel").getByRole("button", { name: "change" }).click();
  await page.getByLabel("One argument in each line").fill("");
  await page.getByRole("dialog").getByRole("button", { name: "evaluate" }).click();
  await expect(page.getByRole("dialog")).toBeHidden();
  await expect(page.getByRole("tabpanel")).toContainText("none");
  // What the session refuses is said, and what was typed is still there.
  await page.keyboard.press("A");
  await page.getByLabel("One argument in each line").fill("--nothing=1");
  await page.getByRole("dialog").getByRole("button", { name: "evaluate" }).click();
  await expect(page.getByRole("dialog")).toBeHidden();
  await page.getByRole("tab", { name: "evaluations" }).click();
  await expect(page.getByRole("region", { name: "error" })).toContainText("nothing");
  await page.keyboard.press("A");
  await page.getByLabel("One argument in each line").fill("");
  await page.getByRole("dialog").getByRole("button", { name: "evaluate" }).click();
  await expect(page.getByRole("region", { name: "error" })).toBeHidden();
});

test("the mode of a resource can be changed, and pods need to exist", async ({ page }) => {
  await page.locator('a[data-name="docs"]').click();
  await page.keyboard.press("m");
  await expect(page.getByText("updated on request only", { exact: true })).toBeVisible();
  await page.getByRole("button", { name: "manual" }).click();
  await expect(page.getByText("updated on request only", { exact: true })).toBeHidden();
  await page.keyboard.press("R");
  await expect(page.getByText("docs has no pods")).toBeVisible();
  await page.keyboard.press("p");
  await expect(page.getByRole("tabpanel")).toContainText("its ports need no forward");
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog")).toContainText("port forwards: add, change, remove");
  await page.keyboard.press("Escape");
});

test("says an error of the Tiltfile with its place and the line", async ({ page, session }) => {
  const good = session.read("Tiltfile");
  session.write("Tiltfile", `${good}\nlocal_resourc('x')\n`);
  try {
    await expect(row(page, "(Tiltfile)").getByRole("img", { name: "failed" })).toBeVisible();
    await page.locator('a[data-name="(Tiltfile)"]').click();
    const line = good.split("\n").length + 1;
    await expect(page.getByRole("region", { name: "error" })).toContainText(`Tiltfile:${line}`);
    await expect(page.getByRole("region", { name: "error" })).toContainText("local_resourc('x')");
    await expect(page.getByRole("region", { name: "error" })).toContainText("did you mean local_resource?");
  } finally {
    session.write("Tiltfile", good);
  }
  await expect(page.getByRole("region", { name: "error" })).toBeHidden();
});

test("stops the session", async ({ page }) => {
  const session = new Session("local_resource('a', cmd='true')");
  try {
    await session.start();
    await page.goto(session.ticket());
    await expect(row(page, "a")).toBeVisible();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("stop the session");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "stop" }).click();
    await expect(page.getByRole("alert")).toContainText(/session is ending|connection to the session is lost/);
    await session.ended();
  } finally {
    await session.close();
  }
});
