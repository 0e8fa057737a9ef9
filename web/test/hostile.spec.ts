import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { expect, row, test } from "./session";

test("gives a hostile page of another origin nothing", async ({ page, session, context }) => {
  await page.goto(session.ticket());
  await expect(row(page, "api")).toBeVisible();
  const target = `http://127.0.0.1:${session.port}`;
  const server = createServer((req, resp) => {
    resp.setHeader("Content-Type", "text/html");
    resp.end("<title>hostile</title><body></body>");
    req.resume();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const port = (server.address() as AddressInfo).port;
  try {
    for (const origin of [`http://127.0.0.1:${port}`, `http://localhost:${port}`, `http://evil.example:${port}`]) {
      const evil = await context.newPage();
      await evil.goto(origin);
      const got = await evil.evaluate(async (target) => {
        const tried: Record<string, string> = {};
        const attempt = async (name: string, f: () => Promise<unknown>) => {
          tried[name] = await f().then(
            (v) => `got ${String(v)}`,
            () => "nothing",
          );
        };
        const text = (r: Response) => (r.type === "opaque" ? Promise.reject(new Error("opaque")) : r.text());
        await attempt("fetch", () => fetch(`${target}/api/view`, { credentials: "include" }).then(text));
        await attempt("fetch without CORS", () => fetch(`${target}/api/view`, { credentials: "include", mode: "no-cors" }).then(text));
        await attempt("JSON", () =>
          fetch(`${target}/api/trigger`, { method: "POST", credentials: "include", headers: { "Content-Type": "application/json" }, body: '{"manifest_names":["seed"]}' }).then(text),
        );
        await attempt("text", () =>
          fetch(`${target}/api/trigger`, { method: "POST", credentials: "include", mode: "no-cors", body: '{"manifest_names":["seed"]}' }).then(text),
        );
        await attempt(
          "events",
          () =>
            new Promise((done, failed) => {
              const s = new EventSource(`${target}/api/page`, { withCredentials: true });
              s.onerror = failed;
              s.addEventListener("page", done);
            }),
        );
        await attempt(
          "WebSocket",
          () =>
            new Promise((done, failed) => {
              const s = new WebSocket(`${target.replace("http", "ws")}/api/page`);
              s.onerror = failed;
              s.onopen = done;
            }),
        );
        const element = (name: string, tag: "img" | "script", path: string) =>
          attempt(
            name,
            () =>
              new Promise((done, failed) => {
                const el = document.createElement(tag);
                el.onload = done;
                el.onerror = failed;
                el.src = target + path;
                document.body.append(el);
              }),
          );
        await element("image", "img", "/favicon.svg");
        await element("script", "script", "/page.js");
        return tried;
      }, target);
      expect(got, origin).toEqual({
        fetch: "nothing",
        "fetch without CORS": "nothing",
        JSON: "nothing",
        text: "nothing",
        events: "nothing",
        WebSocket: "nothing",
        image: "nothing",
        script: "nothing",
      });

      // A frame, and a form that goes to the session.
      await evil.evaluate((target) => {
        const frame = document.createElement("iframe");
        frame.src = `${target}/`;
        document.body.append(frame);
      }, target);
      await expect.poll(async () => evil.frames().length).toBe(2);
      const inside = evil.frames()[1];
      await expect.poll(async () => inside?.url()).not.toBe("about:blank");
      expect(await inside?.content()).not.toContain("page.js");
      const answer = evil.waitForResponse(`${target}/api/trigger`);
      await evil.evaluate((target) => {
        const form = document.createElement("form");
        form.method = "post";
        form.enctype = "text/plain";
        form.action = `${target}/api/trigger`;
        const field = document.createElement("input");
        field.name = '{"manifest_names":["seed"],"x":"';
        field.value = '"}';
        form.append(field);
        document.body.append(form);
        form.submit();
      }, target);
      expect((await answer).status()).toBe(403);
      await evil.close();
    }

    // A name that resolves to this machine: DNS rebinding.
    const rebound = await context.newPage();
    expect((await rebound.goto(`http://evil.example:${session.port}/`))?.status()).toBe(403);
    expect((await rebound.goto(`http://evil.example:${session.port}/api/view`))?.status()).toBe(403);
    // A ticket is worth nothing the second time, in a browser without the cookie.
    const used = session.ticket();
    await rebound.goto(used);
    const fresh = await context.browser()?.newContext();
    expect((await (await fresh?.newPage())?.goto(used))?.status()).toBe(401);
    await fresh?.close();
  } finally {
    server.close();
    server.closeAllConnections();
  }
  await page.bringToFront();
  await expect(row(page, "api")).toBeVisible();
});
