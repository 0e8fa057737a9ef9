import { defineConfig } from "@playwright/test";

import base from "./playwright.config";

// Measures, alone on the machine: make bench.
export default defineConfig({ ...base, testDir: "bench", testMatch: "*.bench.ts", timeout: 900_000, globalTimeout: 1_000_000, reporter: [["line"]] });
