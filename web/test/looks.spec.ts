// Pictures of every view, at three widths in both themes, of a session that does not change. After a wanted change of the look:
// scripts/web looks, then look at the pictures.
import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";

import { expect, test as base } from "./session";

const fixture = join(import.meta.dirname, "testdata/shop.json");

/** The address of a page with the snapshot; each test takes a ticket of its own, so each has its own viewer. */
async function view(): Promise<{ address: string; close: () => Promise<void> }> {
  const viewer: ChildProcess = spawn(process.env.HONE_TEST_BINARY ?? "", ["snapshot", "view", "--web", "--no-open", fixture], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((done) => viewer.once("exit", done));
  const address = await new Promise<string>((done) => viewer.stdout?.once("data", (b: Buffer) => done(b.toString().trim())));
  return {
    address,
    close: async () => {
      viewer.kill("SIGINT");
      await ended;
    },
  };
}

const test = base.extend({});
test.use({ timezoneId: "UTC", locale: "en-GB", reducedMotion: "reduce" } as never);

const views: [name: string, hash: string, shown: string][] = [
  ["overview", "#/", "tr.row"],
  ["updates", "#/r/worker", ".updates > li"],
  ["failure", "#/r/mailer?tab=pods", ".card"],
  ["log", "#/log", ".line"],
  ["graph", "#/graph", "a.node"],
  ["time", "#/time", ".item.update"],
  ["revisions", "#/revisions?number=12", ".parts tbody tr"],
];

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [360, 1280, 2560]) {
    // Each scheme has one size in the core.
    test(`looks as it should, ${colorScheme}, ${width} pixels`, { tag: width === (colorScheme === "light" ? 1280 : 360) ? [] : "@breadth" }, async ({ page }) => {
      const { address, close } = await view();
      try {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await page.setViewportSize({ width, height: width === 360 ? 740 : 800 });
        await page.goto(address);
        await expect(page.locator("tr.row").first()).toBeVisible();
        for (const [name, hash, shown] of views) {
          await page.evaluate((h) => (location.hash = h), hash);
          await expect(page.locator(shown).first()).toBeVisible();
          await expect(page.locator(".line.missing")).toHaveCount(0);
          await expect(page).toHaveScreenshot(`${name}-${width}-${colorScheme}.png`, { maxDiffPixelRatio: 0.002, animations: "disabled", caret: "hide" });
        }
      } finally {
        await close();
      }
    });
  }
}
