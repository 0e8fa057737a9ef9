// Where the time of the start went: a bar for each resource, and the path of pieces that decided the end.
import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import type { Waterfall, WaterfallSpan } from "./api";
import { events, follow } from "./events";
import { readBody } from "./foreign";
import { keys } from "./keys";
import { go, resourceHash } from "./place";
import { count, duration } from "./words";

const start = signal<Waterfall | undefined>(undefined);

async function load() {
  try {
    const resp = await fetch("/api/waterfall");
    if (resp.ok) start.value = await readBody<Waterfall>(resp);
  } catch {
    // The session is away: what is known stays.
  }
}

const news = computed(() => events.value[events.value.length - 1]?.seq ?? 0);

/** Pieces of the critical path that are shorter than this part of the whole are told together. */
const least = 0.01;

export function Start() {
  useEffect(() => follow(), []);
  useEffect(() => {
    const soon = setTimeout(() => void load(), 200);
    return () => clearTimeout(soon);
  }, [news.value]);
  keys("the start", [{ keys: "Escape q", does: "back to the time line", run: () => go({ view: "time" }), moves: true }]);
  const w = start.value;
  const critical = w?.critical ?? [];
  const long = critical.filter((s) => s.toMs - s.fromMs >= (w?.tookMs ?? 0) * least);
  const short = critical.filter((s) => !long.includes(s)).reduce((sum, s) => sum + s.toMs - s.fromMs, 0);
  return (
    <main class="plan-page">
      <div class="bar">
        <h1>The start</h1>
        <span class="note" role="status">
          {w && w.rows.length > 0 ? `${duration(w.tookMs)} for ${count(w.rows.length, "resource")}` : ""}
          {w?.missed ? `, and ${count(w.missed, "event")} missing` : ""}
        </span>
      </div>
      {w && w.rows.length === 0 && <p class="empty">No resource has begun to start.</p>}
      {w && w.rows.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="bars of the resources">
          <ol class="waterfall start">
            {w.rows.map((r) => (
              <li key={r.resource} class={r.critical ? "critical" : ""}>
                <a class="stage-name" href={resourceHash(r.resource)}>
                  {r.resource}
                </a>
                <span class="stage-lane">
                  {[...r.spans, ...(r.layers ?? [])].map((s, i) => (
                    <Bar key={i} s={s} total={w.tookMs} />
                  ))}
                </span>
                <span class="stage-time">{duration(r.spans[r.spans.length - 1]?.toMs ?? 0)}</span>
              </li>
            ))}
          </ol>
        </div>
      )}
      {long.length > 0 && (
        <section aria-label="critical path">
          <h2>The critical path</h2>
          <ol class="critical-path">
            {long.map((s, i) => (
              <li key={i}>
                <span class="stage-time">{duration(s.toMs - s.fromMs)}</span> {s.resource} <span class="note">{s.text}</span>
              </li>
            ))}
            {short > 0 && (
              <li>
                <span class="stage-time">{duration(short)}</span> <span class="note">shorter pieces</span>
              </li>
            )}
          </ol>
        </section>
      )}
    </main>
  );
}

/** The kinds of spans that do not look like work. Layers go to the cluster beside the build, below its bar. */
const ownLook = ["wait", "ready", "layers"];

function Bar(p: { s: WaterfallSpan; total: number }) {
  const { s, total } = p;
  const kind = s.failed ? "failed" : ownLook.includes(s.kind) ? s.kind : "work";
  const took = duration(s.toMs - s.fromMs);
  return (
    <span
      role="img"
      class={`span ${kind}`}
      aria-label={`${s.text}, ${took}`}
      title={`${s.text}: ${took}`}
      style={{ left: `${(s.fromMs / total) * 100}%`, width: `${((s.toMs - s.fromMs) / total) * 100}%` }}
    />
  );
}
