import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { HoneError, events, run, sessionOf, shownAs } from "../src/session";

const at = (name: string, tiltfile: string) => ({ name, pid: 1, tiltfile });

test("the session of a folder is the nearest one", () => {
  const all = [at("far", "/home/me/Tiltfile"), at("near", "/home/me/shop/Tiltfile"), at("inner", "/home/me/shop/api/deep/Tiltfile"), at("other", "/srv/x/Tiltfile")];
  for (const [folder, want] of [
    ["/home/me/shop", "near"],
    ["/home/me/shop/api", "near"],
    ["/home/me/shop/api/deep", "inner"],
    ["/home/me", "far"],
    ["/opt", undefined],
    ["/home/me/other", "far"],
  ] as const) {
    assert.equal(sessionOf(all, [folder])?.name, want, folder);
  }
  assert.equal(sessionOf(all, []), undefined);
});

test("a folder may be opened through a link", () => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "hone-vscode")));
  try {
    mkdirSync(join(dir, "shop"));
    symlinkSync(join(dir, "shop"), join(dir, "link"));
    const link = join(dir, "link");
    assert.equal(sessionOf([at("shop", join(dir, "shop", "Tiltfile"))], [link])?.name, "shop");
    assert.equal(shownAs(join(dir, "shop", "api", "x.go"), [link]), join(link, "api", "x.go"));
    assert.equal(shownAs(join(dir, "shop", "..x"), [link]), join(link, "..x"));
    assert.equal(shownAs(join(dir, "other", "x.go"), [link]), join(dir, "other", "x.go"));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

test("server-sent events are split at empty lines", () => {
  assert.deepEqual(events("id: 1\nevent: page\ndata: {}\n\n: comment\n\ndata: a\ndata: b\n"), [
    { event: "page", data: "{}" },
    { event: "message", data: "a\nb" },
  ]);
});

test("a missing program is told from one that fails", async () => {
  await assert.rejects(run("no-such-hone", []), (e: HoneError) => e instanceof HoneError && e.missing);
  await assert.rejects(run(process.execPath, ["-e", "console.error('why'); process.exit(1)"]), (e: HoneError) => e instanceof HoneError && !e.missing && e.message === "why");
});
