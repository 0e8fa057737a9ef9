// The extension: the language server, the side bar, the list of problems, the commands. What they show is decided in model.ts, and
// the session is talked to in session.ts.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

import type { PageResource } from "../../src/api";
import { tiltfileName } from "../../src/order";
import { Model, contextOf, descriptionOf, failing, iconOf, problemsOf } from "./model";
import { HoneError, Running, detail, follow, post, run, sessionOf, sessions, shownAs } from "./session";

const installPage = "https://github.com/hone-dev/hone/blob/main/web/docs/install.md";

/** How often a session is looked for while none is followed, in milliseconds. */
const lookEvery = 2000;

const program = () => vscode.workspace.getConfiguration("hone").get<string>("path") || "hone";
const folders = () => (vscode.workspace.workspaceFolders ?? []).map((f) => f.uri.fsPath);

let client: LanguageClient | undefined;
let serving: Promise<void> = Promise.resolve();

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const side = new Side();
  context.subscriptions.push(
    side,
    ...commands(side),
    vscode.window.createTreeView("hone.resources", { treeDataProvider: side, showCollapseAll: true }),
    vscode.workspace.onDidChangeConfiguration((e) => {
      if (!e.affectsConfiguration("hone.path")) return;
      complained = false;
      serving = serving.then(serve);
    }),
  );
  side.start();
  await (serving = serve());
}

export async function deactivate(): Promise<void> {
  await serving;
  await client?.stop().catch(() => {}); // it may never have started
}

/** Starts the language server, in place of one that runs. */
async function serve(): Promise<void> {
  await client?.stop().catch(() => {}); // it may never have started
  client = undefined;
  try {
    await run(program(), ["version"]); // the client's own words for a missing program help nobody
  } catch (err) {
    void complain(err);
    return;
  }
  client = new LanguageClient("hone", "hone", { command: program(), args: ["lsp"] }, { documentSelector: [{ language: "tiltfile" }], outputChannelName: "hone language server" });
  await client.start().catch(() => {}); // the client has said why
}

let complained = false;

/** Says once that the program is missing or cannot be used, and where it is to be had. */
async function complain(err: unknown): Promise<void> {
  if (complained) return;
  complained = true;
  const how = "How to install it";
  const setting = "Choose its path";
  const text =
    err instanceof HoneError && err.missing
      ? `The program hone was not found as "${program()}". Install it, or say in the setting hone.path where it is.`
      : `The program "${program()}" could not be used: ${err instanceof Error ? err.message : String(err)}`;
  const chosen = await vscode.window.showErrorMessage(text, how, setting);
  if (chosen === how) await vscode.env.openExternal(vscode.Uri.parse(installPage));
  if (chosen === setting) await vscode.commands.executeCommand("workbench.action.openSettings", "hone.path");
}

/** A row of the side bar: a group, or a resource in it. */
type Row = { group: string; resources: PageResource[] } | { resource: PageResource };

/** Side is the side bar, with the status bar and the list of problems. It follows the session of the folder, and looks for another one when it ends. */
class Side implements vscode.TreeDataProvider<Row>, vscode.Disposable {
  session: Running | undefined;
  model = new Model();
  private readonly changed = new vscode.EventEmitter<Row | undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly problems = vscode.languages.createDiagnosticCollection("hone");
  private readonly bar = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left);
  private readonly closed = new AbortController();
  private places = new Map<string, { file: string; diagnostic: vscode.Diagnostic }[]>();

  constructor() {
    this.bar.command = "hone.resources.focus";
    this.bar.name = "hone";
  }

  /** The session's Tiltfile. */
  get tiltfile(): string {
    return this.model.session?.tiltfile ?? this.session?.tiltfile ?? "";
  }

  start(): void {
    void this.loop();
  }

  dispose(): void {
    this.closed.abort();
    this.problems.dispose();
    this.bar.dispose();
    this.changed.dispose();
  }

  private async loop(): Promise<void> {
    while (!this.closed.signal.aborted) {
      try {
        const found = sessionOf(await sessions(program()), folders());
        if (found) await this.follow(found);
      } catch (err) {
        if (err instanceof HoneError && err.missing) void complain(err);
      }
      this.leave();
      await new Promise((done) => setTimeout(done, lookEvery));
    }
  }

  private async follow(s: Running): Promise<void> {
    this.model = new Model();
    await follow(
      s,
      (p) => {
        if (this.session !== s) {
          this.session = s;
          void vscode.commands.executeCommand("setContext", "hone.session", true);
        }
        const names = this.model.take(p);
        this.show();
        for (const name of names) void this.look(s, name);
      },
      this.closed.signal,
    );
  }

  /** Forgets the session that has ended. */
  private leave(): void {
    if (!this.session) return;
    this.session = undefined;
    this.model = new Model();
    this.places.clear();
    if (this.closed.signal.aborted) return;
    this.problems.clear();
    this.bar.hide();
    this.changed.fire(undefined);
    void vscode.commands.executeCommand("setContext", "hone.session", false);
  }

  private show(): void {
    const failed = this.model.failed;
    this.bar.text = failed.length ? `$(error) hone ${failed.length}` : "$(pass) hone";
    this.bar.tooltip = failed.length ? failed.map((r) => `${r.name}: ${(r.error ?? "failed").split("\n")[0] ?? ""}`).join("\n") : "all resources are well";
    this.bar.show();
    this.changed.fire(undefined);
  }

  /** Renews the problems of a resource that has changed. */
  private async look(s: Running, name: string): Promise<void> {
    const r = this.model.get(name);
    if (r?.current && !r.disabled && this.places.has(name)) return; // an error is mended when the update has succeeded, not when it begins
    const failed = r !== undefined && failing(r);
    const d = failed ? await detail(s, name).catch(() => undefined) : undefined;
    if (this.session !== s || this.model.get(name) !== r) return; // a newer one is on its way
    const list = failed ? problemsOf(r, d, this.tiltfile, existsSync) : [];
    this.places.set(
      name,
      list.map((p) => {
        const at = new vscode.Position(Math.max(0, p.line - 1), Math.max(0, p.column - 1));
        const diagnostic = new vscode.Diagnostic(new vscode.Range(at, at), p.message, vscode.DiagnosticSeverity.Error);
        diagnostic.source = `hone: ${name}`;
        return { file: shownAs(p.file, folders()), diagnostic };
      }),
    );
    const by = new Map<string, vscode.Diagnostic[]>();
    for (const { file, diagnostic } of [...this.places.values()].flat()) by.set(file, [...(by.get(file) ?? []), diagnostic]);
    this.problems.clear();
    for (const [file, all] of by) this.problems.set(vscode.Uri.file(file), all);
  }

  getChildren(of?: Row): Row[] {
    if (!this.session) return [];
    if (of) return "resources" in of ? of.resources.map((resource) => ({ resource })) : [];
    const { top, groups } = this.model.tree;
    return [...top.map((resource) => ({ resource })), ...groups.map((g) => ({ group: g.label, resources: g.resources }))];
  }

  getTreeItem(row: Row): vscode.TreeItem {
    if ("resources" in row) {
      const item = new vscode.TreeItem(row.group, vscode.TreeItemCollapsibleState.Expanded);
      item.id = `group ${row.group}`;
      const failed = row.resources.filter(failing).length;
      item.description = failed ? `${failed} failed` : "";
      return item;
    }
    const r = row.resource;
    const item = new vscode.TreeItem(r.name, vscode.TreeItemCollapsibleState.None);
    item.id = `resource ${r.name}`;
    item.description = descriptionOf(r, Date.now(), this.tiltfile);
    const { icon, color } = iconOf(r);
    item.iconPath = new vscode.ThemeIcon(icon, color ? new vscode.ThemeColor(color) : undefined);
    item.contextValue = contextOf(r);
    item.tooltip = r.error ?? r.status;
    item.accessibilityInformation = { label: `${r.name}, ${r.disabled ? "disabled" : r.status}, ${item.description}` };
    item.command = { command: "hone.log", title: "Show the log", arguments: [row] };
    return item;
  }
}

function commands(side: Side): vscode.Disposable[] {
  const on = (name: string, act: (s: Running, resource: PageResource) => Promise<unknown>) =>
    vscode.commands.registerCommand(`hone.${name}`, async (row?: Row) => {
      const s = side.session;
      if (!s) return void vscode.window.showInformationMessage("No session of hone runs for this folder.");
      const r = row && "resource" in row ? row.resource : await choose(side);
      if (!r) return;
      try {
        await act(s, r);
      } catch (err) {
        void vscode.window.showErrorMessage(err instanceof Error ? err.message : String(err));
      }
    });
  const terminals = new Map<string, vscode.Terminal>();
  const terminal = (name: string, args: string[], cwd?: string) => {
    const key = args.join("\n");
    let t = terminals.get(key);
    if (!t || t.exitStatus) terminals.set(key, (t = vscode.window.createTerminal({ name, shellPath: program(), shellArgs: args, ...(cwd ? { cwd } : {}) })));
    t.show();
  };
  return [
    vscode.window.onDidCloseTerminal((t) => {
      for (const [key, one] of terminals) if (one === t) terminals.delete(key);
    }),
    vscode.commands.registerCommand("hone.up", () => terminal("hone up", ["up"], folders().find((f) => existsSync(join(f, "Tiltfile"))) ?? folders()[0])),
    vscode.commands.registerCommand("hone.stop", async () => {
      if (side.session) await run(program(), ["stop", "--session", side.session.name]).catch((err: Error) => vscode.window.showErrorMessage(err.message));
    }),
    vscode.commands.registerCommand("hone.page", async (row?: Row) => {
      const which = row && "resource" in row && row.resource.name !== tiltfileName ? [row.resource.name] : [];
      if (!side.session) return;
      try {
        // The editor opens it: with a remote folder, only the editor is where the browser is.
        const url = await run(program(), ["open", "--print", "--session", side.session.name, ...which]);
        await vscode.env.openExternal(vscode.Uri.parse(url.trim()));
      } catch (err) {
        void vscode.window.showErrorMessage(err instanceof Error ? err.message : String(err));
      }
    }),
    on("trigger", (s, r) => post(s, "/api/trigger", { manifest_names: [r.name] })),
    on("rebuild", (s, r) => post(s, "/api/trigger", { manifest_names: [r.name], no_cache: true })),
    on("restart", (s, r) => post(s, "/api/restart", { manifest_names: [r.name] })),
    on("enable", (s, r) => post(s, "/api/switch", { manifest_names: [r.name], state: "enabled" })),
    on("disable", (s, r) => post(s, "/api/switch", { manifest_names: [r.name], state: "disabled" })),
    on("log", async (s, r) => terminal(`hone: ${r.name}`, ["logs", "-f", "--session", s.name, r.name])),
    on("endpoint", async (_, r) => {
      const all = r.endpoints ?? [];
      const url = all.length > 1 ? await vscode.window.showQuickPick(all.map((l) => l.url)) : all[0]?.url;
      if (url) await vscode.env.openExternal(vscode.Uri.parse(url));
    }),
    on("definition", async (s, r) => {
      const at = (await detail(s, r.name))?.definition?.[0];
      const file = vscode.Uri.file(shownAs(at ? resolve(s.tiltfile, "..", at.file) : s.tiltfile, folders()));
      const line = new vscode.Position(Math.max(0, (at?.line ?? 1) - 1), 0);
      await vscode.window.showTextDocument(file, { selection: new vscode.Range(line, line) });
    }),
  ];
}

/** Asks for a resource, for a command of the palette. */
async function choose(side: Side): Promise<PageResource | undefined> {
  const name = await vscode.window.showQuickPick(side.model.resources.map((r) => ({ label: r.name, description: descriptionOf(r, Date.now(), side.tiltfile) })));
  return name && side.model.get(name.label);
}
