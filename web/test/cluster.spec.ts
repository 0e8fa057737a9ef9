import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
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
    await expect(newest.locator(".stage-name", { hasText: "sent" })).toBeVisible();
    await page.getByRole("tab", { name: "pods" }).click();
    await expect(page.locator(".pods > li")).toContainText([new RegExp(`${name}-web-.*ready.*main.*busybox`, "s")]);
    await page.getByRole("tab", { name: "events" }).click();
    await expect(page.locator(".events")).toContainText("Started");
    await page.getByRole("tab", { name: "objects" }).click();
    await expect(page.getByRole("tabpanel")).toContainText(`Deployment ${name}-web`);

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

test("adds, moves and removes port forwards, and sees what others change in the cluster", async ({ page }) => {
  test.setTimeout(120_000);
  const session = new Session("allow_k8s_contexts(k8s_context())\nk8s_yaml('web.yaml')\n", {
    "web.yaml": workload("ports", "mkdir -p /www; echo hello > /www/index.html; echo serves; exec httpd -f -p 8080 -h /www") + "      - {name: side, image: busybox, command: [sh, -c, 'echo beside; exec sleep 100000'], imagePullPolicy: IfNotPresent}\n",
  });
  try {
    await session.start();
    const resource = `${name}-ports`;
    await page.goto(session.ticket(resource));
    await expect(page.locator(".line", { hasText: "serves" })).toBeVisible({ timeout: 60_000 });

    await test.step("lines of one container", async () => {
      await expect(page.locator(".line", { hasText: "beside" })).toBeVisible();
      await page.getByLabel("container", { exact: true }).selectOption("side");
      await expect(page.locator(".line .text", { hasText: "serves" })).toHaveCount(0);
      await expect(page.locator(".line", { hasText: "beside" })).toBeVisible();
      await page.getByLabel("container", { exact: true }).selectOption("all containers");
    });

    await test.step("forwards", async () => {
      await page.keyboard.press("p");
      const [one, two] = [await freePort(), await freePort()];
      await page.getByLabel("new forward").fill(`${one}:8080`);
      await page.getByRole("button", { name: "add" }).click();
      const forwards = page.getByRole("list", { name: "port forwards" });
      await expect(forwards).toContainText(`${one}ready`);
      await expect.poll(() => fetched(one)).toBe("hello");
      await page.getByLabel(`another local port for ${one}`).fill(String(two));
      await page.getByRole("button", { name: "move", exact: true }).click();
      await expect(forwards).toContainText(`${two}ready`);
      await expect.poll(() => fetched(two)).toBe("hello");
      expect(await fetched(one)).toBe("nothing");
      await page.getByRole("button", { name: `remove the forward of port ${two}` }).click();
      await expect(forwards).toBeHidden();
      await expect.poll(() => fetched(two)).toBe("nothing");
      await page.getByLabel("new forward").fill("80:80:80:x");
      await page.getByRole("button", { name: "add" }).click();
      await expect(page.getByText("is neither the name of a host")).toBeVisible();
    });

    await test.step("drift", async () => {
      const kubectl = (...args: string[]) => execFileSync(join(import.meta.dirname, "../../scripts/cluster"), ["kubectl", ...args], { stdio: "pipe" });
      kubectl("patch", "deployment", resource, "-p", '{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":1}}}}');
      await page.getByRole("tab", { name: "objects" }).click();
      await expect(page.getByRole("tabpanel")).toContainText("≠ changed", { timeout: 30_000 });
      await expect(page.getByRole("tabpanel")).toContainText("spec.template.spec.terminationGracePeriodSeconds");
      await page.keyboard.press("Escape");
      await expect(row(page, resource)).toContainText("≠ changed by");
      await row(page, resource).locator("a.resource").click();
      await page.getByRole("button", { name: "restore" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "restore" }).click();
      await expect(page.getByRole("tabpanel")).not.toContainText("≠ changed", { timeout: 30_000 });
    });

    await test.step("new pods", async () => {
      await page.getByRole("tab", { name: "pods" }).click();
      const pod = page.locator(".pods > li:not(.old) strong").first();
      const before = await pod.textContent();
      await page.keyboard.press("R");
      await page.getByRole("dialog").getByRole("button", { name: "replace" }).click();
      await expect(pod).not.toHaveText(before ?? "", { timeout: 30_000 });
    });
  } finally {
    await session.stop();
    session.hone("down");
    await session.close();
  }
});

test("shows what an update would do, and lets it when it is confirmed", async ({ page }) => {
  test.setTimeout(120_000);
  const yaml = workload("asks", "echo serves; exec sleep 100000");
  const session = new Session("allow_k8s_contexts(k8s_context())\nk8s_yaml('web.yaml')\n", { "web.yaml": yaml });
  try {
    await session.start(0, "--confirm");
    await page.goto(session.ticket());
    await page.getByRole("link", { name: "look at the changes" }).click();
    await expect(page.locator(".step.create")).toContainText(`Deployment ${name}-asks`, { timeout: 30_000 });
    await page.keyboard.press("y");
    await expect(page.getByText("what waited goes on")).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(row(page, `${name}-asks`)).toContainText("running 1/1", { timeout: 60_000 });
    session.write("web.yaml", yaml.replace("echo serves", "echo again"));
    await page.keyboard.press("P");
    const update = page.locator(".step.update");
    await expect(update).toContainText("spec.template.spec.containers[name=main].command", { timeout: 30_000 });
    await expect(update).toContainText("echo again");
    await page.getByRole("button", { name: "confirm" }).click();
    await expect(page.getByText("Nothing waits: no update would change anything now")).toBeVisible({ timeout: 30_000 });

    await page.keyboard.press("B");
    const revisions = page.getByRole("region", { name: "table of the revisions" }).locator("tbody tr");
    await expect(revisions).toHaveCount(2, { timeout: 30_000 });
    await expect(revisions.first()).toContainText(/2.*up.*\+0 ~1 −0.*succeeded/);
    await revisions.first().getByRole("link").click();
    const comparison = page.getByRole("region", { name: "comparison" });
    await expect(comparison.locator(".step.update")).toContainText("echo again", { timeout: 30_000 });
    await page.keyboard.press("j");
    await expect(comparison.locator(".step.create")).toContainText(`Deployment ${name}-asks`, { timeout: 30_000 });
    await expect(comparison).toContainText("hone rollback 1");
  } finally {
    await session.stop();
    session.hone("down");
    await session.close();
  }
});

/** What a port answers. */
async function fetched(port: number): Promise<string> {
  try {
    return (await (await fetch(`http://127.0.0.1:${port}/`)).text()).trim();
  } catch {
    return "nothing";
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}
