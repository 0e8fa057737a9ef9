import { computed, signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

import { openEndpoint, restart, toggle, trigger } from "./actions";
import type { Forward, PageResource } from "./api";
import { keys } from "./keys";
import { arrange, group, matches, orders, tiltfileName, type Order } from "./order";
import { remembered } from "./remembered";
import { now, resources, row } from "./state";
import { age, glyphs, runtimeOf, statusNames, updateOf, type Said } from "./words";

export const filter = signal("");
const order = remembered<Order>("order", "by group");
const folded = remembered<string[]>("folded", []);
/** The resource that keys act on. */
const current = signal("");

const shown = computed(() => arrange(resources.value.filter(matches(filter.value)), order.value));
/** The names of what is shown, with folded groups left out. */
const visible = computed(() => shown.value.filter((r) => order.value !== "by group" || r.name === tiltfileName || !folded.value.includes(group(r))).map((r) => r.name));

export function Overview() {
  const filterBox = useRef<HTMLInputElement>(null);
  const table = useRef<HTMLTableElement>(null);
  const focus = (name: string) => table.current?.querySelector<HTMLElement>(`a[data-name="${CSS.escape(name)}"]`)?.focus();
  const step = (by: number) => {
    const names = visible.value;
    const at = names.indexOf(current.value);
    const next = names[at < 0 ? 0 : Math.min(Math.max(at + by, 0), names.length - 1)];
    if (next) focus(next);
  };
  const on = (act: (r: PageResource) => void) => () => {
    const r = row(current.value)?.value;
    if (r) act(r);
  };
  const nextError = (by: number) => {
    const failing = shown.value.filter((r) => r.error).map((r) => r.name);
    const at = failing.indexOf(current.value);
    const next = failing[(at < 0 ? (by > 0 ? 0 : failing.length - 1) : at + by + failing.length) % failing.length];
    if (next) focus(next);
  };
  keys("overview", {
    j: () => step(1),
    k: () => step(-1),
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    g: () => step(-1e6),
    Home: () => step(-1e6),
    G: () => step(1e6),
    End: () => step(1e6),
    "/": () => filterBox.current?.focus(),
    ">": () => (order.value = orders[(orders.indexOf(order.value) + 1) % orders.length] ?? "by group"),
    e: () => nextError(1),
    E: () => nextError(-1),
    t: on(trigger),
    r: on(restart),
    d: on(toggle),
    b: on(openEndpoint),
    a: () => (location.hash = "#/log"),
    Escape: () => (filter.value = ""),
  });
  useLayoutEffect(() => {
    if (current.value) focus(current.value); // back from a resource
  }, []);

  return (
    <main class="overview">
      <h1 class="hidden">Resources</h1>
      <div class="bar">
        <input
          ref={filterBox}
          class="field wide"
          type="search"
          placeholder="filter   /"
          aria-label="filter resources: letters, !letters, label:x, is:failed"
          value={filter.value}
          onInput={(e) => (filter.value = e.currentTarget.value)}
          onKeyDown={(e) => {
            if (e.key === "Enter" || e.key === "ArrowDown") {
              e.preventDefault();
              step(0);
            }
            if (e.key === "Escape") {
              if (filter.value) filter.value = "";
              else e.currentTarget.blur();
            }
          }}
        />
        <label class="note">
          order{" "}
          <select class="field" value={order.value} onChange={(e) => (order.value = e.currentTarget.value as Order)}>
            {orders.map((o) => (
              <option key={o} value={o}>
                {o}
              </option>
            ))}
          </select>
        </label>
        <span class="spring" />
        <a class="chip" href="#/log">
          log of all
        </a>
      </div>
      <table ref={table} class="resources">
        <thead>
          <tr>
            <th scope="col">resource</th>
            <th scope="col">update</th>
            <th scope="col">runtime</th>
            <th scope="col">ports and links</th>
            <th scope="col" class="right">
              changed
            </th>
          </tr>
        </thead>
        <Rows />
      </table>
      {shown.value.length === 0 && <p class="empty">{resources.value.length === 0 ? "No resources yet." : "No resource matches the filter."}</p>}
    </main>
  );
}

function Rows() {
  if (order.value !== "by group") {
    return (
      <tbody>
        {shown.value.map((r) => (
          <Row key={r.name} name={r.name} />
        ))}
      </tbody>
    );
  }
  const groups = new Map<string, PageResource[]>();
  const top: PageResource[] = [];
  for (const r of shown.value) {
    if (r.name === tiltfileName) top.push(r);
    else groups.set(group(r), [...(groups.get(group(r)) ?? []), r]);
  }
  const alone = groups.size === 1 && groups.has("");
  return (
    <>
      <tbody>
        {top.map((r) => (
          <Row key={r.name} name={r.name} />
        ))}
        {alone && (groups.get("") ?? []).map((r) => <Row key={r.name} name={r.name} />)}
      </tbody>
      {!alone && [...groups].map(([name, rows]) => <Group key={name} name={name} rows={rows} />)}
    </>
  );
}

function Group(p: { name: string; rows: PageResource[] }) {
  const closed = folded.value.includes(p.name);
  const failing = p.rows.filter((r) => r.error).length;
  const waiting = p.rows.filter((r) => r.status === "waiting" || r.status === "unknown").length;
  return (
    <tbody>
      <tr class="group">
        <th colSpan={5} scope="rowgroup">
          <button aria-expanded={!closed} onClick={() => (folded.value = closed ? folded.value.filter((n) => n !== p.name) : [...folded.value, p.name])}>
            <span class="turn" aria-hidden="true">
              {closed ? "▸" : "▾"}
            </span>
            {p.name || "no label"}
            <span class="note">{p.rows.length}</span>
            {failing > 0 && <span class="bad">✖ {failing}</span>}
            {waiting > 0 && <span class="warn">◌ {waiting}</span>}
          </button>
        </th>
      </tr>
      {!closed && p.rows.map((r) => <Row key={r.name} name={r.name} />)}
    </tbody>
  );
}

function Row(p: { name: string }) {
  const r = row(p.name)?.value;
  if (!r) return null;
  return (
    <tr
      class={`row ${r.status}${current.value === r.name ? " current" : ""}`}
      onClick={(e) => {
        if (!(e.target as HTMLElement).closest("a, button")) location.hash = `#/r/${encodeURIComponent(r.name)}`;
      }}
    >
      <th scope="row">
        <span class={`glyph ${r.error ? "failed" : r.status}`} role="img" aria-label={statusNames[r.status] ?? r.status}>
          {glyphs[r.status]}
        </span>
        <a class="resource" href={`#/r/${encodeURIComponent(r.name)}`} data-name={r.name} onFocus={() => (current.value = r.name)}>
          {r.name}
        </a>
        {r.triggerMode?.startsWith("manual") && <span class="tag">manual</span>}
        <span class="actions">
          {!r.disabled && (
            <button class="act" onClick={() => trigger(r)} aria-label={`update ${r.name} now`} title="update now (t)">
              ↻
            </button>
          )}
        </span>
      </th>
      <td data-label="update">
        <Words said={updateOf(r, now.value)} />
      </td>
      <td data-label="runtime">
        <Words said={runtimeOf(r, now.value)} />
        {r.runtime.pods !== undefined && r.runtime.pods > 1 && (
          <span class="note">
            {" "}
            {r.runtime.ready ?? 0}/{r.runtime.pods} ready
          </span>
        )}
      </td>
      <td data-label="ports" class="ports">
        <Endpoints r={r} />
      </td>
      <td class="right note" data-label="changed">
        {r.current ? "now" : age(r.last?.finishedAt, now.value)}
      </td>
    </tr>
  );
}

export function Words(p: { said: Said }) {
  const { said } = p;
  return (
    <span class="said" title={said.note ? `${said.text} · ${said.note}` : said.text}>
      <span class={said.tone}>{said.text}</span>
      {said.progress !== undefined && <progress max={1} value={said.progress} aria-label="progress" />}
      {said.note && <span class="note"> {said.note}</span>}
    </span>
  );
}

const forwardNames: Record<string, string> = { ready: "ready", waiting: "waiting", failed: "failed" };

export function Endpoints(p: { r: PageResource }) {
  const forwards = p.r.forwards ?? [];
  const others = (p.r.endpoints ?? []).filter((l) => !forwards.some((f) => f.url === l.url));
  if (forwards.length + others.length === 0) return <span class="note">–</span>;
  return (
    <>
      {forwards.map((f) => (
        <Port key={f.localPort} f={f} />
      ))}
      {others.map((l) => (
        <Link key={l.url} url={l.url}>
          {l.name || l.url.replace(/^https?:\/\//, "").replace(/\/$/, "")}
        </Link>
      ))}
    </>
  );
}

function Port(p: { f: Forward }) {
  const { f } = p;
  return (
    <span class={`port ${f.state}`} title={f.error ?? f.pod ?? ""}>
      <Link url={f.url}>{f.localPort}</Link>
      <span role="img" aria-label={forwardNames[f.state] ?? f.state}>
        {f.state === "ready" ? "✔" : f.state === "failed" ? "✖" : "◌"}
      </span>
    </span>
  );
}

/** A link that leaves the page. An address that is not of the web, such as javascript:, is shown as text. */
export function Link(p: { url: string; children: preact.ComponentChildren }) {
  if (!/^https?:\/\//.test(p.url)) return <span>{p.children}</span>;
  return (
    <a class="out" href={p.url} target="_blank" rel="noreferrer noopener">
      {p.children}
    </a>
  );
}
