// The picture of the resources and their dependencies, with their state.
import { computed, signal } from "@preact/signals";
import { useRef } from "preact/hooks";

import { actsOn } from "./actions";
import type { PageResource } from "./api";
import { keys } from "./keys";
import { laidOut } from "./layout";
import { group, tiltfileName } from "./order";
import { go, resourceHash } from "./place";
import { now, order, resources, row, tiltfile } from "./state";
import { below, duration, firstLine, glyphs, statusNames, updateOf } from "./words";

const box = { width: 196, height: 46 };
const current = signal("");

/** The shape alone: it changes only when the Tiltfile does. */
const shape = computed(() => {
  order.value;
  return JSON.stringify(resources.value.filter((r) => r.name !== tiltfileName).map((r) => [r.name, r.dependsOn ?? [], group(r)]));
});

const picture = computed(() => {
  const list = JSON.parse(shape.value) as [string, string[], string][];
  const edges = list.flatMap(([name, needs]) => needs.map((n): [string, string] => [n, name]));
  const joined = new Set(edges.flat());
  const alone = list.filter(([name]) => !joined.has(name)).map(([name]) => name);
  return { laid: laidOut(list.map(([name]) => name).filter((n) => joined.has(n)), edges, box), alone };
});

/** A step of the critical path: how long it took from the end of the step before. */
interface Step {
  name: string;
  ms: number;
}

/** The chain of dependencies that the last start took longest for. */
export const criticalPath = computed<{ steps: Step[]; total: number } | undefined>(() => {
  const ready = new Map<string, { began: number; ready: number; needs: string[] }>();
  for (const r of resources.value) {
    if (r.start?.ready && !r.disabled) ready.set(r.name, { began: Date.parse(r.start.began), ready: Date.parse(r.start.ready), needs: r.dependsOn ?? [] });
  }
  const last = (names: Iterable<string>) => [...names].filter((n) => ready.has(n)).sort((a, b) => (ready.get(b)?.ready ?? 0) - (ready.get(a)?.ready ?? 0))[0];
  // The chains that matter end in what others do not wait for.
  const chained = [...ready].filter(([, r]) => r.needs.some((n) => ready.has(n))).map(([n]) => n);
  let at = last(chained);
  if (!at) return undefined;
  const steps: Step[] = [];
  const seen = new Set<string>();
  const end = ready.get(at)?.ready ?? 0;
  let start = end;
  while (at && !seen.has(at)) {
    seen.add(at);
    const r = ready.get(at);
    if (!r) break;
    const before = last(r.needs);
    const from = before ? (ready.get(before)?.ready ?? r.began) : r.began;
    steps.unshift({ name: at, ms: Math.max(r.ready - from, 0) });
    start = from;
    at = before;
  }
  return { steps, total: end - start };
});

export function Graph() {
  const el = useRef<HTMLDivElement>(null);
  const { laid, alone } = picture.value;
  const names = [...laid.nodes.keys(), ...alone];
  const critical = criticalPath.value;
  const onPath = new Set(critical?.steps.map((s) => s.name));
  const focus = (name: string | undefined) => name && el.current?.querySelector<HTMLElement>(`[data-name="${CSS.escape(name)}"]`)?.focus();
  // The nearest node in a direction.
  const step = (dx: number, dy: number) => {
    const from = laid.nodes.get(current.value);
    if (!from) {
      focus(names[0]);
      return;
    }
    let best: string | undefined;
    let least = Infinity;
    for (const [name, to] of laid.nodes) {
      const x = to.x - from.x;
      const y = to.y - from.y;
      const along = x * dx + y * dy;
      if (along <= 1) continue;
      const far = along + 2 * Math.abs(x * dy + y * dx);
      if (far < least) [least, best] = [far, name];
    }
    focus(best);
  };
  keys("graph", [
    { keys: "l ArrowRight", does: "to what needs it", run: () => step(1, 0), moves: true },
    { keys: "h ArrowLeft", does: "to what it needs", run: () => step(-1, 0), moves: true },
    { keys: "j ArrowDown", does: "down", run: () => step(0, 1), moves: true },
    { keys: "k ArrowUp", does: "up", run: () => step(0, -1), moves: true },
    { keys: "Escape q", does: "back to all resources", run: () => go({ view: "overview" }), moves: true },
    ...actsOn(() => {
      const r = row(current.value)?.value;
      return r ? [r] : [];
    }),
  ]);
  return (
    <main class="graph-page">
      <h1 class="title">Dependencies</h1>
      {critical && (
        <section class="critical-path" aria-label="critical path">
          <h2>critical path of the last start</h2>
          <ol>
            {critical.steps.map((s) => (
              <li key={s.name}>
                <a href={resourceHash(s.name)}>{s.name}</a> <span class="note">{duration(s.ms)}</span>
              </li>
            ))}
          </ol>
          <span class="note">{duration(critical.total)} in all</span>
        </section>
      )}
      <div class="picture" ref={el} tabIndex={0} role="region" aria-label="picture of the dependencies">
        {laid.nodes.size > 0 && (
          <div class="canvas" style={{ width: laid.width, height: laid.height }}>
            <svg width={laid.width} height={laid.height} aria-hidden="true">
              <defs>
                <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">
                  <path d="M0,0L8,4L0,8z" class="tip" />
                </marker>
              </defs>
              {laid.edges.map((e) => (
                <Edge key={`${e.from} ${e.to}`} from={e.from} to={e.to} path={e.path} critical={onPath.has(e.from) && onPath.has(e.to) && follows(critical?.steps ?? [], e.from, e.to)} />
              ))}
            </svg>
            {[...laid.nodes].map(([name, at]) => (
              <Node key={name} name={name} style={{ left: at.x - box.width / 2, top: at.y - box.height / 2, width: box.width, height: box.height }} critical={onPath.has(name)} />
            ))}
          </div>
        )}
        {alone.length > 0 && (
          <section class="alone" aria-label="without dependencies">
            <h2>{laid.nodes.size > 0 ? "without dependencies" : "no resource depends on another"}</h2>
            <div>
              {alone.map((name) => (
                <Node key={name} name={name} />
              ))}
            </div>
          </section>
        )}
        {names.length === 0 && <p class="empty">No resources yet.</p>}
      </div>
    </main>
  );
}

const follows = (steps: Step[], from: string, to: string) => steps.findIndex((s) => s.name === from) + 1 === steps.findIndex((s) => s.name === to);

function Edge(p: { from: string; to: string; path: string; critical: boolean }) {
  const waits = row(p.to)?.value.waiting?.on?.includes(p.from);
  return <path d={p.path} class={`edge${waits ? " waits" : ""}${p.critical ? " critical" : ""}`} marker-end="url(#tip)" />;
}

function Node(p: { name: string; style?: Record<string, number>; critical?: boolean }) {
  const r = row(p.name)?.value;
  if (!r) return null;
  const status = r.status;
  const said = said2(r);
  return (
    <a class={`node ${status}${p.critical ? " critical" : ""}`} href={resourceHash(r.name)} data-name={r.name} style={p.style ?? {}} onFocus={() => (current.value = r.name)} title={`${r.name}: ${said}`}>
      <span class="node-name">
        <span class={`glyph ${status}`} role="img" aria-label={statusNames[status] ?? status}>
          {glyphs[status]}
        </span>
        <span>{r.name}</span>
      </span>
      <span class="node-said">{said}</span>
    </a>
  );
}

/** What a node says in its second line: why it waits, what it does, what is wrong with it. */
function said2(r: PageResource): string {
  if (r.error && !r.current && !r.waiting) return below(firstLine(r.error), tiltfile.value);
  const said = updateOf(r, now.value, tiltfile.value);
  return said.note && !r.waiting ? `${said.text} ${said.note}` : said.text;
}
