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
