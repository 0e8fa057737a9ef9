import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, row, Session, test } from "./session";

// The real cluster; scripts/test sets it up.
test.skip(!process.env.HONE_TEST_CLUSTER, "needs a cluster");

const name = `page-${process.pid}`;

const workload = (suffix: string, command: string) => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}-${suffix}}
spec:
  selector: {matchLabels: {app: ${name}-${suffix}}}
  template:
    metadata: {labels: {app: ${name}-${suffix}}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
      - {name: main, image: busybox, command: [sh, -c, '${command}'], imagePullPolicy: IfNotPresent}
`;

test("shows pods, updates in place with their stages, events and a crash", async ({ page }) => {
  test.setTimeout(120_000);
  const session = new Session(
    `
allow_k8s_contexts(k8s_context())
load('ext://file_sync_only', 'file_sync_only')
k8s_yaml('crash.yaml')
file_sync_only('busybox', 'web.yaml', ['site'], [sync('site', '/www')])
`,
    {
      "web.yaml": workload("web", "mkdir -p /www; echo serves; exec httpd -f -h /www"),
      "crash.yaml": workload("crash", "echo no database; exit 7"),
    },
  );
  mkdirSync(join(session.dir, "site"));
  const save = (text: string) => writeFileSync(join(session.dir, "site", "index.html"), text);
  save("one");
  try {
    await session.start();
    await page.goto(session.ticket());
    const web = row(page, `${name}-web`);
    await expect(web).toContainText("running 1/1", { timeout: 60_000 });
    await expect(row(page, `${name}-crash`)).toContainText("crash loop", { timeout: 60_000 });
    await expect(row(page, `${name}-crash`).getByRole("img", { name: "failed" })).toBeVisible();

    await web.locator("a.resource").click();
    await expect(page.locator(".line", { hasText: "serves" })).toBeVisible();
    save("two");
    const newest = page.locator(".updates > li").first();
    await expect(newest).toContainText("in place", { timeout: 30_000 });
    await expect(newest).toContainText("index.html");
    await expect(newest.locator(".stage", { hasText: "sent" })).toBeVisible();
    await page.getByRole("tab", { name: "pods" }).click();
    await expect(page.locator(".pods > li")).toContainText([new RegExp(`${name}-web-.*ready.*main.*busybox`, "s")]);
    await page.getByRole("tab", { name: "events" }).click();
    await expect(page.locator(".events")).toContainText("Started");
    await page.getByRole("tab", { name: "definition" }).click();
    await expect(page.getByRole("tabpanel")).toContainText(`deployment/${name}-web`);

    await page.evaluate((n) => (location.hash = `#/r/${n}-crash`), name);
    await page.getByRole("tab", { name: "pods" }).click();
    await expect(page.locator(".pods")).toContainText("exit 7");
    await expect(page.getByRole("region", { name: "error" })).toContainText("exit code 7");
    await expect(page.locator(".line", { hasText: "no database" }).first()).toBeVisible();
  } finally {
    await session.stop();
    session.hone("down");
    await session.close();
  }
});
