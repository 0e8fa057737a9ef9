// Drives the bundle as the editor does, with a stand-in for the editor's API, on a real session. HONE names the program.
import assert from "node:assert/strict";
import { ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import Module from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";

const hone = process.env.HONE ?? "";
const home = mkdtempSync(join(tmpdir(), "hone-vscode"));
const dir = join(home, "opened"); // a link, as the folders of many people are
mkdirSync(join(home, "real"));
symlinkSync(join(home, "real"), dir);

/** The stand-in remembers what the extension has registered and shown. */
const shown = { commands: new Map<string, (...args: unknown[]) => unknown>(), contexts: new Map<string, unknown>(), errors: [] as string[], terminals: [] as string[][], opened: [] as string[], documents: [] as [string, number][] };
let path = hone; // the setting hone.path
const settings: ((e: unknown) => void)[] = []; // who listens for changed settings
const terminals: { exitStatus?: object }[] = [];
const diagnostics = new Map<string, { message: string; range: { start: { line: number } } }[]>();
let tree: { getChildren(of?: unknown): Row[]; getTreeItem(row: Row): { label: string; description: string; contextValue: string } };
type Row = { group: string; resources?: unknown[]; resource?: { name: string; status: string } };

class Position {
  constructor(
    readonly line: number,
    readonly character: number,
  ) {}
}
class Plain {
  constructor(
    readonly label: unknown,
    readonly more?: unknown,
  ) {}
}
const bar = { text: "", show() {}, hide() {}, dispose() {} };
const vscode: Record<string, unknown> = {
  version: "1.91.0",
  workspace: {
    getConfiguration: () => ({ get: () => path }),
    workspaceFolders: [{ uri: { fsPath: dir } }],
    onDidChangeConfiguration: (f: (e: unknown) => void) => (settings.push(f), { dispose() {} }),
  },
  env: { openExternal: async (url: string) => void shown.opened.push(url) },
  window: {
    createTreeView: (_: string, o: { treeDataProvider: typeof tree }) => ((tree = o.treeDataProvider), { dispose() {} }),
    createStatusBarItem: () => bar,
    createTerminal: (o: { shellArgs: string[] }) => {
      shown.terminals.push(o.shellArgs);
      terminals.push({ show() {} } as object);
      return terminals.at(-1);
    },
    showErrorMessage: async (text: string, ...buttons: string[]) => {
      shown.errors.push(text);
      return buttons[0];
    },
    showTextDocument: async (u: { fsPath: string }, o: { selection: { start: { line: number } } }) => void shown.documents.push([u.fsPath, o.selection.start.line]),
    showInformationMessage: async () => {},
  },
  languages: {
    createDiagnosticCollection: () => ({ clear: () => diagnostics.clear(), set: (u: { fsPath: string }, all: never[]) => diagnostics.set(u.fsPath, all), dispose() {} }),
  },
  commands: {
    registerCommand: (name: string, act: (...args: unknown[]) => unknown) => (shown.commands.set(name, act), { dispose() {} }),
    executeCommand: async (name: string, key: string, value: unknown) => void (name === "setContext" && shown.contexts.set(key, value)),
  },
  Uri: { file: (f: string) => ({ fsPath: f }), parse: (u: string) => u },
  EventEmitter: class {
    event = () => ({ dispose() {} });
    fire() {}
    dispose() {}
  },
  Position,
  Range: class {
    constructor(
      readonly start: Position,
      readonly end: Position,
    ) {}
  },
  Diagnostic: class {
    constructor(
      readonly range: unknown,
      readonly message: string,
    ) {}
  },
  TreeItem: Plain,
  ThemeIcon: Plain,
  ThemeColor: Plain,
  TreeItemCollapsibleState: { None: 0, Expanded: 2 },
  StatusBarAlignment: { Left: 1 },
  DiagnosticSeverity: { Error: 0 },
};

/** What the language client asks for beyond that: events that never come, things that can be disposed of, classes, numbers. */
const anything: unknown = new Proxy(function () {}, {
  get: (_, key) => (key === Symbol.toPrimitive ? () => 0 : key === Symbol.iterator ? [][Symbol.iterator] : key === "then" ? undefined : key === "prototype" ? {} : anything),
  apply: () => anything,
  construct: () => ({}),
});
const patient = (of: Record<string, unknown>) => new Proxy(of, { get: (at, key: string) => (key in at ? at[key] : anything) });

function load(): { activate(c: unknown): Promise<void>; deactivate(): Promise<void> } {
  for (const space of ["workspace", "window", "languages", "commands"]) vscode[space] = patient(vscode[space] as Record<string, unknown>);
  const any = patient(vscode);
  const code = readFileSync(resolve("dist/extension.js"), "utf8");
  const module = { exports: {} as never };
  const require = Module.createRequire(resolve("dist/extension.js"));
  new Function("require", "module", "exports", code)((name: string) => (name === "vscode" ? any : require(name)), module, module.exports);
  return module.exports;
}

async function until<T>(what: string, ask: () => T | undefined | false): Promise<T> {
  for (let i = 0; i < 600; i++) {
    const got = ask();
    if (got) return got;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`${what}: never; errors: ${shown.errors.join("; ")}`);
}

const rows = () => tree.getChildren().flatMap((r) => (r.resources ? tree.getChildren(r) : [r]));
const run = async (command: string, of?: Row) => void (await shown.commands.get(`hone.${command}`)?.(of));
const nameOf = () => (tree as unknown as { session: { name: string } }).session.name;
const row = (name: string) => rows().find((r) => r.resource?.name === name);

test("the extension follows a session, acts on it, and shows its errors", { skip: hone === "" && "needs HONE, the program", timeout: 120_000 }, async () => {
  const tiltfile = join(dir, "Tiltfile");
  const good =
    "local_resource('lint', 'echo linted', labels=['dev'])\nlocal_resource('broken', 'cat errors >&2; sleep 0.5; test ! -s errors', deps=['errors'])\n" +
    "local_resource('server', serve_cmd='echo + >>starts; exec sleep 1000', links=['http://localhost:1/x'], labels=['dev'])\n";
  writeFileSync(tiltfile, good);
  writeFileSync(join(dir, "x.go"), "package x\n\nvar y\n");
  writeFileSync(join(dir, "errors"), "x.go:3:5: undefined: y\n");
  const extension = load();
  const context = { subscriptions: [] as { dispose(): void }[] };
  let session: ChildProcess | undefined;
  try {
    await extension.activate(context);
    const declared = JSON.parse(readFileSync("package.json", "utf8")) as { contributes: { commands: { command: string }[] } };
    assert.deepEqual([...shown.commands.keys()].sort(), declared.contributes.commands.map((c) => c.command).sort());
    assert.deepEqual(tree.getChildren(), [], "nothing is shown without a session");
    const up = () => spawn(hone, ["up", "--port", "0", "--stream"], { cwd: dir, stdio: "ignore" });
    session = up();

    await until("all but one are well", () => ["lint", "server"].every((n) => row(n)?.resource?.status === "ok") && row("broken")?.resource?.status === "failed");
    assert.equal(shown.contexts.get("hone.session"), true);
    assert.deepEqual(
      tree.getChildren().map((r) => r.group || r.resource?.name),
      ["(Tiltfile)", "dev", "no label"],
    );
    assert.equal(bar.text, "$(error) hone 1");
    const [first] = await until("the error is at its place", () => diagnostics.get(join(dir, "x.go")));
    assert.equal(first?.message, "undefined: y");
    assert.equal(first?.range.start.line, 2);

    const serial = () => (row("lint")?.resource as unknown as { last: { serial: number } }).last.serial;
    const before = serial();
    await run("trigger", row("lint"));
    await until("lint is updated", () => serial() > before);
    await run("rebuild", row("lint"));
    await until("lint is updated again", () => serial() > before + 1);
    await run("disable", row("lint"));
    await until("lint is disabled", () => tree.getTreeItem(row("lint")!).contextValue === "resource disabled");
    await run("enable", row("lint"));
    await until("lint is enabled", () => tree.getTreeItem(row("lint")!).contextValue === "resource enabled");
    await run("restart", row("server"));
    await until("the server runs again", () => readFileSync(join(dir, "starts"), "utf8") === "+\n+\n");
    await run("endpoint", row("server"));
    assert.deepEqual(shown.opened.splice(0), ["http://localhost:1/x"]);
    await run("definition", row("broken"));
    assert.deepEqual(shown.documents, [[tiltfile, 1]]);

    await run("page", row("lint"));
    const page = await fetch(shown.opened.splice(0)[0] ?? "", { redirect: "manual" });
    assert.deepEqual([page.status, page.headers.get("location")], [303, "/#/r/lint"], "the page lets the browser in");
    await run("log", row("lint"));
    await run("log", row("lint"));
    assert.equal(shown.terminals.length, 1, "a log that is open is shown again");
    assert.deepEqual([...(shown.terminals[0] ?? [])].filter((a) => a !== "--session"), ["logs", "-f", nameOf(), "lint"]);
    terminals[0]!.exitStatus = {};
    await run("log", row("lint"));
    assert.equal(shown.terminals.length, 2);

    const updating = () => (row("broken")?.resource as unknown as { current?: unknown }).current !== undefined;
    writeFileSync(join(dir, "errors"), "");
    await until("broken is updated", updating);
    assert.ok(diagnostics.has(join(dir, "x.go")), "an error stays until it is mended");
    await until("the error goes", () => diagnostics.size === 0 && bar.text === "$(pass) hone");
    writeFileSync(tiltfile, good + "k8s_yamls('x')\n");
    const [wrong] = await until("the Tiltfile's error", () => diagnostics.get(tiltfile));
    assert.equal(wrong?.range.start.line, 3);
    writeFileSync(tiltfile, good);
    await until("the Tiltfile's error goes", () => diagnostics.size === 0);
    assert.deepEqual(shown.errors, []);

    await run("stop");
    await until("the session's end is noticed", () => shown.contexts.get("hone.session") === false);
    assert.deepEqual(tree.getChildren(), []);
    session = up();
    await until("the next session is found", () => row("lint")?.resource?.status === "ok");
    session.kill("SIGINT");
    await until("its end is noticed, too", () => shown.contexts.get("hone.session") === false && tree.getChildren().length === 0);
    await run("up");
    assert.deepEqual(shown.terminals.at(-1), ["up"]);
    assert.deepEqual(shown.errors, []);

    path = "no-such-hone";
    for (const f of settings) f({ affectsConfiguration: (name: string) => name === "hone.path" });
    await until("the missing program is named", () => shown.errors.length > 0);
    assert.match(shown.errors[0] ?? "", /not found as "no-such-hone"/);
    await until("its button opens the page", () => shown.opened.length > 0);
    assert.match(shown.opened[0] ?? "", /install\.md$/);
  } finally {
    session?.kill("SIGINT");
    for (const s of context.subscriptions) s.dispose();
    await extension.deactivate();
    rmSync(home, { recursive: true, force: true });
  }
});
