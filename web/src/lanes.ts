// The time line's content: of the events of the session, what happened to each resource from when to when.
import type { Event } from "./api";
import { tiltfileName } from "./order";
import { count, duration, firstLine } from "./words";

export type Tone = "good" | "place" | "bad" | "warn" | "dim" | "accent";

/** Something on a lane. Without an end it is still going on; a mark has none and takes no time. */
export interface Item {
  key: string;
  kind: "update" | "hold" | "restart" | "mark";
  from: number;
  to?: number;
  tone: Tone;
  glyph: string;
  text: string;
  /** More about it: files, error. */
  note?: string;
  files?: string[];
  error?: string;
  stages?: { name: string; ms: number }[];
  update?: number;
}

export interface Lane {
  name: string;
  items: Item[];
}

/** The lane of what belongs to no resource. */
export const sessionLane = "session";

const marks: Record<string, (e: Event) => Partial<Item> & { text: string; glyph: string; tone: Tone }> = {
  "files-changed": (e) => ({ glyph: "▾", tone: "accent", text: e.files ? count(e.files.total, "file") + " saved" : "saved", ...(e.files ? { files: e.files.files, note: e.files.files.slice(0, 3).join(", ") } : {}) }),
  "resource-triggered": () => ({ glyph: "▸", tone: "accent", text: "update requested" }),
  "resource-enabled": () => ({ glyph: "○", tone: "dim", text: "enabled" }),
  "resource-disabled": () => ({ glyph: "○", tone: "dim", text: "disabled" }),
  "pod-ready": (e) => ({ glyph: "✔", tone: "good", text: "pod ready", ...(e.pod ? { note: e.pod.name } : {}) }),
  "pod-failing": (e) => ({ glyph: "✖", tone: "bad", text: e.pod?.status ?? "pod fails", ...(e.pod ? { note: e.pod.name } : {}), ...(e.pod?.why ? { error: e.pod.why } : {}) }),
  "program-running": (e) => ({ glyph: "↻", tone: "place", text: "program restarted", ...(e.program ? { note: `${e.program.pod} ${e.program.container}` } : {}) }),
  "program-exited": (e) => ({ glyph: "✖", tone: "bad", text: `program exited with code ${e.program?.exitCode ?? "?"}` }),
  "server-ready": () => ({ glyph: "✔", tone: "good", text: "serve_cmd ready" }),
  "server-failed": (e) => ({ glyph: "✖", tone: "bad", text: "serve_cmd failed", ...(e.server?.error ? { error: e.server.error } : {}) }),
  "forward-failed": (e) => ({ glyph: "✖", tone: "bad", text: `port ${e.forward?.localPort} failed`, ...(e.forward?.error ? { error: e.forward.error } : {}) }),
  "button-clicked": (e) => ({ glyph: "▸", tone: "accent", text: `${e.button?.text || e.button?.name} clicked` }),
  "session-paused": () => ({ glyph: "∥", tone: "warn", text: "paused" }),
  "session-resumed": () => ({ glyph: "▸", tone: "good", text: "resumed" }),
  "cluster-lost": (e) => ({ glyph: "✖", tone: "bad", text: `cluster ${e.connection?.name ?? ""} lost`, ...(e.connection?.error ? { error: e.connection.error } : {}) }),
  "cluster-connected": (e) => ({ glyph: "✔", tone: "good", text: `cluster ${e.connection?.name ?? ""} answers` }),
  "engine-lost": () => ({ glyph: "✖", tone: "bad", text: "container engine lost" }),
  "engine-connected": () => ({ glyph: "✔", tone: "good", text: "container engine answers" }),
  "controller-failed": (e) => ({ glyph: "✖", tone: "bad", text: `hone’s ${e.controller?.name} failed`, ...(e.controller ? { error: e.controller.error } : {}) }),
};

const inPlace = ["synclet", "container", "exec"];

/** Puts events onto lanes, in the order of names; lanes of resources that are gone come last. */
export function lanesOf(events: readonly Event[], names: string[]): Lane[] {
  const lanes = new Map<string, Item[]>();
  const running = new Map<string, Item>();
  const holds = new Map<string, Item>();
  const lane = (name: string) => {
    let l = lanes.get(name);
    if (!l) lanes.set(name, (l = []));
    return l;
  };
  for (const e of events) {
    const name = e.resource || sessionLane;
    const at = Date.parse(e.time);
    const key = String(e.seq);
    switch (e.type) {
      case "update-started": {
        if (!e.update) break;
        const item: Item = { key, kind: "update", from: Date.parse(e.update.startedAt), tone: "accent", glyph: "●", text: `update ${e.update.serial}`, note: e.update.reason ?? "", files: e.update.files ?? [], update: e.update.serial };
        running.set(`${name} ${e.update.serial}`, item);
        lane(name).push(item);
        break;
      }
      case "update-finished": {
        const u = e.update;
        if (!u) break;
        let item = running.get(`${name} ${u.serial}`);
        if (!item) lane(name).push((item = { key, kind: "update", from: Date.parse(u.startedAt), tone: "accent", glyph: "●", text: "", update: u.serial }));
        running.delete(`${name} ${u.serial}`);
        const place = inPlace.includes(u.mode ?? "");
        const slow = [...(u.containers ?? [])].sort((a, b) => b.totalMs - a.totalMs)[0];
        // An update in place begins with the save, which the session has seen before it began.
        if (place && slow) item.from = Math.min(item.from, at - slow.totalMs);
        item.to = at;
        item.tone = u.cancelled ? "dim" : u.error ? "bad" : place ? "place" : "good";
        item.glyph = u.error ? "✖" : "✔";
        item.text = u.cancelled ? `update ${u.serial}, cancelled` : u.error ? `update ${u.serial} failed` : `${place ? "in place" : (u.mode ?? "update")} ${duration(place && slow ? slow.totalMs : (u.tookMs ?? 0))}`;
        item.note = [u.reason, u.fellBack && `fell back: ${firstLine(u.fellBack)}`].filter(Boolean).join(" · ");
        item.files = u.files ?? [];
        if (u.error && !u.cancelled) item.error = u.error;
        item.stages = place && slow ? Object.entries(slow.stages).map(([stage, ms]) => ({ name: stage.replace(/Ms$/, ""), ms: Number(ms) })) : (u.steps ?? []).map((s) => ({ name: s.image ? `${s.kind} ${s.image}` : s.kind, ms: s.tookMs }));
        break;
      }
      case "tiltfile-started": {
        const item: Item = { key, kind: "update", from: at, tone: "accent", glyph: "●", text: "evaluation", note: e.tiltfile?.reason ?? "" };
        running.set(tiltfileName, item);
        lane(tiltfileName).push(item);
        break;
      }
      case "tiltfile-loaded":
      case "tiltfile-failed": {
        const item = running.get(tiltfileName);
        running.delete(tiltfileName);
        if (!item) break;
        item.to = at;
        item.tone = e.tiltfile?.error ? "bad" : "good";
        item.glyph = e.tiltfile?.error ? "✖" : "✔";
        item.text = e.tiltfile?.error ? "evaluation failed" : `evaluated in ${duration(e.tiltfile?.tookMs ?? 0)}`;
        if (e.tiltfile?.error) item.error = e.tiltfile.error;
        break;
      }
      case "hold-changed": {
        const was = holds.get(name);
        if (was) was.to = at;
        holds.delete(name);
        if (!e.hold?.reason || e.hold.reason === "building-component") break;
        const item: Item = { key, kind: "hold", from: at, tone: "warn", glyph: "◌", text: e.hold.text ?? e.hold.reason };
        holds.set(name, item);
        lane(name).push(item);
        break;
      }
      case "restart-requested":
        lane(name).push({ key, kind: "mark", from: at, to: at, tone: "accent", glyph: "↻", text: e.restart?.pods ? "pods are replaced" : "restart requested" });
        break;
      case "restart-finished":
        lane(name).push({ key, kind: "mark", from: at, to: at, tone: e.restart?.error ? "bad" : "good", glyph: e.restart?.error ? "✖" : "↻", text: e.restart?.error ? "restart failed" : "restarted", note: (e.restart?.done ?? []).join(", "), ...(e.restart?.error ? { error: e.restart.error } : {}) });
        break;
      default: {
        const mark = marks[e.type];
        if (mark) lane(name).push({ key, kind: "mark", from: at, to: at, ...mark(e) });
      }
    }
  }
  for (const items of lanes.values()) items.sort((a, b) => a.from - b.from);
  const place = (name: string) => {
    const i = name === sessionLane ? -1 : names.indexOf(name);
    return i < 0 && name !== sessionLane ? names.length : i;
  };
  return [...lanes].map(([name, items]) => ({ name, items })).sort((a, b) => place(a.name) - place(b.name));
}
