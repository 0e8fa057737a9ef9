// What happened in the session, for as long as a view shows it. The stream continues after the last event that was taken in.
import { signal } from "@preact/signals";

import type { Event } from "./api";
import { readJSON } from "./foreign";
import { pollEvery, slot } from "./slots";

/** Older events are dropped: the session keeps about as many. */
const most = 10_000;

export const events = signal<readonly Event[]>([]);
/** Set once all events up to now are there. */
export const caughtUp = signal(false);

let last = 0;
let reading: AbortController | undefined;

/** Reads events while the page is visible, until the function that it returns is called. */
export function follow(): () => void {
  reading?.abort();
  const end = (reading = new AbortController());
  void (async () => {
    while (!end.signal.aborted) {
      const hidden = new AbortController();
      const look = () => document.hidden && hidden.abort();
      document.addEventListener("visibilitychange", look);
      try {
        if (!document.hidden) await read(AbortSignal.any([end.signal, hidden.signal]));
      } catch {
        // The connection is lost, which the page says, or the page is hidden.
      }
      document.removeEventListener("visibilitychange", look);
      if (end.signal.aborted) return;
      if (document.hidden) await new Promise((done) => document.addEventListener("visibilitychange", done, { once: true }));
      else await new Promise((done) => setTimeout(done, pollEvery));
    }
  })();
  return () => end.abort();
}

async function read(cut: AbortSignal) {
  const free = await slot();
  try {
    // A first request ends, which says that all is there; the second one stays open.
    for (const more of free ? ["", "&follow=true"] : [""]) await request(more, cut);
  } finally {
    free?.();
  }
}

async function request(more: string, cut: AbortSignal) {
  const resp = await fetch(`/api/events?since=${last}${more}`, { signal: cut });
  if (resp.status === 410) {
    // Another session.
    last = 0;
    events.value = [];
    return;
  }
  if (!resp.ok || !resp.body) throw new Error(resp.statusText);
  const reader = resp.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    take(lines.filter(Boolean).map((l) => readJSON<Event>(l)));
  }
  caughtUp.value = true;
}

function take(news: Event[]) {
  const fresh = news.filter((e) => e.seq > last);
  if (fresh.length === 0) return;
  last = fresh[fresh.length - 1]?.seq ?? last;
  const all = [...events.value, ...fresh];
  events.value = all.length > most ? all.slice(all.length - most) : all;
}
