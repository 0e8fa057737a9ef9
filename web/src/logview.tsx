// The view of a log: only the lines that are visible are in the page.
import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import { parse, plain } from "./ansi";
import type { LogAt, PagePod } from "./api";
import { copy } from "./copy";
import { hue } from "./hue";
import { parseJSON, short } from "./json";
import { keys } from "./keys";
import { Log, type Filter } from "./logs";
import { hashOf, resourceHash, type Place } from "./place";
import { remembered } from "./remembered";
import { logNews, message } from "./state";
import { count } from "./words";

const rowHeight = 20;
/** Browsers cannot lay out elements of any height. Beyond this one, scrolling is proportional. */
const mostHeight = 12_000_000;
const overscan = 12;

const wrap = remembered("wrap", window.innerWidth < 900);
const times = remembered("times", true);
const asJSON = remembered("json", true);
/** How many lines are copied at most. */
const mostCopied = 10_000;

/** The choices of the level. At debug, there are the details of updates. */
const levels = ["", "warn", "error", "debug"] as const;
/** Up to which line logs were cleared, by title. It holds until the page is loaded again. */
const cleared = new Map<string, number>();

interface LogProps {
  /** The resources whose lines are shown; none for all. */
  resources: string[];
  /** The place of this log, for links to its lines. */
  here: Extract<Place, { view: "log" | "resource" }>;
  title: string;
  span?: string;
  onSpanEnd?: () => void;
  /** The pods to choose from. */
  pods?: PagePod[];
  /** The number of the line to show first. */
  line?: number | undefined;
}

export function LogView(p: LogProps) {
  const level = useSignal<Filter["level"]>("");
  const source = useSignal<Filter["source"]>("");
  // What is typed, and what is filtered by, once typing pauses.
  const typed = useSignal("");
  const text = useSignal("");
  useSignalEffect(() => {
    const value = typed.value;
    const timer = setTimeout(() => (text.value = value), value ? 150 : 0);
    return () => clearTimeout(timer);
  });
  const follow = useSignal(true);
  const find = useSignal("");
  const found = useSignal<{ at: number; nth: number; count: number } | undefined>(undefined);
  const findError = useSignal("");
  const span = p.span ?? "";
  const pod = useSignal("");
  const container = useSignal("");
  const after = useSignal(cleared.get(p.title) ?? 0);
  const picked = useSignal<LogAt | undefined>(undefined);

  const filter: Filter = { resource: p.resources, level: level.value, source: source.value, query: text.value, span, pod: pod.value, container: container.value, after: after.value };
  const log = useMemo(() => new Log(filter), [JSON.stringify(filter)]);
  const single = p.resources.length === 1;
  useEffect(() => {
    follow.value = true;
    found.value = undefined;
    void log.refresh(true);
    return () => log.close();
  }, [log]);
  // The line that the address names.
  useEffect(() => {
    const wanted = p.line;
    if (!wanted) return;
    void (async () => {
      if (after.value >= wanted) after.value = 0;
      await log.refresh(true);
      const at = await log.positionOf(wanted).catch(() => -1);
      if (at < 0) {
        message.value = { text: "the log does not have this line any more", failed: true };
        return;
      }
      show(at);
      await log.load(at);
      picked.value = log.line(at);
    })();
  }, [p.line, log]);
  const clearUpTo = (seq: number) => {
    after.value = seq;
    picked.value = undefined;
    cleared.set(p.title, seq);
  };
  const clearAll = async () => {
    await log.refresh(true);
    const last = log.line(log.end.value - 1);
    if (last?.seq) clearUpTo(last.seq);
  };
  const copyAll = async () => {
    try {
      const all = await log.copyText(mostCopied);
      await copy(plain(all), count(all.split("\n").length - 1, "line"));
    } catch {
      message.value = { text: "the log could not be copied", failed: true };
    }
  };
  useSignalEffect(() => {
    logNews.value;
    void log.refresh(follow.peek());
  });

  const scroller = useRef<HTMLDivElement>(null);
  /** Where the log was scrolled to last, by the user or by itself. */
  const placed = useRef(0);
  const findBox = useRef<HTMLInputElement>(null);
  const filterBox = useRef<HTMLInputElement>(null);
  const top = useSignal(0);
  const height = useSignal(600);

  useLayoutEffect(() => {
    const el = scroller.current;
    if (!el) return;
    const watch = new ResizeObserver(() => (height.value = el.clientHeight));
    watch.observe(el);
    return () => watch.disconnect();
  }, []);

  const bottom = () => {
    follow.value = true;
    const el = scroller.current;
    if (el) el.scrollTop = el.scrollHeight;
    void log.refresh(true);
  };
  const show = (at: number) => {
    follow.value = false;
    const el = scroller.current;
    if (el) el.scrollTop = Math.max(0, scrollOf(at - Math.floor(height.value / rowHeight / 3), log.end.value - log.first.value, log.first.value, height.value));
  };
  // One search after another: each begins where the one before it has ended.
  const searching = useRef(Promise.resolve());
  const search = (back: boolean, onwards: boolean) => (searching.current = searching.current.then(() => searchNow(back, onwards)));
  const searchNow = async (back: boolean, onwards: boolean) => {
    if (!find.value) {
      found.value = undefined;
      return;
    }
    const at = found.value?.at ?? -1;
    const from = onwards && at >= 0 ? at + (back ? -1 : 1) : back || at < 0 ? -1 : at;
    const answer = await log.find(find.value, Math.max(from, -1), back || from < 0);
    if (typeof answer === "string") {
      findError.value = answer;
      return;
    }
    findError.value = "";
    found.value = answer;
    if (answer.at >= 0) show(answer.at);
  };

  keys("log", [
    { keys: "f", does: "find in the log: text, or /regex/", run: () => findBox.current?.focus() },
    { keys: "n", does: "next match", run: () => void search(false, true) },
    { keys: "N", does: "previous match", run: () => void search(true, true) },
    { keys: "W", does: "wrap lines", run: () => (wrap.value = !wrap.value) },
    { keys: "i", does: "show times", run: () => (times.value = !times.value) },
    { keys: "J", does: "lines of JSON: as a message with fields, or as they are", run: () => (asJSON.value = !asJSON.value) },
    { keys: "L", does: "level of the log: all, warnings, errors, with details", run: () => (level.value = levels[(levels.indexOf(level.value) + 1) % levels.length] ?? "") },
    { keys: "1", does: "whole log", run: () => (source.value = "") },
    { keys: "2", does: "build log", run: () => (source.value = "build") },
    { keys: "3", does: "runtime log", run: () => (source.value = "runtime") },
    { keys: "l G", does: "follow the newest line", run: bottom },
    { keys: "C", does: "copy all lines that are shown", run: () => void copyAll() },
    { keys: "", does: "clear the log up to here", run: () => void clearAll() },
    { keys: "/", does: "show only lines with words, /regex/, level:warn, since:5m, !word", run: () => filterBox.current?.focus() },
  ]);

  const lines = log.end.value - log.first.value;
  return (
    <section class="log" aria-label={p.title}>
      <div class="bar">
        <h2>{p.title}</h2>
        {span && (
          <button class="chip on" onClick={() => p.onSpanEnd?.()} title="show the whole log">
            one update ✕
          </button>
        )}
        <div class="choice" role="group" aria-label="source">
          {(["", "build", "runtime"] as const).map((s) => (
            <button key={s} aria-pressed={source.value === s} onClick={() => (source.value = s)}>
              {s || "all"}
            </button>
          ))}
        </div>
        <div class="choice" role="group" aria-label="level">
          {levels.map((l) => (
            <button key={l} aria-pressed={level.value === l} onClick={() => (level.value = l)}>
              {{ "": "any level", warn: "warn", error: "error", debug: "details" }[l]}
            </button>
          ))}
        </div>
        {(p.pods ?? []).length > 1 && (
          <select class="field" aria-label="pod" value={pod.value} onChange={(e) => (pod.value = e.currentTarget.value)}>
            <option value="">all pods</option>
            {(p.pods ?? []).map((one) => (
              <option key={one.name} value={one.name}>
                {one.name}
              </option>
            ))}
          </select>
        )}
        {containersOf(p.pods ?? []).length > 1 && (
          <select class="field" aria-label="container" value={container.value} onChange={(e) => (container.value = e.currentTarget.value)}>
            <option value="">all containers</option>
            {containersOf(p.pods ?? []).map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        )}
        <input
          ref={filterBox}
          class="field"
          type="search"
          placeholder="only lines with…"
          aria-label="show only lines with these words, /regex/, level:warn, since:5m, !word"
          value={typed.value}
          onInput={(e) => (typed.value = e.currentTarget.value)}
          onKeyDown={(e) => leave(e, () => (typed.value = ""))}
        />
        <span class="find">
          <input
            ref={findBox}
            class="field"
            type="search"
            placeholder="find"
            aria-label="find in the log: text, or /regex/"
            value={find.value}
            onInput={(e) => {
              find.value = e.currentTarget.value;
              found.value = undefined;
            }}
            onKeyDown={(e) => {
              if (e.key === "Enter") void search(!e.shiftKey, found.value !== undefined);
              else leave(e, () => ((find.value = ""), (found.value = undefined)));
            }}
          />
          {find.value && (
            <span class="note" role="status">
              {findError.value || (found.value ? (found.value.count ? `${found.value.nth} of ${found.value.count.toLocaleString("en")}` : "not found") : "Enter finds")}
            </span>
          )}
        </span>
        <span class="spring" />
        <button class="chip" aria-pressed={times.value} onClick={() => (times.value = !times.value)}>
          time
        </button>
        <button class="chip" aria-pressed={wrap.value} onClick={() => (wrap.value = !wrap.value)}>
          wrap
        </button>
        <button class="chip" aria-pressed={asJSON.value} onClick={() => (asJSON.value = !asJSON.value)} title="J">
          JSON
        </button>
        <button class="chip" onClick={() => void copyAll()} title="C">
          copy
        </button>
        <a class="chip" href={log.download} download={`${single ? p.resources[0] : p.title.replace(/\W+/g, "-")}.log`}>
          download
        </a>
        {after.value > 0 ? (
          <button class="chip on" onClick={() => ((after.value = 0), cleared.delete(p.title))}>
            show all again
          </button>
        ) : (
          <button class="chip" onClick={() => void clearAll()}>
            clear
          </button>
        )}
      </div>
      <div
        ref={scroller}
        class={`lines${wrap.value ? " wrapped" : ""}`}
        tabIndex={0}
        role="region"
        aria-label={`lines of ${p.title}`}
        onScroll={(e) => {
          const el = e.currentTarget;
          const up = el.scrollTop < placed.current - 1;
          top.value = placed.current = el.scrollTop;
          // Lines that came before this event may have moved the end away: only who goes up leaves it.
          if (el.scrollHeight - el.scrollTop - el.clientHeight < rowHeight * 1.5) follow.value = true;
          else if (up) follow.value = false;
        }}
      >
        <Lines log={log} top={top} height={height} follow={follow} scroller={scroller} placed={placed} names={!single} find={find.value} current={found.value?.at ?? -1} picked={picked} />
      </div>
      {picked.value && <Picked line={picked.value} here={p.here} close={() => (picked.value = undefined)} clear={clearUpTo} />}
      <div class="foot">
        <span class="note" role="status" aria-live="off">
          {log.error.value || (log.loaded.value ? count(lines, "line") : "…")}
          {after.value > 0 && ", older ones are hidden"}
          {log.first.value > 0 && `, ${log.first.value.toLocaleString("en")} older ones were dropped`}
        </span>
        {!follow.value && <NewLines log={log} onClick={bottom} />}
      </div>
    </section>
  );
}

function containersOf(pods: PagePod[]): string[] {
  return [...new Set(pods.flatMap((pod) => (pod.containers ?? []).map((c) => c.name)))];
}

/** The line that was chosen: what can be done with it, and its fields if it is JSON. */
function Picked(p: { line: LogAt; here: LogProps["here"]; close: () => void; clear: (seq: number) => void }) {
  const { line } = p;
  const json = parseJSON(plain(line.text));
  const link = hashOf({ ...p.here, line: line.seq ?? 0 });
  const about = [line.level, line.source, line.container, line.pod].filter(Boolean).join(" · ");
  return (
    <section class="picked" aria-label="the chosen line">
      <div class="head">
        <time dateTime={line.time ?? ""}>{line.time ? new Date(line.time).toLocaleString("sv") : ""}</time>
        <span class="note">{about}</span>
        <span class="spring" />
        <button class="chip" onClick={() => void copy(plain(line.text), "the line")}>
          copy line
        </button>
        <button class="chip" onClick={() => void copy(new URL(link, location.href).href, "a link to the line")}>
          copy link
        </button>
        <a class="chip" href={link}>
          link
        </a>
        <button class="chip" onClick={() => p.clear(line.seq ?? 0)}>
          clear up to here
        </button>
        <button class="chip" onClick={p.close} aria-label="close the line">
          ✕
        </button>
      </div>
      {json ? <Tree value={json.value} /> : <pre tabIndex={0}>{plain(line.text)}</pre>}
    </section>
  );
}

/** A value of JSON, whose parts can be folded. */
function Tree(p: { value: unknown }) {
  const { value } = p;
  if (typeof value !== "object" || value === null) return <span class={typeof value === "string" ? "fg-green" : "fg-blue"}>{JSON.stringify(value)}</span>;
  const entries = Object.entries(value);
  if (entries.length === 0) return <span class="note">{Array.isArray(value) ? "[]" : "{}"}</span>;
  return (
    <ul class="tree">
      {entries.map(([key, inner]) => (
        <li key={key}>
          {typeof inner === "object" && inner !== null && Object.keys(inner).length > 0 ? (
            <details open>
              <summary>
                <span class="key">{key}</span> <span class="note">{Array.isArray(inner) ? `${inner.length} values` : `${Object.keys(inner).length} fields`}</span>
              </summary>
              <Tree value={inner} />
            </details>
          ) : (
            <>
              <span class="key">{key}</span> <Tree value={inner} />
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Says how many lines have come since the log stopped following. */
function NewLines(p: { log: Log; onClick: () => void }) {
  const from = useMemo(() => p.log.end.peek(), [p.log]);
  const more = p.log.end.value - from;
  return (
    <button class="chip on" onClick={p.onClick}>
      {more > 0 ? `${count(more, "new line")} ↓` : "to the newest ↓"}
    </button>
  );
}

/** Where to scroll to for a position to be at the top. */
function scrollOf(at: number, lines: number, first: number, height: number): number {
  const full = lines * rowHeight;
  if (full <= mostHeight) return (at - first) * rowHeight;
  return ((at - first) / Math.max(lines - height / rowHeight, 1)) * (mostHeight - height);
}

interface Visible {
  log: Log;
  top: { value: number };
  height: { value: number };
  follow: { value: boolean };
  scroller: { current: HTMLDivElement | null };
  placed: { current: number };
  names: boolean;
  find: string;
  current: number;
  picked: { value: LogAt | undefined };
}

function Lines(p: Visible) {
  const { log } = p;
  log.version.value;
  const first = log.first.value;
  const n = log.end.value - first;
  const full = n * rowHeight;
  const height = Math.min(full, mostHeight);
  const rows = Math.ceil(p.height.value / rowHeight) + 1;
  // The exact position of what is at the top.
  const exact = p.follow.value
    ? Math.max(n - p.height.value / rowHeight, 0)
    : full <= mostHeight
      ? p.top.value / rowHeight
      : (p.top.value / Math.max(mostHeight - p.height.value, 1)) * Math.max(n - p.height.value / rowHeight, 0);
  // A short log is laid out as it is: its wrapped lines may need more room than their places.
  const whole = wrap.value && n <= rows + overscan;
  const spare = wrap.value ? 0 : overscan;
  const a = whole ? 0 : Math.max(Math.floor(exact) - spare, 0);
  const b = whole ? n : Math.min(Math.floor(exact) + rows + overscan, n);

  useEffect(() => log.ensure(first + a - 100, first + b + 100), [log, a, b, first, n]);
  // Before the browser draws: what follows the end stays at the end.
  useLayoutEffect(() => {
    const el = p.scroller.current;
    if (!el || !p.follow.value) return;
    el.scrollTop = el.scrollHeight;
    p.placed.current = el.scrollTop;
  });

  const shown = [];
  for (let i = a; i < b; i++) shown.push(<Line key={first + i} at={first + i} line={log.line(first + i)} names={p.names} find={p.find} current={p.current === first + i || p.picked.value?.at === first + i} />);
  // Wrapped lines are higher than their places: at the end they are laid out upwards from there.
  const offset = full <= mostHeight ? a * rowHeight : p.top.value - (exact - a) * rowHeight;
  const place = p.follow.value && wrap.value ? { bottom: 0 } : { top: Math.max(offset, 0) };
  return (
    <div
      class="all"
      style={{ height: whole ? "auto" : height }}
      onClick={(e) => {
        const el = (e.target as HTMLElement).closest<HTMLElement>(".line");
        if (!el?.dataset.at || (e.target as HTMLElement).closest("a") || !document.getSelection()?.isCollapsed) return;
        const line = log.line(Number(el.dataset.at));
        p.picked.value = p.picked.value?.at === line?.at ? undefined : line;
      }}
    >
      <div class={whole ? "window whole" : "window"} style={whole ? {} : place}>
        {shown}
      </div>
    </div>
  );
}

function Line(p: { at: number; line: LogAt | undefined; names: boolean; find: string; current: boolean }) {
  const { line } = p;
  const runs = useComputedRuns(line);
  const json = useMemo(() => (line && asJSON.value ? parseJSON(plain(line.text)) : undefined), [line, asJSON.value]);
  if (!line) return <div class="line missing">…</div>;
  const level = line.level === "error" || line.level === "warn" ? ` ${line.level}` : "";
  return (
    <div class={`line${level}${p.current ? " current" : ""}`} data-at={p.at}>
      {times.value && (
        <time dateTime={line.time ?? ""} title={line.time}>
          {clock(line.time)}
        </time>
      )}
      {p.names && (
        <a class={`name hue${hue(line.resource ?? "")}`} href={line.resource ? resourceHash(line.resource) : "#/"} tabIndex={-1}>
          {line.resource || "·"}
        </a>
      )}
      {level && <span class="mark">{line.level === "error" ? "✖" : "!"}</span>}
      <span class="text">
        {line.prefix && <span class="faint">{line.prefix}</span>}
        {json && <JSONText json={json} find={p.find} />}
        {!json && runs.map((r, i) =>
          r.link ? (
            <a key={i} class={r.classes} href={r.link} target="_blank" rel="noreferrer noopener" tabIndex={-1}>
              {marked(r.text, p.find)}
            </a>
          ) : (
            <span key={i} class={r.classes}>
              {marked(r.text, p.find)}
            </span>
          ),
        )}
        {"\n"}
      </span>
    </div>
  );
}

/** A line of JSON as its message with its fields. */
function JSONText(p: { json: NonNullable<ReturnType<typeof parseJSON>>; find: string }) {
  return (
    <>
      <span>{marked(p.json.message, p.find)}</span>
      {p.json.fields.map(([key, value]) => (
        <span key={key}>
          {" "}
          <span class="key">{key}=</span>
          {marked(short(value), p.find)}
        </span>
      ))}
    </>
  );
}

function useComputedRuns(line: LogAt | undefined) {
  return useMemo(() => parse(line?.text ?? ""), [line]);
}

/** Marks what is found in a text. */
function marked(text: string, find: string) {
  if (!find) return text;
  let pattern: RegExp;
  try {
    const regex = /^\/(.+)\/$/.exec(find);
    pattern = regex ? new RegExp(regex[1] ?? "", "gi") : new RegExp(find.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "gi");
  } catch {
    return text; // not finished yet
  }
  const out = [];
  let at = 0;
  for (const m of text.matchAll(pattern)) {
    if (m[0] === "") continue;
    out.push(text.slice(at, m.index), <mark>{m[0]}</mark>);
    at = m.index + m[0].length;
  }
  return at === 0 ? text : [...out, text.slice(at)];
}

function clock(time: string | undefined): string {
  if (!time) return "";
  const d = new Date(time);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}

/** Escape empties an input, and leaves it if it is empty. */
function leave(e: KeyboardEvent & { currentTarget: HTMLInputElement }, clear: () => void) {
  if (e.key !== "Escape") return;
  e.stopPropagation();
  if (e.currentTarget.value) {
    e.currentTarget.value = "";
    clear();
  } else e.currentTarget.blur();
}

