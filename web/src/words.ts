// What is shown, in words. The words are those of hone's screen.
import type { PageResource, PageUpdate } from "./api";

export const glyphs: Record<string, string> = { idle: "○", ok: "✔", warning: "!", waiting: "◌", updating: "●", failed: "✖", unknown: "?" };
export const statusNames: Record<string, string> = {
  idle: "not running",
  ok: "ok",
  warning: "ok, with warnings",
  waiting: "waiting",
  updating: "updating",
  failed: "failed",
  unknown: "unknown",
};

/** Formats a duration: "2.1 ms", "340 ms", "3.9 s", "2 m 10 s". */
export function duration(ms: number): string {
  if (ms < 100) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const s = Math.round(ms / 1000);
  return s < 3600 ? `${Math.floor(s / 60)} m ${s % 60} s` : `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} m`;
}

/** Formats how long ago something was: "now", "12 s", "4 m", "2 h", "3 d". */
export function age(time: string | undefined, now: number): string {
  if (!time) return "–";
  const s = Math.floor((now - Date.parse(time)) / 1000);
  if (s < 1) return "now";
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} m`;
  return s < 86_400 ? `${Math.floor(s / 3600)} h` : `${Math.floor(s / 86_400)} d`;
}

export function count(n: number, word: string): string {
  return `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
}

/** Formats a list of files as the first and the number of the others: "app.tsx +2". */
export function files(u: PageUpdate): string {
  const first = u.files?.[0];
  if (!first) return "";
  const more = (u.fileCount ?? 1) - 1;
  return first.slice(first.lastIndexOf("/") + 1) + (more > 0 ? ` +${more}` : "");
}

export function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0] ?? "";
}

/** What a cell says, and in which tone. */
export interface Said {
  text: string;
  note?: string;
  tone: "plain" | "dim" | "good" | "warn" | "bad" | "accent";
  /** How far a running update is, from 0 to 1. */
  progress?: number;
}

const verbs: Record<string, string> = { build: "building", push: "pushing", apply: "deploying", start: "starting", context: "building" };

/** What a running update does. */
export function running(u: PageUpdate, now: number): Said {
  const p = u.progress;
  let text = u.mode === "in place" ? "updating in place" : u.mode === "evaluation" ? "evaluating" : (verbs[p?.kind ?? ""] ?? "updating");
  const said: Said = { text, tone: "accent" };
  if (p?.steps) {
    said.progress = (p.step ?? 0) / p.steps;
    text += ` ${p.step ?? 0}/${p.steps}`;
  } else if (p?.percent) {
    said.progress = p.percent / 100;
    text += ` ${p.percent} %`;
  }
  const took = Math.max(0, Math.floor((now - Date.parse(u.startedAt)) / 1000));
  said.text = took >= 60 ? `${text}, ${duration(took * 1000)}` : took > 0 ? `${text}, ${took} s` : text;
  const note = p?.waits ? `${p.waits}${p.since ? `, ${age(p.since, now)}` : ""}` : files(u);
  if (note) said.note = note;
  return said;
}

/** How an update went. */
export function past(u: PageUpdate): Said {
  if (u.cancelled) return { text: "cancelled", tone: "dim" };
  if (u.error) return { text: firstLine(u.error), tone: "bad" };
  const mode = u.mode === "in place" ? "in place" : u.mode && u.mode !== "evaluation" ? `ok, ${u.mode}` : "ok";
  const said: Said = { text: `${mode} ${duration(u.ms ?? 0)}`, tone: "plain" };
  const notes = [files(u), u.warnings ? count(u.warnings, "warning") : "", u.fellBack ? `fell back: ${firstLine(u.fellBack)}` : ""].filter(Boolean);
  if (notes.length > 0) said.note = notes.join(" · ");
  if (u.warnings || u.fellBack) said.tone = "warn";
  return said;
}

/** Shortens the paths in a text to what follows the folder of the Tiltfile: a column and a node have no room for more. */
export function below(text: string, tiltfile: string): string {
  const root = tiltfile.replace(/[^/\\]*$/, "");
  return root.length > 1 ? text.replaceAll(root, "") : text;
}

/** What the column of the update says: what happens, why it waits, or how it went. */
export function updateOf(r: PageResource, now: number, tiltfile: string): Said {
  if (r.current) return running(r.current, now);
  if (r.text) {
    const warns = r.waiting && r.waiting.reason !== "tearing-down";
    return { text: r.text, tone: warns ? "warn" : "dim", ...(warns && r.pending ? { note: count(r.pending, "changed file") } : {}) };
  }
  if (!r.last) return { text: "–", tone: "dim" };
  const said = past(r.last);
  if (r.last.error) said.text = below(said.text, tiltfile);
  if (r.behind) return { ...said, note: `${count(r.behind, "container")} behind`, tone: "warn" };
  return r.drift ? { ...said, text: `≠ ${r.drift}`, note: said.text, tone: "warn" } : said;
}

/** What the column of the runtime says. */
export function runtimeOf(r: PageResource, now: number): Said {
  const { status, text, error, since, restarts } = r.runtime;
  if (r.relapse) return { text: `${r.relapse.reason} ×${r.relapse.restarts}`, note: "runs again", tone: "warn" };
  if (status === "none" || status === "not_applicable") return { text: "–", tone: "dim" };
  const said: Said = { text: text || error || status, tone: status === "error" ? "bad" : status === "ok" ? "plain" : "warn" };
  if (since) said.text += `, ${age(since, now)}`;
  if (restarts) said.note = count(restarts, "restart");
  return said;
}

/** When the newest update ended; now while one runs. */
export function changed(r: PageResource): number {
  if (r.current) return Number.MAX_SAFE_INTEGER;
  return r.last?.finishedAt ? Date.parse(r.last.finishedAt) : 0;
}
