// Builds the bundle: node build.mjs OUTDIR [--watch]. With --watch it is built on each change, and pages of it load themselves again.
import * as esbuild from "esbuild";
import { cp, mkdir, writeFile } from "node:fs/promises";

const out = process.argv[2] ?? "dist";
const watch = process.argv.includes("--watch");
await mkdir(out, { recursive: true });
await cp("src/index.html", `${out}/index.html`);
await cp("docs/site/favicon.svg", `${out}/favicon.svg`); // the documentation has the same

/** Says of each build that it has ended; see src/renew.ts. */
const stamp = {
  name: "stamp",
  setup: (build) =>
    build.onEnd(async (result) => {
      if (result.errors.length === 0) await writeFile(`${out}/stamp.txt`, String(Date.now()));
    }),
};
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
  define: { RENEWS: String(watch) },
};
if (watch) {
  const watched = await esbuild.context({ ...options, sourcemap: "linked", logLevel: "info", plugins: [stamp] });
  await watched.watch();
} else {
  await esbuild.build(options);
}
