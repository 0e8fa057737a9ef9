// The graph, the time line, and hone's own parts.
import { expect, row, test } from "./session";

test.beforeEach(async ({ page, session }) => {
  await page.goto(session.ticket());
  await expect(row(page, "docs")).toBeVisible();
});

test("draws dependencies with their state, and says why something waits", async ({ page }) => {
  await page.keyboard.press("D");
  const node = (name: string) => page.locator(`a.node[data-name="${name}"]`);
  await expect(node("e2e")).toContainText("waits for mailer");
  await expect(node("mailer")).toContainText("exit code 3");
  await expect(node("mailer").getByRole("img", { name: "failed" })).toBeVisible();
  await expect(page.locator(".edge.waits")).toHaveCount(1);
  await expect(page.getByRole("region", { name: "without dependencies" }).locator("a.node")).toContainText(["gateway", "api"]);
  // e2e stands to the right of what it needs, and the arrow keys go there.
  const box = async (name: string) => (await node(name).boundingBox()) ?? { x: 0, y: 0 };
  expect((await box("e2e")).x).toBeGreaterThan((await box("mailer")).x);
  await node("mailer").focus();
  await page.keyboard.press("ArrowRight");
  await expect(node("e2e")).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toContainText("e2e");
  await page.keyboard.press("D");
  await page.keyboard.press("Escape");
  await expect(row(page, "docs")).toBeVisible();
});

test("shows what happened and how long saves took", async ({ page, session }) => {
  await page.keyboard.press("H");
  const lane = (name: string) => page.getByRole("group", { name, exact: true });
  await expect(lane("mailer").locator(".item.update.bad")).not.toHaveCount(0);
  await expect(lane("e2e").locator(".item.hold")).not.toHaveCount(0);
  const updates = lane("saved").locator(".item.update");
  await expect(updates).toHaveCount(1);
  session.write("saved.txt", "second\n");
  const waits = page.getByRole("region", { name: "how long saves took" });
  await expect(waits).toContainText(/saves\s*1/);
  await expect(waits).toContainText(/median until running\s*[\d.]+ m?s/);
  await page.getByRole("button", { name: "10 min" }).click();
  await expect(lane("saved").getByRole("img", { name: "1 file saved" })).not.toHaveCount(0);
  await page.keyboard.press("-");
  await page.keyboard.press("0");
  await expect(page.getByRole("button", { name: "all", exact: true })).toHaveAttribute("aria-pressed", "true");
  await page.getByText("by resource").click();
  await expect(waits.getByRole("row", { name: /^saved 1 0/ })).toBeVisible();
  // A click shows what it was, and leads to the update and its log.
  await page.getByRole("button", { name: "1 min" }).click();
  await page.getByRole("button", { name: "follow" }).click(); // so that it stands still
  await lane("saved").locator(".item.update").last().click();
  const details = page.getByRole("region", { name: "details" });
  await expect(details).toContainText("saved.txt");
  await expect(details.locator(".stage-name")).toHaveText(["run"]);
  await details.getByRole("link", { name: "update and log" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("saved");
  await expect(page.locator(".updates > li.chosen")).toContainText("saved.txt");
  await expect(page.getByRole("button", { name: "one update" })).toBeVisible();
  await expect(page.locator(".line .text", { hasText: "second" })).toBeVisible();
  await expect(page.locator(".line .text", { hasText: "first" })).toHaveCount(0);
});

test("follows what happens on the time line, also after a cut", async ({ page, session }) => {
  await page.evaluate(() => (location.hash = "#/time"));
  const updates = page.getByRole("group", { name: "seed", exact: true }).locator(".item.update");
  const marks = page.getByRole("group", { name: "seed", exact: true }).locator(".item.mark");
  const before = await updates.count();
  await page.getByRole("button", { name: "5 s" }).click();
  session.hone("trigger", "seed");
  await expect(marks).not.toHaveCount(0);
  await expect(updates).not.toHaveCount(0);
  expect(before).toBeLessThan(3);
});

test("shows where the time of the start went", async ({ page }) => {
  await page.evaluate(() => (location.hash = "#/time"));
  await page.getByRole("link", { name: "start" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("The start");
  await expect(page.getByRole("main").getByRole("status")).toHaveText(/ for [0-9]+ resources$/);
  const bars = page.getByRole("region", { name: "bars of the resources" });
  await expect(bars.getByRole("link", { name: "api", exact: true })).toBeVisible();
  await expect(bars.getByRole("img", { name: /^run/ }).first()).toBeVisible();
  await expect(page.getByRole("region", { name: "critical path" }).getByRole("listitem")).not.toHaveCount(0);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Time line");
});

test("shows hone's own parts with their wake-ups and batch times", async ({ page }) => {
  await page.evaluate(() => (location.hash = "#/hone"));
  const builder = page.getByRole("row", { name: /^BuildController running/ });
  await expect(builder).toBeVisible();
  const wakes = async () => Number((await builder.getByRole("cell").nth(1).textContent())?.replace(/,/g, ""));
  const before = await wakes();
  await page.evaluate(() => void fetch("/api/trigger", { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"manifest_names":["seed"]}' }));
  await expect.poll(wakes).toBeGreaterThan(before);
  await expect(page.getByRole("table", { name: "how long batches take" })).toContainText("to 0.1 ms");
  await expect(page.getByRole("region", { name: "the loop" })).toContainText("slowest");
  await page.getByRole("button", { name: "PodWatcher" }).click();
  await expect(page.locator(".wire.on")).not.toHaveCount(0);
  await page.getByRole("button", { name: "part" }).click();
  await expect(page.locator(".parts tbody th").first()).toHaveText("BuildController");
});
