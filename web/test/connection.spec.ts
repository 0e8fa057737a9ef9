import { Cable, expect, row, Session, test } from "./session";

const tiltfile = `
local_resource('count', serve_cmd='i=0; while true; do i=$((i+1)); echo "n$i"; sleep 0.05; done')
local_resource('other', cmd='true')
`;

test("says at once that the connection is lost, and goes on where it was", async ({ page }) => {
  const session = new Session(tiltfile);
  await session.start();
  const cable = new Cable(session.port);
  try {
    const port = await cable.open();
    const ticket = new URL(session.ticket("count"));
    ticket.port = String(port);
    await page.goto(ticket.href);
    await expect(page.locator(".line", { hasText: "n5" }).first()).toBeVisible();
    await page.evaluate(() => ((window as { same?: boolean }).same = true));
    cable.cut();
    await expect(page.getByRole("alert")).toContainText("The connection to the session is lost");
    session.write("Tiltfile", tiltfile.replace("'other'", "'renamed'"));
    await expect.poll(() => session.hone("get", "resources")).toContain("renamed");
    cable.mend();
    await expect(page.getByRole("alert")).toBeEmpty();
    await expect(page.locator(".foot button")).toHaveCount(0);
    const last = Number(/n(\d+)\s*$/.exec(session.hone("logs", "count", "--tail", "1"))?.[1]);
    await expect(page.locator(".line", { hasText: new RegExp(`n${last + 20}\\b`) })).toBeVisible();
    const numbers = await page.locator(".line .text").evaluateAll((all) => all.flatMap((el) => /^n(\d+)$/.exec(el.textContent?.trim() ?? "")?.[1] ?? []).map(Number));
    expect(numbers.length).toBeGreaterThan(20);
    expect(numbers).toEqual(numbers.map((_, i) => (numbers[0] ?? 0) + i)); // none is lost, none is doubled
    await page.keyboard.press("Escape");
    await expect(row(page, "renamed")).toBeVisible();
    await expect(row(page, "other")).toHaveCount(0);
    expect(await page.evaluate(() => (window as { same?: boolean }).same)).toBe(true);
  } finally {
    cable.close();
    await session.close();
  }
});

test("says when its session has ended, and lets no later session in by its cookie", async ({ page }) => {
  const session = new Session("local_resource('a', cmd='true')");
  await session.start();
  try {
    const port = session.port;
    await page.goto(session.ticket());
    await expect(row(page, "a")).toBeVisible();
    await session.stop();
    await expect(page.getByRole("alert")).toContainText("connection to the session is lost");
    await session.start(port);
    await expect(page.getByRole("alert")).toContainText("a session that has ended");
    await page.reload();
    await expect(page.getByText("hone open")).toBeVisible();
    await page.goto(session.ticket());
    await expect(row(page, "a")).toBeVisible();
  } finally {
    await session.close();
  }
});

test("any number of tabs can be open at once", { tag: "@breadth" }, async ({ page, context }) => {
  const session = new Session(tiltfile);
  await session.start();
  try {
    await page.goto(session.ticket("count"));
    const pages = [page];
    for (let i = 0; i < 7; i++) {
      // More than a browser opens connections to one server.
      const other = await context.newPage();
      await other.goto(`http://127.0.0.1:${session.port}/#/r/count`);
      pages.push(other);
    }
    const eighth = pages[7] ?? page;
    await eighth.evaluate(() => (location.hash = "#/time"));
    await expect(eighth.getByRole("group", { name: "count", exact: true }).locator(".item")).not.toHaveCount(0);
    session.hone("disable", "other");
    const last = Number(/n(\d+)\s*$/.exec(session.hone("logs", "count", "--tail", "1"))?.[1]);
    for (const one of pages.slice(0, 7)) {
      await expect(one.locator(".line", { hasText: new RegExp(`n${last + 5}\\b`) })).toBeVisible();
      await one.evaluate(() => (location.hash = "#/"));
      await expect(row(one, "other")).toContainText("disabled");
    }
    // A tab that is closed makes room.
    await page.close();
    session.hone("enable", "other");
    for (const one of pages.slice(1, 7)) await expect(row(one, "other")).toContainText("ok");
  } finally {
    await session.close();
  }
});

test("a hidden page sends no requests, and is up to date once it is visible again", async ({ page }) => {
  const session = new Session(tiltfile);
  await session.start();
  try {
    await page.goto(session.ticket("count"));
    await expect(page.locator(".line", { hasText: "n5" }).first()).toBeVisible();
    const see = (hidden: boolean) =>
      page.evaluate((hidden) => {
        Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      }, hidden);
    await page.evaluate(() => (location.hash = "#/time"));
    await expect(page.getByRole("group", { name: "count", exact: true }).locator(".item")).not.toHaveCount(0);
    await page.evaluate(() => (location.hash = "#/r/count"));
    await see(true);
    await page.waitForTimeout(500); // what was on its way
    const before = await page.locator(".foot").textContent();
    const asked: string[] = [];
    page.on("request", (r) => asked.push(r.url()));
    session.hone("disable", "other");
    const last = Number(/n(\d+)\s*$/.exec(session.hone("logs", "count", "--tail", "1"))?.[1]);
    await page.waitForTimeout(1500);
    expect(asked).toEqual([]);
    expect(await page.locator(".foot").textContent()).toBe(before);
    await see(false);
    await expect(page.locator(".line", { hasText: new RegExp(`n${last + 10}\\b`) })).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(row(page, "other")).toContainText("disabled");
    await expect(page.getByRole("alert")).toBeEmpty();
  } finally {
    await session.close();
  }
});
