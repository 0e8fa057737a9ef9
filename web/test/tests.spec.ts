// The view of tests: verdicts, and single tests with their places.
import AxeBuilder from "@axe-core/playwright";

import { expect, row, Session, test } from "./session";

const tiltfile = `
test('unit', ['sh', 'check.sh'], deps=['check.sh'])
test('quick', 'true', deps=['quick.txt'])
local_resource('build', 'true')
`;
const check = (ok: string) => `
echo 1..2
echo ok 1 - adds
echo '${ok} 2 - takes away <b>'
echo '# check.sh:4: got 3, want 4'
test '${ok}' = ok
`;

test("shows verdicts, failures first, and single tests with their places", async ({ page }) => {
  const session = new Session(tiltfile, { "check.sh": check("not ok"), "quick.txt": "" });
  await session.start();
  try {
    await page.goto(session.ticket());
    await expect(row(page, "unit")).toBeVisible();
    await page.keyboard.press("V");
    const tests = page.getByRole("list", { name: "tests" }).locator("> li");
    await expect(page.getByRole("status").filter({ hasText: "1 ok, 1 failed" })).toBeVisible();
    await expect(tests).toContainText(["unit", "quick"]);
    await expect(tests.first().getByRole("img", { name: "failed" }).first()).toBeVisible();
    await expect(tests.first()).toContainText("2 single tests, 1 failed");
    await expect(tests.first().locator(".cases li")).toContainText([/takes away <b>.*check\.sh:4/, "adds"]);
    const found = await new AxeBuilder({ page }).analyze();
    expect(found.violations.map((v) => v.id)).toEqual([]);
    session.write("check.sh", check("ok"));
    await expect(page.getByRole("status").filter({ hasText: "2 ok" })).toBeVisible();
    await expect(tests.filter({ hasText: "unit" }).locator("details")).not.toHaveAttribute("open");
    await tests.filter({ hasText: "unit" }).getByRole("link", { name: "unit" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toContainText("unit");
    await page.keyboard.press("V");
    await page.keyboard.press("Escape");
    await expect(row(page, "build")).toBeVisible();
  } finally {
    await session.close();
  }
});
