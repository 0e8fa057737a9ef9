// The stream of the session's state. It is read with fetch, not with EventSource: EventSource hides why a request was refused.
import { signal } from "@preact/signals";

import type { LogNews, Page } from "./api";
import { readJSON } from "./foreign";
import { pollEvery, slot } from "./slots";

/** How the connection to the session is. */
export type Connection = "connecting" | "open" | "lost" | "refused";

export const connection = signal<Connection>("connecting");

/** What a stream is asked for beside the rows. */
export interface Interest {
  detail?: string;
  /** The resources whose logs are announced; ["*"] for all. */
  log?: string[];
}

interface Handler {
  page(doc: Page): void;
  log(news: LogNews): void;
}

// The pause before another attempt grows up to the last one.
const pauses = [0, 250, 500, 1000, 2000];

/**
 * Stream keeps one connection to the session open while the page is visible. After a cut it continues after the last event that it
 * has taken in, so that nothing is lost or taken in twice.
 */
export class Stream {
  private last = "";
  private interest: Interest = {};
  private current: AbortController | undefined;
  private wake: (() => void) | undefined;

  constructor(private readonly handler: Handler) {
    document.addEventListener("visibilitychange", () => (document.hidden ? this.current?.abort() : this.wake?.()));
    window.addEventListener("online", () => this.wake?.());
  }

  /** Changes what is asked for. */
  want(interest: Interest) {
    if (JSON.stringify(interest) === JSON.stringify(this.interest)) return;
    this.interest = interest;
    this.current?.abort();
    this.wake?.();
  }

  /** Tries to connect at once, if the connection is lost. */
  retry() {
    this.wake?.();
  }

  /** Runs for as long as the page is open. */
  async run(): Promise<never> {
    for (let failures = 0; ; ) {
      if (document.hidden) {
        await this.pause(undefined);
        continue;
      }
      const cut = new AbortController();
      this.current = cut;
      let opened = false;
      const free = await slot();
      try {
        await this.read(cut.signal, free !== undefined, () => {
          opened = true;
          failures = 0;
          connection.value = "open";
        });
        if (!free && !cut.signal.aborted) {
          await this.pause(pollEvery);
          continue;
        }
      } catch (e) {
        if (e instanceof Refused) {
          connection.value = "refused";
          await this.pause(10_000);
          continue;
        }
      } finally {
        free?.();
      }
      if (cut.signal.aborted) continue; // on purpose
      connection.value = "lost";
      if (!opened) failures++;
      await this.pause(pauses[Math.min(failures, pauses.length - 1)]);
    }
  }

  private pause(ms: number | undefined): Promise<void> {
    return new Promise((done) => {
      const timer = ms === undefined ? undefined : setTimeout(done, ms);
      this.wake = () => {
        clearTimeout(timer);
        done();
      };
    });
  }

  private async read(signal: AbortSignal, follow: boolean, opened: () => void) {
    const query = new URLSearchParams();
    if (this.interest.detail !== undefined) query.set("detail", this.interest.detail);
    for (const name of this.interest.log ?? []) query.append("log", name);
    if (!follow) query.set("follow", "false");
    const resp = await fetch(`/api/page?${query}`, { signal, headers: this.last ? { "Last-Event-ID": this.last } : {} });
    if (resp.status === 401 || resp.status === 403) throw new Refused();
    if (!resp.ok || !resp.body) throw new Error(resp.statusText);
    opened();
    const reader = resp.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const events = (rest + value).split("\n\n");
      rest = events.pop() ?? "";
      for (const event of events) this.take(event);
    }
  }

  private take(event: string) {
    let id = "";
    let kind = "";
    let data = "";
    for (const line of event.split("\n")) {
      const at = line.indexOf(": ");
      const value = line.slice(at + 2);
      switch (line.slice(0, at)) {
        case "id":
          id = value;
          break;
        case "event":
          kind = value;
          break;
        case "data":
          data = value;
      }
    }
    if (kind === "page") this.handler.page(readJSON<Page>(data));
    if (kind === "log") this.handler.log(readJSON<LogNews>(data));
    if (id) this.last = id;
  }
}

class Refused extends Error {}
