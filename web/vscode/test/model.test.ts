import assert from "node:assert/strict";
import { test } from "node:test";

import type { PageResource } from "../../src/api";
import { Model, contextOf, descriptionOf, iconOf, placesIn, problemsOf } from "../src/model";

const resource = (name: string, more: Partial<PageResource> = {}): PageResource => ({ name, type: "local", status: "ok", runtime: { status: "not_applicable" }, ...more });

test("a model takes pages in, and groups resources as the page does, failed ones first", () => {
  const m = new Model();
  const names = m.take({
    whole: true,
    now: "",
    order: ["(Tiltfile)", "lint", "web", "api", "db"],
    resources: [
      resource("(Tiltfile)"),
      resource("lint"),
      resource("web", { labels: ["front", "all"] }),
      resource("api", { labels: ["back", "all"] }),
      resource("db", { labels: ["back"], status: "failed" }),
    ],
  });
  assert.deepEqual(names, ["(Tiltfile)", "lint", "web", "api", "db"]);
  const tree = () => [...m.tree.top.map((r) => r.name), ...m.tree.groups.map((g) => `${g.label}: ${g.resources.map((r) => r.name).join(" ")}`)];
  assert.deepEqual(tree(), ["(Tiltfile)", "back: db api", "front: web", "no label: lint"]);
  assert.deepEqual(
    m.failed.map((r) => r.name),
    ["db"],
  );
  assert.deepEqual(m.take({ now: "", removed: ["web"], resources: [resource("db", { labels: ["back"], status: "failed", disabled: true })] }), ["web", "db"]);
  assert.deepEqual(tree(), ["(Tiltfile)", "back: api db", "no label: lint"]);
  assert.deepEqual(m.failed, []);
  m.take({ now: "", removed: ["api", "db"] });
  assert.deepEqual(tree(), ["(Tiltfile)", "lint"], "without labels there are no groups");
});

test("rows say how the update and the runtime are", () => {
  const now = Date.parse("2026-01-01T00:01:00Z");
  const startedAt = "2026-01-01T00:00:00Z";
  const pod = { status: "ok", text: "Running", since: startedAt };
  for (const [r, icon, text, context] of [
    [resource("a", { last: { serial: 1, startedAt, ms: 120.3 } }), "pass", "ok 120 ms", "resource enabled"],
    [resource("a", { last: { serial: 1, startedAt, ms: 120, mode: "image" }, runtime: pod }), "pass", "ok, image 120 ms · Running", "resource enabled"],
    [resource("a", { status: "updating", current: { serial: 2, startedAt, progress: { kind: "push", percent: 40 } as never } }), "sync~spin", "pushing 40 %", "resource enabled"],
    [resource("a", { status: "waiting", text: "waits for db", waiting: { reason: "dependency", text: "waits for db", on: ["db"] } }), "clock", "waits for db", "resource enabled"],
    [
      resource("a", { status: "failed", error: "exit code 1\nmore", last: { serial: 1, startedAt, error: "exit code 1\nmore" }, endpoints: [{ url: "http://localhost:1" }] }),
      "error",
      "exit code 1",
      "resource enabled endpoint",
    ],
    [resource("a", { status: "failed", error: "x", last: { serial: 1, startedAt, ms: 120 }, runtime: { status: "error", text: "crash loop", error: "CrashLoopBackOff" } }), "error", "ok 120 ms · crash loop", "resource enabled"],
    [resource("a", { status: "failed", error: "port 80: in use", last: { serial: 1, startedAt, ms: 120 } }), "error", "ok 120 ms · port 80: in use", "resource enabled"],
    [
      resource("a", { status: "warning", last: { serial: 1, startedAt, ms: 120 }, runtime: pod, relapse: { reason: "crash loop", restarts: 3 } as never }),
      "warning",
      "ok 120 ms · crash loop ×3",
      "resource enabled",
    ],
    [
      resource("(Tiltfile)", { status: "failed", error: "/work/shop/Tiltfile:6: undefined: x", last: { serial: 1, startedAt, error: "/work/shop/Tiltfile:6: undefined: x" } }),
      "error",
      "Tiltfile:6: undefined: x",
      "resource",
    ],
    [resource("a", { disabled: true, text: "disabled" }), "circle-slash", "disabled", "resource disabled"],
    [resource("(Tiltfile)", { text: "not started" }), "pass", "not started", "resource"],
    [resource("a", { status: "idle", text: "not started" }), "circle-outline", "not started", "resource enabled"],
  ] as const) {
    assert.equal(iconOf(r).icon, icon);
    assert.equal(descriptionOf(r, now, "/work/shop/Tiltfile"), text);
    assert.equal(contextOf(r), context);
  }
});

test("places are found as compilers write them", () => {
  const there = new Set(["/p/src/x.go", "/p/api/y.go", "/p/a.ts", "/p/app.py", "/p/Tiltfile", "/abs/z.rs"]);
  const find = (text: string) => placesIn(text, ["/p", "/p/api"], (f) => there.has(f)).map((p) => `${p.file}:${p.line}:${p.column} ${p.message}`);
  for (const [text, want] of [
    ["# pkg\nsrc/x.go:12:3: undefined: y\nsrc/x.go:12:3: undefined: y", ["/p/src/x.go:12:3 undefined: y"]],
    ["./src/x.go:7: bad", ["/p/src/x.go:7:1 bad"]],
    ["y.go:1:2: in its own folder", ["/p/api/y.go:1:2 in its own folder"]],
    ["/abs/z.rs:3:4: error", ["/abs/z.rs:3:4 error"]],
    ["a.ts(3,7): error TS2304: no name", ["/p/a.ts:3:7 error TS2304: no name"]],
    ['Traceback (most recent call last):\n  File "app.py", line 3, in <module>\n    x\nNameError: x', ["/p/app.py:3:1 NameError: x"]],
    ["/p/Tiltfile:3: undefined: k8s_yamls (did you mean k8s_yaml?)\n\n   3 | k8s_yamls('x')\n     | ^\n", ["/p/Tiltfile:3:1 undefined: k8s_yamls (did you mean k8s_yaml?)"]],
    ["missing.go:1:1: not there\nhttp://localhost:80: refused\n12:30:45: a time", []],
    ["", []],
  ] as const) {
    assert.deepEqual(find(text), want, text);
  }
});

test("problems are those of the newest completed update", () => {
  const r = resource("build", { status: "failed", error: "failed" });
  const d = {
    name: "build",
    updates: [
      { serial: 3, startedAt: "", stage: "runs" },
      { serial: 2, startedAt: "", finishedAt: "2", error: "exit code 1", output: ["m.go:2:1: broken"], allFiles: ["cmd/x/m.go"] },
      { serial: 1, startedAt: "", finishedAt: "1", output: ["old.go:1:1: old"] },
    ],
  };
  assert.deepEqual(
    problemsOf(r, d, "/p/Tiltfile", (f) => f === "/p/cmd/x/m.go").map((p) => p.file + p.line),
    ["/p/cmd/x/m.go2"],
  );
});
