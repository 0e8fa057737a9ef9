// Builds the bundle of the extension, and with --test that of its tests.
import * as esbuild from "esbuild";

const options = { bundle: true, platform: "node", target: "node20", charset: "utf8", legalComments: "none", logLevel: "warning" };
await esbuild.build({ ...options, entryPoints: { extension: "src/extension.ts" }, format: "cjs", minify: true, external: ["vscode"], outdir: "dist" });
if (process.argv.includes("--test")) {
  await esbuild.build({ ...options, entryPoints: ["test/model.test.ts", "test/session.test.ts", "test/extension.test.ts"], format: "esm", outdir: ".test", outExtension: { ".js": ".mjs" } });
}
