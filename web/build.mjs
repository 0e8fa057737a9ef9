// Builds the bundle: node build.mjs OUTDIR [--watch]
import * as esbuild from "esbuild";
import { cp, mkdir } from "node:fs/promises";

const out = process.argv[2] ?? "dist";
await mkdir(out, { recursive: true });
for (const file of ["index.html", "favicon.svg"]) {
  await cp(`src/${file}`, `${out}/${file}`);
}
const options = {
  entryPoints: { page: "src/main.tsx" },
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022"],
  jsx: "automatic",
  jsxImportSource: "preact",
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
  outdir: out,
};
if (process.argv.includes("--watch")) {
  const watched = await esbuild.context({ ...options, logLevel: "info" });
  await watched.watch();
} else {
  await esbuild.build(options);
}
