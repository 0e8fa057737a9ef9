import type { Page } from "@playwright/test";

import { expect, test, type Session } from "./session";

const at = "2026-11-20T12:00:00Z";
const own = { name: "dev", context: "dev", namespace: "default", connected: true, needed: true };
const eu = { name: "eu", context: "admin@eu", namespace: "shop", connected: false, needed: true, error: "connection refused" };
const row = (name: string, cluster?: string, label?: string) => ({ name, type: cluster ? "k8s" : "local", status: "ok", runtime: { status: "ok" }, ...(cluster ? { cluster } : {}), ...(label ? { labels: [label] } : {}) });

/** Opens the page of a session with clusters and rows. */
async function open(page: Page, session: Session, clusters: object[] | undefined, rows: ReturnType<typeof row>[]) {
  await page.route("**/api/page*", (r) =>
    r.fulfill({
      contentType: "text/event-stream",
      body: `id: x.1\nevent: page\ndata: ${JSON.stringify({
        whole: true,
        now: at,
        session: { run: "x", version: "1", project: "shop", tiltfile: "/Tiltfile", context: "dev", namespace: "default", startedAt: at, clusters },
        order: rows.map((r) => r.name),
        resources: rows,
      })}\n\n`,
    }),
  );
  await page.goto(session.ticket());
}

test("groups resources by cluster, and says which cluster does not answer", async ({ page, session }) => {
  await open(page, session, [own, eu], [row("gen"), row("web", "eu", "front"), row("db", "eu"), row("api", "dev", "back"), row("cart", "dev", "front")]);
  await expect(page.locator("tr.group button[aria-expanded]")).toHaveText([/^.?dev · back/, /^.?dev · front/, /^.?eu · front/, /^.?eu1/, /no label/]);
  await expect(page.locator(".top .where")).toHaveText("shop @ dev/default, eu/shop does not answer");
  await expect(page.locator(".top .where .bad")).toHaveText("eu/shop does not answer");
  await page.keyboard.press("/");
  await page.keyboard.type("cluster:eu");
  await expect(page.locator("tr:not(.group) a[data-name]")).toHaveText(["web", "db"]);
  await page.evaluate(() => (location.hash = "#/r/web"));
  await expect(page.locator("dl.facts")).toContainText("eu context admin@eu does not answer");
});

test("shows the steps of a plan by cluster", async ({ page, session }) => {
  const step = (name: string, cluster?: string) => ({ action: "create", object: { kind: "Service", name }, resource: name, ...(cluster ? { cluster } : {}) });
  await page.route("**/api/plan", (r) => r.fulfill({ json: { context: "dev", tiltfile: "/Tiltfile", steps: [step("a", "eu"), step("b"), step("c", "eu")], summary: { create: 3 } } }));
  await open(page, session, [own, eu], [row("web", "eu")]);
  await page.evaluate(() => (location.hash = "#/plan"));
  await expect(page.getByRole("region", { name: "cluster dev" }).locator(".step")).toHaveText([/b/]);
  await expect(page.getByRole("region", { name: "cluster eu" }).locator(".step")).toHaveText([/a/, /c/]);
});

test("has nothing new for one cluster", async ({ page, session }) => {
  await open(page, session, undefined, [row("web"), row("db")]);
  await expect(page.locator("tr:not(.group) a[data-name]")).toHaveText(["web", "db"]);
  await expect(page.locator("tr.group")).toHaveCount(0);
  await expect(page.locator(".top .where")).toHaveText("shop @ dev/default");
});
