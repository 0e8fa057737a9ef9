// hone's own parts: which tables wake them, which they change, and how busy they are.
import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import type { Architecture as Doc, Part } from "./api";
import { readBody } from "./foreign";
import { keys } from "./keys";
import { go } from "./place";
import { live } from "./state";
import { count, duration } from "./words";

const doc = signal<Doc | undefined>(undefined);
const failed = signal("");
const chosen = signal("");
type Column = "name" | "wakeUps" | "reads" | "writes" | "busyMs";
const sorting = signal<Column>("busyMs");
const renewEvery = 2000;

async function load() {
  try {
    const resp = await fetch("/api/architecture");
    const answer = await readBody<Doc & { error?: string }>(resp);
    if (resp.ok) [doc.value, failed.value] = [answer, ""];
    else failed.value = answer.error ?? resp.statusText;
  } catch {
    // That the connection is lost, the page says.
  }
}

const parts = computed<Part[]>(() => {
  const by = sorting.value;
  return [...(doc.value?.parts ?? [])].sort((a, b) => (by === "name" ? a.name.localeCompare(b.name) : b[by] - a[by]));
});

const rowHeight = 26;
const columns = { reads: 210, parts: 470, right: 680 };
const gap = 150;

export function Architecture() {
  useEffect(() => {
    void load();
    if (!live.peek()) return;
    const timer = setInterval(() => document.hidden || void load(), renewEvery);
    return () => clearInterval(timer);
  }, []);
  keys("hone’s parts", [{ keys: "Escape q", does: "back to all resources", run: () => go({ view: "overview" }), moves: true }]);
  const d = doc.value;
  const loop = d?.loop;
  return (
    <main class="hone-page">
      <h1 class="title">hone’s own parts</h1>
      {failed.value && <p class="empty">{failed.value}</p>}
      {loop && (
        <section class="loop" aria-label="the loop">
          <dl class="figures">
            <Figure name="batches" value={loop.batches.toLocaleString("en")} />
            <Figure name="actions" value={loop.actions.toLocaleString("en")} />
            <Figure name="waiting" value={String(loop.queued)} />
            <Figure name="average batch" value={duration(loop.averageMs)} />
            <Figure name="last" value={duration(loop.lastMs)} />
            <Figure name="slowest" value={duration(loop.slowestMs)} />
          </dl>
          <Histogram took={loop.took} />
        </section>
      )}
      {d && (
        <div class="scroll" tabIndex={0} role="region" aria-label="table of the parts">
          <table class="parts">
            <thead>
              <tr>
                <Head column="name" name="part" />
                <th scope="col">state</th>
                <Head column="wakeUps" name="wake-ups" />
                <Head column="reads" name="reads" />
                <Head column="writes" name="actions" />
                <Head column="busyMs" name="busy" />
                <th scope="col">what it does</th>
              </tr>
            </thead>
            <tbody>
              {parts.value.map((p) => (
                <tr key={p.name} class={chosen.value === p.name ? "current" : ""}>
                  <th scope="row">
                    <button class="plain" aria-pressed={chosen.value === p.name} onClick={() => (chosen.value = chosen.value === p.name ? "" : p.name)}>
                      {p.name}
                    </button>
                  </th>
                  <td class={p.state === "backing off" ? "bad" : ""}>{p.state || "–"}</td>
                  <td class="right">{p.wakeUps.toLocaleString("en")}</td>
                  <td class="right">{p.reads.toLocaleString("en")}</td>
                  <td class="right">{p.writes.toLocaleString("en")}</td>
                  <td class="right">{duration(p.busyMs)}</td>
                  <td class="note">
                    {p.doc} {p.externals && `Talks to: ${p.externals.join(", ")}.`} {p.lastError && <span class="bad">{p.lastError}</span>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {d && <Picture d={d} />}
    </main>
  );
}

function Head(p: { column: Column; name: string }) {
  const on = sorting.value === p.column;
  return (
    <th scope="col" class={p.column === "name" ? "" : "right"} aria-sort={on ? (p.column === "name" ? "ascending" : "descending") : "none"}>
      <button class="plain" onClick={() => (sorting.value = p.column)}>
        {p.name}
        {on ? (p.column === "name" ? " ▴" : " ▾") : ""}
      </button>
    </th>
  );
}

export function Figure(p: { name: string; value: string; note?: string }) {
  return (
    <div>
      <dt>{p.name}</dt>
      <dd>
        {p.value} {p.note && <span class="note">{p.note}</span>}
      </dd>
    </div>
  );
}

/** How many batches took how long. */
function Histogram(p: { took: Doc["loop"]["took"] }) {
  const most = Math.max(...p.took.map((b) => b.batches), 1);
  let from = 0;
  return (
    <table class="histogram">
      <caption class="note">how long batches take</caption>
      <tbody>
        {p.took.map((b) => {
          const name = b.upToMs ? `to ${duration(b.upToMs)}` : `over ${duration(from)}`;
          from = b.upToMs;
          return (
            <tr key={b.upToMs}>
              <th scope="row">{name}</th>
              <td class="bar-lane">
                <span class="bar-fill" style={{ width: `${(b.batches / most) * 100}%` }} />
              </td>
              <td class="right">{b.batches.toLocaleString("en")}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** Tables on the left wake parts in the middle, which change tables on the right. With a part chosen, only its edges stand out. */
function Picture(p: { d: Doc }) {
  const { d } = p;
  const names = d.parts.map((one) => one.name);
  const tables = d.tables.map((t) => t.name);
  const height = Math.max(names.length, tables.length) * rowHeight + 16;
  const y = (list: string[], name: string) => 16 + (list.indexOf(name) + 0.5) * ((height - 16) / list.length);
  const table = (id: string) => id.replace(/^table:/, "");
  const path = (x1: number, y1: number, x2: number, y2: number) => `M${x1},${y1}C${(x1 + x2) / 2},${y1} ${(x1 + x2) / 2},${y2} ${x2},${y2}`;
  const lines = new Map<string, { path: string; part: string }>();
  for (const e of d.edges) {
    if (e.kind === "reads" || e.kind === "holds") lines.set(`${e.from} ${e.to}`, { part: e.to, path: path(columns.reads, y(tables, table(e.from)), columns.parts - gap / 2, y(names, e.to)) });
    if (e.kind === "emits") lines.set(`${e.from} ${e.to}`, { part: e.from, path: path(columns.parts + gap / 2, y(names, e.from), columns.right, y(tables, table(e.to))) });
  }
  const on = chosen.value;
  const touched = (name: string, kinds: string[]) => d.edges.some((e) => kinds.includes(e.kind) && ((e.from === `table:${name}` && e.to === on) || (e.to === `table:${name}` && e.from === on)));
  return (
    <div class="scroll picture-hone" tabIndex={0} role="region" aria-label="which tables wake which parts, and which tables these change">
      <svg width={columns.right + columns.reads} height={height} role="img" aria-label={`${count(names.length, "part")} and ${count(tables.length, "table")}; the table below names them`}>
        {[...lines].map(([key, l]) => (
          <path key={key} d={l.path} class={`wire${on ? (l.part === on ? " on" : " off") : ""}`} />
        ))}
        {tables.map((t) => (
          <text key={`l${t}`} x={columns.reads - 8} y={y(tables, t)} class={`cell end${on && !touched(t, ["reads", "holds"]) ? " off" : ""}`}>
            {t}
          </text>
        ))}
        {tables.map((t) => (
          <text key={`r${t}`} x={columns.right + 8} y={y(tables, t)} class={`cell${on && !touched(t, ["emits"]) ? " off" : ""}`}>
            {t}
          </text>
        ))}
        {names.map((n) => (
          <text key={n} x={columns.parts} y={y(names, n)} class={`cell middle${on === n ? " on" : ""}`} onClick={() => (chosen.value = on === n ? "" : n)}>
            {n}
          </text>
        ))}
      </svg>
    </div>
  );
}
