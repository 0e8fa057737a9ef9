// What the page knows of the session, as signals: a view is drawn again only when what it shows has changed.
import { batch, computed, signal, type Signal } from "@preact/signals";

import type { Failure, Page, PageDetail, PageResource, PageSession } from "./api";
import { readBody } from "./foreign";
import { Stream } from "./stream";

export const session = signal<PageSession | undefined>(undefined);
/** The path of the session's Tiltfile; empty before there is a session. */
export const tiltfile = computed(() => session.value?.tiltfile ?? "");
export const order = signal<string[]>([]);
export const detail = signal<PageDetail | undefined>(undefined);
/** Counts the lines that the shown log has got. */
export const logNews = signal(0);
/** The time of the session's machine, once a second while the page is visible. */
export const now = signal(Date.now());
/** A message about the last action, and whether that failed. */
export const message = signal<{ text: string; failed: boolean } | undefined>(undefined);

/** Whether the session can be asked for something: a snapshot cannot. */
export const live = computed(() => !session.value?.past);

const rows = new Map<string, Signal<PageResource>>();
/** Changes when rows come or go. */
const population = signal(0);
let ahead = 0; // of the session's clock, in milliseconds

/** The row of a resource; undefined if there is none. */
export function row(name: string): Signal<PageResource> | undefined {
  population.value;
  return rows.get(name);
}

/** All rows, in the order of the Tiltfile. */
export const resources = computed(() => {
  population.value;
  return order.value.flatMap((name) => rows.get(name)?.value ?? []);
});

export const stream = new Stream({ page: take, log: (news) => (logNews.value = news.lines) });

function take(doc: Page) {
  batch(() => {
    ahead = Date.parse(doc.now) - Date.now();
    now.value = doc.session?.past || session.peek()?.past ? Date.parse(doc.now) : Date.now() + ahead;
    let changed = false;
    if (doc.whole) {
      const there = new Set((doc.resources ?? []).map((r) => r.name));
      for (const name of rows.keys()) {
        if (!there.has(name)) changed = rows.delete(name) || changed;
      }
    }
    for (const r of doc.resources ?? []) {
      const known = rows.get(r.name);
      if (known) known.value = r;
      else {
        rows.set(r.name, signal(r));
        changed = true;
      }
    }
    for (const name of doc.removed ?? []) changed = rows.delete(name) || changed;
    if (changed) population.value++;
    if (doc.order) order.value = doc.order;
    if (doc.session) session.value = doc.session;
    if (doc.detail) detail.value = doc.detail;
  });
}

// Ages are in seconds only while something is young, but a tick costs little: only texts that change are drawn.
setInterval(() => {
  if (!document.hidden && live.peek()) now.value = Date.now() + ahead;
}, 1000);

/** Asks something of the session, and says how that went. */
export async function ask(path: string, body: unknown, done: string): Promise<boolean> {
  try {
    const resp = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    if (resp.ok) {
      message.value = { text: done, failed: false };
      return true;
    }
    const failure = await readBody<Failure>(resp).catch((): Failure => ({ error: resp.statusText }));
    message.value = { text: failure.mend ? `${failure.error}: ${failure.mend}` : failure.error, failed: true };
  } catch {
    message.value = { text: "the session does not answer", failed: true };
  }
  return false;
}
