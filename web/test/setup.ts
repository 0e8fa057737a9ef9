import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Builds hone as it is now, with the bundle in dist. */
export default function setup() {
  if (process.env.HONE_TEST_BINARY) return; // the benchmark measures one that is there already
  const dir = mkdtempSync(join(tmpdir(), "hone-web-"));
  process.env.HONE_TEST_BINARY = join(dir, "hone");
  execFileSync("go", ["build", "-trimpath", "-o", process.env.HONE_TEST_BINARY, "./cmd/hone"], {
    cwd: join(import.meta.dirname, "../.."),
    env: { ...process.env, CGO_ENABLED: "0" },
    stdio: "inherit",
  });
  return () => rmSync(dir, { recursive: true, force: true });
}
