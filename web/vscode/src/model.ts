// What the side bar and the list of problems show of a session. Nothing here needs the editor.
import { dirname, isAbsolute, join } from "node:path";

import type { Page, PageBuild, PageDetail, PageResource, PageSession } from "../../src/api";
import { arrange, group, tiltfileName } from "../../src/order";
import { firstLine, runtimeOf, updateOf } from "../../src/words";

/** The resources of a session, kept up to date by the pages that it sends. */
export class Model {
  session: PageSession | undefined;
  private order: string[] = [];
  private all = new Map<string, PageResource>();

  /** Takes in a page, and returns the names of the resources that have changed. */
  take(p: Page): string[] {
    if (p.whole) this.all.clear();
    if (p.session) this.session = p.session;
    if (p.order) this.order = p.order;
    for (const name of p.removed ?? []) this.all.delete(name);
    for (const r of p.resources ?? []) this.all.set(r.name, r);
    return [...(p.removed ?? []), ...(p.resources ?? []).map((r) => r.name)];
  }

  get resources(): PageResource[] {
    return this.order.flatMap((name) => this.all.get(name) ?? []);
  }

  get(name: string): PageResource | undefined {
    return this.all.get(name);
  }

  get failed(): PageResource[] {
    return this.resources.filter(failing);
  }

  /** The rows as the web page groups them: those above the groups, and the groups by their first label; failed ones first in each. */
  get tree(): { top: PageResource[]; groups: { label: string; resources: PageResource[] }[] } {
    const top: PageResource[] = [];
    const by = new Map<string, PageResource[]>();
    for (const r of arrange(this.resources, "by group")) {
      if (r.name === tiltfileName) top.push(r);
      else by.set(group(r), [...(by.get(group(r)) ?? []), r]);
    }
    // Only failures move a row: others would make it jump with each update.
    for (const list of by.values()) list.sort((a, b) => Number(failing(b)) - Number(failing(a)));
    if (by.size === 1 && by.has("")) return { top: [...top, ...(by.get("") ?? [])], groups: [] };
    return { top, groups: [...by].map(([label, resources]) => ({ label: label || "no label", resources })) };
  }
}

export function failing(r: PageResource): boolean {
  return r.status === "failed" && !r.disabled;
}

/** The name of the icon of a row, and the colour of the theme that it has. */
export function iconOf(r: PageResource): { icon: string; color?: string } {
  if (r.disabled) return { icon: "circle-slash" };
  switch (r.status) {
    case "ok":
      return { icon: "pass", color: "testing.iconPassed" };
    case "failed":
      return { icon: "error", color: "testing.iconFailed" };
    case "warning":
      return { icon: "warning", color: "list.warningForeground" };
    case "updating":
      return { icon: "sync~spin" };
    case "waiting":
      return { icon: "clock" };
    case "unknown":
      return { icon: "question" };
  }
  return { icon: "circle-outline" };
}

/** What stands beside the name of a row, in the words of the web page: its update, and what runs. */
export function descriptionOf(r: PageResource, now: number, tiltfile: string): string {
  // A row is drawn when the resource changes, not each second: how long something goes on already would soon be wrong.
  const { since: _, ...runtime } = r.runtime;
  const parts = [updateOf(r, r.current ? Date.parse(r.current.startedAt) : now, tiltfile).text];
  if (r.disabled) return parts.join();
  const runs = runtimeOf({ ...r, runtime }, now).text;
  if (runs !== "–") parts.push(runs);
  if (r.error && !r.last?.error && r.runtime.status !== "error") parts.push(firstLine(r.error)); // that of a port
  return parts.join(" · ");
}

/** The value that menus look at. */
export function contextOf(r: PageResource): string {
  const words = ["resource"];
  if (r.name !== tiltfileName) words.push(r.disabled ? "disabled" : "enabled");
  if (r.endpoints?.length) words.push("endpoint");
  return words.join(" ");
}

/** An error at a place in a file. Line and column count from 1. */
export interface Place {
  file: string;
  line: number;
  column: number;
  message: string;
}

// path:line: message and path:line:column: message, as compilers write them; a drive letter belongs to the path.
const placed = /^\s*((?:[A-Za-z]:)?[^\s:()[\]"'`][^:()[\]"'`]*):(\d+)(?::(\d+))?:\s*(.+?)\s*$/;
// Python: File "app.py", line 3; the message is the last line of the traceback.
const python = /^\s*File "([^"]+)", line (\d+)/;
// TypeScript: src/a.ts(3,7): error TS2304: …
const parenthesised = /^\s*([^\s()]+)\((\d+),(\d+)\):\s*(.+?)\s*$/;

/** The places that a text of errors names, each once. exists tells whether a file is there; a relative path is looked for in roots. */
export function placesIn(text: string, roots: string[], exists: (file: string) => boolean): Place[] {
  const out: Place[] = [];
  const add = (name: string, line: string, column: string | undefined, message: string) => {
    const file = isAbsolute(name) ? (exists(name) ? name : undefined) : roots.map((r) => join(r, name)).find(exists);
    if (file === undefined) return;
    const place = { file, line: Number(line), column: Number(column ?? 1), message };
    if (!out.some((p) => p.file === file && p.line === place.line && p.message === message)) out.push(place);
  };
  const lines = text.split(/\r?\n/);
  for (const l of lines) {
    const a = placed.exec(l) ?? undefined;
    const b = parenthesised.exec(l);
    const c = python.exec(l);
    if (a) add(a[1]!, a[2]!, a[3], a[4]!);
    else if (b) add(b[1]!, b[2]!, b[3], b[4]!);
    else if (c) add(c[1]!, c[2]!, undefined, lines.filter((x) => /^\S/.test(x)).at(-1)?.trim() ?? "error");
  }
  return out;
}

/** The places of the error of a resource's newest completed update, which has failed. */
export function problemsOf(r: PageResource, d: PageDetail | undefined, tiltfile: string, exists: (file: string) => boolean): Place[] {
  const newest: PageBuild | undefined = d?.updates?.find((u) => u.finishedAt); // the next one may run already
  const text = [...(newest?.output ?? []), newest?.error ?? r.error ?? ""].join("\n");
  const root = dirname(tiltfile);
  // A command runs in a folder of its own: that of a file that it was started for, or of one above.
  const roots = [root, ...new Set((newest?.allFiles ?? newest?.files ?? []).flatMap((f) => above(isAbsolute(f) ? f : join(root, f), root)))];
  return placesIn(text, roots, exists);
}

/** The folders of a file up to a root. */
function above(file: string, root: string): string[] {
  const out: string[] = [];
  for (let dir = dirname(file); dir.length > root.length; dir = dirname(dir)) out.push(dir);
  return out;
}
