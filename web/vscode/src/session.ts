// A running session of hone: how it is found, and how it is talked to. Nothing here needs the editor.
import { execFile } from "node:child_process";
import { realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import * as http from "node:http";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";

import type { Page, PageDetail } from "../../src/api";

/** What hone sessions -o json says of a session. */
export interface Running {
  name: string;
  pid: number;
  tiltfile: string;
  url?: string;
  socket?: string;
  kubeconfig?: string;
}

/** An error of the program hone itself; missing if there is no such program. */
export class HoneError extends Error {
  constructor(
    message: string,
    readonly missing: boolean,
  ) {
    super(message);
  }
}

/** Runs hone until it ends, and returns its output. */
export function run(program: string, args: string[], cwd?: string): Promise<string> {
  return new Promise((done, fail) => {
    execFile(program, args, { maxBuffer: 16 << 20, windowsHide: true, ...(cwd ? { cwd } : {}) }, (err, out, text) => {
      if (err) fail(new HoneError(text.trim() || err.message, "code" in err && (err.code as unknown) === "ENOENT"));
      else done(out);
    });
  });
}

export async function sessions(program: string): Promise<Running[]> {
  const all: unknown = JSON.parse((await run(program, ["sessions", "-o", "json"])) || "[]");
  return Array.isArray(all) ? (all as Running[]) : [];
}

/** The session of a folder: one whose Tiltfile is in it, or next to it, as close as possible. */
export function sessionOf(all: Running[], folders: string[]): Running | undefined {
  const places = folders.map(real);
  const near = all
    .map((s) => ({ s, far: Math.min(...places.map((f) => distance(f, dirname(s.tiltfile)))) }))
    .filter((x) => Number.isFinite(x.far))
    .sort((a, b) => a.far - b.far);
  return near[0]?.s;
}

/** The real path of a folder: hone knows all files by their real paths, but a folder may be opened through a link. */
function real(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder; // it is gone
  }
}

/** The name under which the editor knows a file of the session, which is in one of the folders. */
export function shownAs(file: string, folders: string[]): string {
  for (const folder of folders) {
    const way = relative(real(folder), file);
    if (way !== "" && way.split(/[\\/]/)[0] !== ".." && !isAbsolute(way)) return join(folder, way);
  }
  return file;
}

/** How many folders lie between two folders of which one contains the other; infinite for others. */
function distance(a: string, b: string): number {
  const way = relative(resolve(a), resolve(b));
  if (way === "") return 0;
  const steps = way.split(/[\\/]/);
  return steps.every((s) => s === "..") || !steps.includes("..") ? steps.length : Infinity;
}

/** Address is how requests reach the session: its socket, or on Windows, where Node has none, its port with the token. */
async function address(s: Running): Promise<http.RequestOptions> {
  if (process.platform !== "win32" && s.socket) return { socketPath: s.socket, headers: { Host: "localhost" } };
  const at = new URL(s.url ?? "");
  const token = s.kubeconfig ? /^\s*token:\s*"?([^"\s]+)/m.exec(await readFile(s.kubeconfig, "utf8"))?.[1] : undefined;
  return { host: at.hostname, port: at.port, headers: { Authorization: `Bearer ${token ?? ""}` } };
}

async function request(s: Running, method: string, path: string, body?: unknown): Promise<http.IncomingMessage> {
  const to = await address(s);
  const text = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((done, fail) => {
    const headers = { ...(to.headers as Record<string, string>), ...(text === undefined ? {} : { "Content-Type": "application/json" }) };
    const r = http.request({ ...to, method, path, headers }, done);
    r.on("error", fail);
    r.end(text);
  });
}

async function textOf(r: http.IncomingMessage): Promise<string> {
  r.setEncoding("utf8");
  let text = "";
  for await (const part of r) text += part as string;
  return text;
}

/** Sends a request of the user. The error of a refused one says why. */
export async function post(s: Running, path: string, body: unknown): Promise<void> {
  const r = await request(s, "POST", path, body);
  const text = await textOf(r);
  if ((r.statusCode ?? 500) >= 300) throw new Error(said(text));
}

/** The text of an answer that refuses: the message of JSON, or the text itself. */
function said(text: string): string {
  try {
    const answer = JSON.parse(text) as { message?: string; error?: string };
    return answer.message ?? answer.error ?? text;
  } catch {
    return text.trim();
  }
}

/** What the session knows about one resource. */
export async function detail(s: Running, name: string): Promise<PageDetail | undefined> {
  const r = await request(s, "GET", `/api/page?follow=false&detail=${encodeURIComponent(name)}`);
  const text = await textOf(r);
  for (const e of events(text)) {
    if (e.event === "page") return (JSON.parse(e.data) as Page).detail;
  }
  return undefined;
}

interface ServerEvent {
  event: string;
  data: string;
}

/** The whole server-sent events of a text. */
export function events(text: string): ServerEvent[] {
  return text
    .split(/\r?\n\r?\n/)
    .map((block) => {
      const e: ServerEvent = { event: "message", data: "" };
      for (const line of block.split(/\r?\n/)) {
        if (line.startsWith("event: ")) e.event = line.slice(7);
        if (line.startsWith("data: ")) e.data += (e.data ? "\n" : "") + line.slice(6);
      }
      return e;
    })
    .filter((e) => e.data !== "");
}

/** Calls back with each page that the session sends, until it ends or the stream is closed. */
export async function follow(s: Running, each: (p: Page) => void, closed: AbortSignal): Promise<void> {
  const r = await request(s, "GET", "/api/page");
  if (r.statusCode !== 200) throw new Error(said(await textOf(r)));
  const stop = () => r.destroy();
  closed.addEventListener("abort", stop, { once: true });
  if (closed.aborted) stop();
  r.setEncoding("utf8");
  let rest = "";
  try {
    for await (const part of r) {
      rest += part as string;
      const end = rest.lastIndexOf("\n\n");
      if (end < 0) continue;
      for (const e of events(rest.slice(0, end))) {
        if (e.event === "page") each(JSON.parse(e.data) as Page);
      }
      rest = rest.slice(end + 2);
    }
  } catch (err) {
    if (!closed.aborted) throw err;
  } finally {
    closed.removeEventListener("abort", stop);
  }
}
