// The time line: what happened, on one line for each resource, and how long one waited for one's saves.
import { computed, signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

import type { Waits as WaitsDoc } from "./api";
import { Figure } from "./architecture";
import { caughtUp, events, follow } from "./events";
import { readBody } from "./foreign";
import { keys } from "./keys";
import { lanesOf, sessionLane, type Item, type Lane } from "./lanes";
import { Waterfall } from "./parts";
import { go, hashOf, resourceHash } from "./place";
import { live, now, order, row, session } from "./state";
import { count, duration } from "./words";

/** How much is shown, in milliseconds; 0 for the whole session. */
const width = signal(0);
/** Until when; undefined follows the time. */
const until = signal<number | undefined>(undefined);
const chosen = signal<{ lane: string; item: Item } | undefined>(undefined);
const waits = signal<WaitsDoc | undefined>(undefined);
const pixels = signal(800);

const least = 20; // milliseconds
const lanes = computed(() => lanesOf(events.value, order.value));
const began = computed(() => {
  const first = events.value[0];
  return first ? Date.parse(first.time) : Date.parse(session.value?.startedAt ?? "") || now.value - 1000;
});
const range = computed(() => {
  const to = until.value ?? now.value + 500;
  const span = width.value || Math.max(to - began.value, 1000) * 1.02;
  return { from: to - span, to, span };
});

/** Zooms around a place, which is a part of the width from the left. */
function zoom(by: number, around = 1) {
  const { from, span } = range.value;
  const at = from + span * around;
  const next = Math.min(Math.max(span * by, least), Math.max((until.value ?? now.value) - began.value, 1000) * 2);
  width.value = next;
  if (around < 1 || until.value !== undefined) until.value = at + next * (1 - around);
  if ((until.value ?? 0) >= now.value) until.value = undefined;
}

function pan(part: number) {
  const { to, span } = range.value;
  const next = to + span * part;
  width.value = span;
  until.value = next >= now.value + 500 ? undefined : Math.max(next, began.value + span * 0.1);
}

function all() {
  width.value = 0;
  until.value = undefined;
}

async function loadWaits() {
  try {
    const resp = await fetch("/api/waits");
    if (resp.ok) waits.value = await readBody<WaitsDoc>(resp);
  } catch {
    // The page says that the connection is lost.
  }
}

const finished = computed(() => events.value.reduce((n, e) => (e.type === "update-finished" || e.type === "pod-ready" ? e.seq : n), 0));

export function TimeLine() {
  const chart = useRef<HTMLDivElement>(null);
  useEffect(() => follow(), []);
  useEffect(() => {
    const timer = setTimeout(() => void loadWaits(), 200);
    return () => clearTimeout(timer);
  }, [finished.value]);
  useLayoutEffect(() => {
    const el = chart.current;
    if (!el) return;
    const measure = () => (pixels.value = Math.max(el.clientWidth - laneName(el), 100));
    const watch = new ResizeObserver(measure);
    watch.observe(el);
    // Not passive: Ctrl and the wheel zoom the line, not the page.
    const wheel = (e: WheelEvent) => {
      if (!e.ctrlKey && !e.metaKey && Math.abs(e.deltaX) <= Math.abs(e.deltaY)) return;
      e.preventDefault();
      if (e.ctrlKey || e.metaKey) {
        const at = (e.clientX - el.getBoundingClientRect().left - laneName(el)) / pixels.value;
        zoom(e.deltaY > 0 ? 1.25 : 0.8, Math.min(Math.max(at, 0), 1));
      } else pan(e.deltaX / pixels.value);
    };
    el.addEventListener("wheel", wheel, { passive: false });
    return () => {
      watch.disconnect();
      el.removeEventListener("wheel", wheel);
    };
  }, []);
  keys("time line", [
    { keys: "+ =", does: "zoom in", run: () => zoom(0.5, until.value === undefined ? 1 : 0.5) },
    { keys: "-", does: "zoom out", run: () => zoom(2, until.value === undefined ? 1 : 0.5) },
    { keys: "h ArrowLeft", does: "earlier", run: () => pan(-0.25) },
    { keys: "l ArrowRight", does: "later", run: () => pan(0.25) },
    { keys: "0", does: "the whole session", run: all },
    { keys: "s", does: "where the time of the start went", run: () => go({ view: "start" }), moves: true },
    { keys: "G", does: "follow the time", run: () => (until.value = undefined) },
    {
      keys: "Escape q",
      does: "close the details, then back to all resources",
      moves: true,
      run: () => {
        if (chosen.value) chosen.value = undefined;
        else go({ view: "overview" });
      },
    },
  ]);
  const { span } = range.value;
  return (
    <main class="time-page">
      <div class="bar">
        <h1>Time line</h1>
        <div class="choice" role="group" aria-label="how much is shown">
          {(
            [
              [0, "all"],
              [3_600_000, "1 h"],
              [600_000, "10 min"],
              [60_000, "1 min"],
              [5_000, "5 s"],
            ] as const
          ).map(([ms, name]) => (
            <button key={name} aria-pressed={width.value === ms} onClick={() => (width.value = ms)}>
              {name}
            </button>
          ))}
        </div>
        <button class="chip" onClick={() => zoom(0.5, 0.5)} aria-label="zoom in">
          +
        </button>
        <button class="chip" onClick={() => zoom(2, 0.5)} aria-label="zoom out">
          −
        </button>
        <button class="chip" onClick={() => pan(-0.5)} aria-label="earlier">
          ←
        </button>
        <button class="chip" onClick={() => pan(0.5)} aria-label="later">
          →
        </button>
        {live.value && (
          <button class="chip" aria-pressed={until.value === undefined} onClick={() => (until.value = until.value === undefined ? now.value : undefined)}>
            follow
          </button>
        )}
        <a class="chip" href={hashOf({ view: "start" })} title="where the time of the start went (s)">
          start
        </a>
        <span class="note" role="status">
          {duration(span)} shown
        </span>
      </div>
      <Waits />
      <div class="chart" ref={chart} tabIndex={0} role="region" aria-label="lines of the resources">
        <Axis />
        {lanes.value.map((l) => (
          <LaneLine key={l.name} lane={l} />
        ))}
        {caughtUp.value && lanes.value.length === 0 && <p class="empty">Nothing has happened yet.</p>}
      </div>
      {chosen.value && <Details lane={chosen.value.lane} item={chosen.value.item} />}
    </main>
  );
}

/** The width of the column with the names. */
function laneName(el: HTMLElement): number {
  return el.querySelector<HTMLElement>(".lane-name")?.offsetWidth ?? 140;
}

/** The times that the axis names: round ones, about one in 110 pixels. */
function ticks(from: number, span: number, most: number): { at: number; text: string }[] {
  const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 86_400_000];
  const step = steps.find((s) => span / s <= most) ?? 86_400_000;
  const zone = new Date(from).getTimezoneOffset() * 60_000;
  const out = [];
  for (let at = Math.ceil((from - zone) / step) * step + zone; at <= from + span; at += step) {
    const d = new Date(at);
    const two = (n: number) => String(n).padStart(2, "0");
    out.push({ at, text: step >= 60_000 ? `${two(d.getHours())}:${two(d.getMinutes())}` : `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}${step < 1000 ? `.${String(d.getMilliseconds()).padStart(3, "0")}` : ""}` });
  }
  return out;
}

function Axis() {
  const { from, span } = range.value;
  return (
    <div class="lane axis" aria-hidden="true">
      <span class="lane-name" />
      <span class="lane-items">
        {ticks(from, span, Math.max(Math.floor(pixels.value / 110), 1)).map((t) => (
          <span key={t.at} class="tick" style={{ left: `${((t.at - from) / span) * 100}%` }}>
            {t.text}
          </span>
        ))}
      </span>
    </div>
  );
}

/** Items of which several would lie on one place are drawn as one: the worst of them, with their number. */
interface Drawn {
  item: Item;
  left: number;
  wide: number;
  more: number;
}

const worst: Record<string, number> = { bad: 4, accent: 3, place: 2, good: 2, warn: 1, dim: 0 };

function drawn(lane: Lane): Drawn[] {
  const { from, span } = range.value;
  const scale = pixels.value / span;
  const out: Drawn[] = [];
  for (const item of lane.items) {
    const to = item.to ?? now.value;
    if (to < from || item.from > from + span) continue;
    const left = Math.max((item.from - from) * scale, -4);
    const wide = Math.min((to - from) * scale, pixels.value + 4) - left;
    const before = out[out.length - 1];
    if (item.kind !== "hold" && before && before.item.kind === item.kind && left - before.left < 9 && Math.max(wide, before.wide) < 9) {
      before.more++;
      if ((worst[item.tone] ?? 0) >= (worst[before.item.tone] ?? 0)) before.item = item;
      continue;
    }
    out.push({ item, left, wide, more: 0 });
  }
  return out;
}

/** How near to an item a click is about it, in pixels. */
const reach = 14;

/**
 * A lane is one target: a click takes the nearest item, and the arrow keys go from one to the next. Items are too small and too near to
 * each other to be buttons (WCAG 2.2, 2.5.8).
 */
function LaneLine(p: { lane: Lane }) {
  const { lane } = p;
  const there = row(lane.name)?.value;
  const list = drawn(lane);
  const pick = (d: Drawn | undefined) => (chosen.value = d ? { lane: lane.name, item: d.item } : undefined);
  const at = list.findIndex((d) => d.item.key === chosen.value?.item.key);
  return (
    <div class="lane">
      <span class="lane-name">{there ? <a href={resourceHash(lane.name)}>{lane.name}</a> : <span class="note">{lane.name}</span>}</span>
      <div
        class="lane-items"
        role="group"
        tabIndex={0}
        aria-label={lane.name}
        onClick={(e) => {
          const { left, top } = e.currentTarget.getBoundingClientRect();
          const [x, y] = [e.clientX - left, e.clientY - top];
          // In the upper part are marks, in the lower part updates and waits; what lies beneath the pointer comes first.
          const far = (d: Drawn) => Math.max(d.left - x, x - d.left - (d.item.kind === "mark" ? 0 : Math.max(d.wide, 3)), 0) + ((d.item.kind === "mark") === y < 15 ? 0 : 6) + (d.item.kind === "hold" ? 3 : 0);
          const near = list.filter((d) => far(d) <= reach).sort((c, d) => far(c) - far(d))[0];
          pick(near && near.item.key === chosen.value?.item.key ? undefined : near);
        }}
        onKeyDown={(e) => {
          const by = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
          if (!by || e.ctrlKey || e.metaKey || e.altKey || list.length === 0) return;
          e.preventDefault(); // the time line does not move, too
          pick(list[at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.min(Math.max(at + by, 0), list.length - 1)]);
        }}
      >
        {list.map((d) => (
          <span
            key={d.item.key}
            role="img"
            class={`item ${d.item.kind} ${d.item.tone}${chosen.value?.item.key === d.item.key ? " on" : ""}`}
            style={d.item.kind === "mark" ? { left: d.left - 5 } : { left: d.left, width: Math.max(d.wide, 3) }}
            aria-label={`${d.item.text}${d.more ? ` and ${d.more} more` : ""}`}
            title={`${d.item.text}${d.item.note ? `\n${d.item.note}` : ""}${d.more ? `\nand ${d.more} more: zoom in` : ""}`}
          >
            {d.item.kind === "mark" ? d.item.glyph : d.item.kind === "update" && d.wide > 60 ? d.item.text : ""}
          </span>
        ))}
      </div>
    </div>
  );
}

function Details(p: { lane: string; item: Item }) {
  const { item } = p;
  const at = new Date(item.from);
  return (
    <section class="picked time-details" aria-label="details" aria-live="polite">
      <div class="head">
        <strong>{p.lane}</strong>
        <span class={item.tone === "bad" ? "bad" : ""}>{item.text}</span>
        <time dateTime={at.toISOString()} class="note">
          {at.toLocaleTimeString("sv")}.{String(at.getMilliseconds()).padStart(3, "0")}
        </time>
        {item.kind !== "mark" && <span class="note">{item.to === undefined ? "still going on" : duration(item.to - item.from)}</span>}
        <span class="spring" />
        {p.lane !== sessionLane && (
          <a class="chip" href={hashOf({ view: "resource", name: p.lane, ...(item.update ? { tab: "updates", update: item.update } : {}) })}>
            {item.update ? "update and log" : "resource and log"}
          </a>
        )}
        <button class="chip" onClick={() => (chosen.value = undefined)} aria-label="close the details">
          ✕
        </button>
      </div>
      {item.note && item.kind !== "mark" && <p class="note">{item.note}</p>}
      {item.note && item.kind === "mark" && !item.files && <p class="note">{item.note}</p>}
      {item.files && item.files.length > 0 && <p class="code">{item.files.slice(0, 20).join(", ")}</p>}
      <Waterfall stages={item.stages ?? []} />
      {item.error && <pre class="bad">{item.error}</pre>}
    </section>
  );
}

/** How long one waited for one's saves. */
function Waits() {
  const w = waits.value;
  if (!w) return null;
  if (w.saves === 0) return <p class="empty waits-none">No save has run yet in this session.</p>;
  return (
    <section class="waits" aria-label="how long saves took until they ran">
      <dl class="figures">
        <Figure name="saves" value={w.saves.toLocaleString("en")} />
        <Figure name="median until running" value={duration(w.medianMs)} />
        <Figure name="worst" value={duration(w.worstMs)} />
        <Figure name="waited in all" value={duration(w.resources.reduce((sum, r) => sum + r.totalMs, 0))} />
      </dl>
      <details>
        <summary>by resource</summary>
        <table class="parts">
          <thead>
            <tr>
              <th scope="col">resource</th>
              <th scope="col" class="right">
                saves
              </th>
              <th scope="col" class="right">
                in place
              </th>
              <th scope="col" class="right">
                median
              </th>
              <th scope="col" class="right">
                worst
              </th>
              <th scope="col" class="right">
                in all
              </th>
            </tr>
          </thead>
          <tbody>
            {w.resources.map((r) => (
              <tr key={r.resource}>
                <th scope="row">
                  <a href={resourceHash(r.resource)}>{r.resource}</a>
                </th>
                <td class="right">{r.saves}</td>
                <td class="right">{r.inPlace}</td>
                <td class="right">{duration(r.medianMs)}</td>
                <td class="right">
                  <a href={hashOf({ view: "resource", name: r.resource, tab: "updates", update: r.worstUpdate })} aria-label={`update ${r.worstUpdate}, which took longest`}>
                    {duration(r.worstMs)}
                  </a>
                </td>
                <td class="right">{duration(r.totalMs)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
      <span class="hidden">{count(w.saves, "save")}</span>
    </section>
  );
}
