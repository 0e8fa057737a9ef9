// A part of the session's log, by position. Only what was looked at lately is kept, however long the log is.
import { signal } from "@preact/signals";

import type { LogAt, LogFound, LogWindow } from "./api";

/** What of the log is shown. */
export interface Filter {
  /** None for all resources. */
  resource: string[];
  level: "" | "warn" | "error" | "debug";
  source: "" | "build" | "runtime";
  /** What is typed: words, and those of the query language, as on the screen. */
  query: string;
  /** One piece of work; empty for all. */
  span: string;
  pod: string;
  container: string;
  /** The number of the line up to which the log was cleared; 0 for none. */
  after: number;
}

/** The number of positions that are fetched and kept together. It is that between two marks of the server's index. */
const block = 256;
/** How many blocks are kept. */
const kept = 40;

export class Log {
  /** The positions that there are, and a count that changes when lines have come in. */
  readonly first = signal(0);
  readonly end = signal(0);
  readonly version = signal(0);
  readonly error = signal("");
  readonly loaded = signal(false);

  private readonly blocks = new Map<number, (LogAt | undefined)[]>();
  private readonly fetching = new Set<number>();
  private readonly query: URLSearchParams;
  private readonly ended = new AbortController();
  private again = false;
  private busy = false;

  constructor(readonly filter: Filter) {
    this.query = new URLSearchParams();
    for (const [key, value] of Object.entries(filter) as [string, string | number | string[]][]) {
      if (Array.isArray(value)) for (const v of value) this.query.append(key, v);
      else if (value) this.query.set(key, String(value));
    }
  }

  /** The address of all lines as text. */
  get download(): string {
    const query = new URLSearchParams(this.query);
    query.set("format", "text");
    return `/api/logs?${query}`;
  }

  /** The newest lines as text. */
  async copyText(most: number): Promise<string> {
    const resp = await fetch(`${this.download}&tail=${most}`, { signal: this.ended.signal });
    if (!resp.ok) throw new Error(resp.statusText);
    return resp.text();
  }

  /** The position of the line with a number, or of the next one; -1 if there is none. */
  async positionOf(seq: number): Promise<number> {
    const query = new URLSearchParams(this.query);
    query.set("seq", String(seq));
    const resp = await fetch(`/api/logs/find?${query}`, { signal: this.ended.signal });
    return resp.ok ? ((await resp.json()) as LogFound).at : -1;
  }

  close() {
    this.ended.abort();
  }

  /** The line at a position; undefined if it is not there, or not there yet. */
  line(at: number): LogAt | undefined {
    return this.blocks.get(Math.floor(at / block))?.[at % block];
  }

  /** Takes in what is new at the end. While one request is on its way, further calls are one more. */
  async refresh(tail: boolean): Promise<void> {
    if (this.busy) {
      this.again = true;
      return;
    }
    this.busy = true;
    do {
      this.again = false;
      await this.get(tail ? { count: String(block) } : { count: "0" });
    } while (this.again && !this.ended.signal.aborted);
    this.busy = false;
  }

  /** Fetches what is missing of the positions from a to b. */
  ensure(a: number, b: number) {
    for (let n = Math.floor(Math.max(a, this.first.value) / block); n * block < Math.min(b, this.end.value); n++) {
      const lines = this.blocks.get(n);
      if (lines) {
        this.blocks.delete(n); // it is the newest now
        this.blocks.set(n, lines);
      }
      if (this.complete(n) || this.fetching.has(n)) continue;
      this.fetching.add(n);
      void this.get({ from: String(n * block), count: String(block) }).then(() => this.fetching.delete(n));
    }
  }

  /** Fetches the block of a position. */
  async load(at: number): Promise<void> {
    const n = Math.floor(at / block);
    if (!this.complete(n)) await this.get({ from: String(n * block), count: String(block) });
  }

  private complete(n: number): boolean {
    const lines = this.blocks.get(n);
    if (!lines) return false;
    const from = Math.max(this.first.peek() - n * block, 0);
    const to = Math.min(this.end.peek() - n * block, block);
    return (lines as { whole?: number }).whole === to || (lines[from] !== undefined && lines[to - 1] !== undefined);
  }

  private async get(place: Record<string, string>) {
    const query = new URLSearchParams(this.query);
    for (const [key, value] of Object.entries(place)) query.set(key, value);
    try {
      const resp = await fetch(`/api/logs/window?${query}`, { signal: this.ended.signal });
      const body = (await resp.json()) as LogWindow & { error?: string };
      if (!resp.ok) {
        this.error.value = body.error ?? resp.statusText;
        return;
      }
      this.error.value = "";
      this.take(body, place.from === undefined ? undefined : Number(place.from));
    } catch {
      // The connection is lost, which the page says, or the log is no longer shown.
    }
  }

  private take(window: LogWindow, from: number | undefined) {
    if (window.end < this.end.peek()) this.blocks.clear(); // another count has begun
    this.first.value = window.first;
    this.end.value = window.end;
    this.loaded.value = true;
    for (const line of window.lines) {
      const n = Math.floor(line.at / block);
      let lines = this.blocks.get(n);
      if (!lines) this.blocks.set(n, (lines = new Array<LogAt | undefined>(block)));
      lines[line.at % block] = line;
    }
    if (from !== undefined) {
      // What is missing of a block that was asked for was dropped: it is not asked for again.
      const n = from / block;
      const lines = this.blocks.get(n) ?? new Array<LogAt | undefined>(block);
      (lines as { whole?: number }).whole = Math.min(window.end - from, block);
      this.blocks.set(n, lines);
    }
    for (const n of this.blocks.keys()) {
      if (this.blocks.size <= kept) break;
      this.blocks.delete(n);
    }
    this.version.value++;
  }

  /** Finds a text; see GET /api/logs/find. */
  async find(text: string, from: number, back: boolean): Promise<LogFound | string> {
    const query = new URLSearchParams(this.query);
    query.set("find", text);
    if (from >= 0) query.set("from", String(from));
    if (back) query.set("back", "true");
    try {
      const resp = await fetch(`/api/logs/find?${query}`, { signal: this.ended.signal });
      const body = (await resp.json()) as LogFound & { error?: string };
      return resp.ok ? body : (body.error ?? resp.statusText);
    } catch {
      return "the session does not answer";
    }
  }
}
