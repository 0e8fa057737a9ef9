import { defineConfig } from "@playwright/test";

export default defineConfig({
  testDir: "test",
  outputDir: "test-results",
  fullyParallel: false,
  workers: 1, // the machine has few cores, and each session keeps processes busy
  retries: 0,
  timeout: 60_000,
  globalTimeout: 900_000,
  expect: { timeout: 15_000 },
  reporter: [["list"]],
  snapshotPathTemplate: "{testDir}/looks/{arg}{ext}",
  globalSetup: "./test/setup.ts",
  use: {
    viewport: { width: 1280, height: 800 },
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      // Tests run as root in containers, where Chromium's sandbox cannot be set up. evil.example is a foreign name for this machine.
      args: ["--no-sandbox", "--host-resolver-rules=MAP evil.example 127.0.0.1"],
    },
  },
});
