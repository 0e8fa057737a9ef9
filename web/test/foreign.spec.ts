// The page of sessions in which everything that others can write is made to take over the page: markup, links, escape sequences, control
// characters, characters that change the direction of the text.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, test as base, type Session } from "./session";
import type { Page } from "@playwright/test";

const scenes = ["shop", "story", "drifted", "trouble"];

const test = base.extend<object, { snapshots: string }>({
  snapshots: [
    async ({}, use) => {
      const dir = mkdtempSync(join(tmpdir(), "hone-hostile-"));
      execFileSync("go", ["test", "./internal/api/snapshot", "-run", "^TestHostile$", "-count=1", "-args", "-hostile", dir], {
        cwd: join(import.meta.dirname, "../.."),
        env: { ...process.env, CGO_ENABLED: "0" },
      });
      await use(dir);
      rmSync(dir, { recursive: true });
    },
    { scope: "worker" },
  ],
});

/** Checks that what the page shows is text, and only text, and that no word makes it wider than the window. */
async function isText(page: Page, where: string) {
  const found = await page.evaluate(() => {
    const commands = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;
    const faults: string[] = [];
    const check = (place: string, text: string) => {
      const m = commands.exec(text);
      if (m) faults.push(`${place}: U+${m[0].charCodeAt(0).toString(16)} in ${JSON.stringify(text.slice(0, 120))}`);
    };
    const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    for (let n: Node | null = walker.currentNode; n; n = walker.nextNode()) {
      if (n instanceof Text) check(n.parentElement?.className ?? "", n.data);
      if (!(n instanceof Element)) continue;
      for (const a of n.attributes) check(`${n.tagName}.${n.className} ${a.name}`, a.value);
      const href = n.getAttribute("href");
      if (href !== null && !/^(https?:\/\/|#|\/)/.test(href)) faults.push(`a link to ${href}`);
    }
    for (const selector of ["img", "b.owned", "script:not([src])", "iframe"])
      if (document.body.querySelector(selector)) faults.push(`there is ${selector}`);
    if (/^owned/.test(document.title)) faults.push(`the title is ${document.title}`);
    check("title", document.title);
    const over = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    if (over > 0) faults.push(`the page is ${over} pixels wider than the window`);
    return { faults, said: document.body.textContent?.split("onerror=").length ?? 0 };
  });
  expect(found.faults, where).toEqual([]);
  return found.said - 1;
}

for (const scene of scenes) {
  test(`shows text of others as text: ${scene}`, { tag: scene === "shop" ? [] : "@breadth" }, async ({ page, session, snapshots }) => {
    const viewer = spawn(session.binary, ["snapshot", "view", "--web", "--no-open", join(snapshots, `${scene}.json`)], { stdio: ["ignore", "pipe", "inherit"] });
    const ended = new Promise((done) => viewer.once("exit", done));
    try {
      const address = await new Promise<string>((done) => viewer.stdout.once("data", (b: Buffer) => done(b.toString().trim())));
      await page.goto(address);
      await expect(page.locator("tr.row").first()).toBeVisible();
      const names = await page.locator("a.resource").evaluateAll((all) => all.map((a) => (a as HTMLElement).dataset.name ?? ""));
      let said = await isText(page, "overview");
      for (const hash of ["#/log", "#/graph", "#/time", "#/start", "#/tests"]) {
        await page.evaluate((h) => (location.hash = h), hash);
        await expect(page.locator("tr.row")).toHaveCount(0);
        await expect(page.locator(".line.missing")).toHaveCount(0);
        said += await isText(page, hash);
      }
      for (const name of names) {
        await page.evaluate((h) => (location.hash = h), `#/r/${encodeURIComponent(name)}`);
        await expect(page.getByRole("heading", { name }).first()).toBeVisible();
        await expect(page.getByRole("tab").first()).toBeVisible();
        for (const tab of await page.getByRole("tab").all()) {
          await tab.click();
          said += await isText(page, `${name}, ${await tab.textContent()}`);
        }
      }
      expect(said).toBeGreaterThan(50);
    } finally {
      viewer.kill("SIGINT");
      await ended;
    }
  });
}

/** A text with markup and what a terminal or a page would obey. */
const bad = "\u202eevil\u001b[2J\u0007\u009b1m<img src=x onerror=\"document.title='owned'\">";

test("shows a hostile plan, and a hostile refusal, as text", async ({ page, session }: { page: Page; session: Session }) => {
  const step = { action: "update", object: { kind: bad, name: bad, namespace: bad }, resource: bad, reason: bad, fields: [{ path: bad, class: "drift", manager: bad, from: bad, to: { [bad]: bad }, applied: [bad] }] };
  await page.route("**/api/plan", (r) => r.fulfill({ json: { context: bad, tiltfile: bad, steps: [step, { ...step, action: bad }], summary: { update: 1 } } }));
  await page.route("**/api/trigger", (r) => r.fulfill({ status: 409, json: { error: bad, mend: bad } }));
  await page.goto(session.ticket("api"));
  await page.getByRole("button", { name: "update now" }).click();
  await expect(page.getByText("\\u202eevil").first()).toBeVisible();
  expect(await isText(page, "a refusal")).toBeGreaterThan(0);
  await page.evaluate(() => (location.hash = "#/plan"));
  await expect(page.getByText("\\u202eevil").first()).toBeVisible();
  expect(await isText(page, "the plan")).toBeGreaterThan(0);
});

test("shows revisions of others as text", async ({ page, session }: { page: Page; session: Session }) => {
  const step = { action: "update", object: { kind: bad, name: bad }, resource: bad, fields: [{ path: bad, class: "change", from: bad, to: bad }] };
  await page.route("**/api/revision?number=2", (r) => r.fulfill({ json: { context: bad, tiltfile: bad, steps: [step], summary: { update: 1 } } }));
  await page.route("**/api/page*", (r) =>
    r.fulfill({
      contentType: "text/event-stream",
      body: `id: x.1\nevent: page\ndata: ${JSON.stringify({
        whole: true,
        now: "2026-11-20T12:00:00Z",
        session: { run: "x", version: "1", project: "shop", tiltfile: "/Tiltfile", startedAt: "2026-11-20T12:00:00Z", revisions: [{ number: 2, command: bad, by: bad, commit: bad, phase: bad, failures: bad, objects: 1 }] },
        order: [],
      })}\n\n`,
    }),
  );
  await page.goto(session.ticket());
  await page.evaluate(() => (location.hash = "#/revisions?number=2"));
  await expect(page.locator(".step")).toContainText("\\u202eevil");
  expect(await isText(page, "the revisions")).toBeGreaterThan(0);
});
