import { computed, signal, useComputed } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

import { actsOn, restart, restore, setEnabled, toggleMode, trigger } from "./actions";
import type { Forward, PageResource } from "./api";
import { mark, markAll, marked, markedResources, star, starred, unmark } from "./chosen";
import { keys } from "./keys";
import { arrange, group, matches, orders, tiltfileName, type Order } from "./order";
import { go, hashOf, resourceHash } from "./place";
import { remembered } from "./remembered";
import { live, now, resources, row, tiltfile } from "./state";
import { age, count, glyphs, runtimeOf, statusNames, updateOf, type Said } from "./words";

export const filter = signal("");
const order = remembered<Order>("order", "by group");
const folded = remembered<string[]>("folded", []);
/** The resource that keys act on. */
const current = signal("");

const starredGroup = "★ starred";
const groupOf = (r: PageResource) => (starred.value.has(r.name) ? starredGroup : group(r));

const shown = computed(() => arrange(resources.value.filter(matches(filter.value, starred.value)), order.value, starred.value));
/** The names of what is shown, with folded groups left out. */
const visible = computed(() => shown.value.filter((r) => order.value !== "by group" || r.name === tiltfileName || !folded.value.includes(groupOf(r))).map((r) => r.name));

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
  const nextError = (by: number) => {
    const failing = shown.value.filter((r) => r.error).map((r) => r.name);
    const at = failing.indexOf(current.value);
    const next = failing[(at < 0 ? (by > 0 ? 0 : failing.length - 1) : at + by + failing.length) % failing.length];
    if (next) focus(next);
  };
  // What keys act on: the marked resources, else the current one.
  const those = () => {
    if (markedResources.value.length > 0) return markedResources.value;
    const r = row(current.value)?.value;
    return r ? [r] : [];
  };
  const onCurrent = (act: (name: string) => void) => () => {
    if (row(current.value)) act(current.value);
  };
  keys("overview", [
    { keys: "j ArrowDown", does: "next resource", run: () => step(1), moves: true },
    { keys: "k ArrowUp", does: "previous resource", run: () => step(-1), moves: true },
    { keys: "g Home", does: "first resource", run: () => step(-1e6), moves: true },
    { keys: "G End", does: "last resource", run: () => step(1e6), moves: true },
    { keys: "Enter", does: "open the resource", run: onCurrent((name) => go({ view: "resource", name })), moves: true },
    { keys: "/", does: "filter: letters, !letters, label:x, is:failed, is:starred", run: () => filterBox.current?.focus() },
    { keys: ">", does: `order: ${orders.join(", ")}`, run: () => (order.value = orders[(orders.indexOf(order.value) + 1) % orders.length] ?? "by group") },
    { keys: "e", does: "next error", run: () => nextError(1) },
    { keys: "E", does: "previous error", run: () => nextError(-1) },
    { keys: "Space", does: "mark the resource: keys then act on all that are marked", run: onCurrent((name) => (mark(name), step(1))) },
    { keys: "*", does: "mark all that are shown, or none", run: () => markAll(visible.value.filter((n) => n !== tiltfileName)) },
    { keys: "s", does: "star the resource: it comes first", run: onCurrent(star) },
    ...actsOn(those),
    {
      keys: "Escape",
      does: "clear the filter, then the marks",
      moves: true,
      run: () => {
        if (filter.value) filter.value = "";
        else unmark();
      },
    },
  ]);
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
          aria-label="filter resources: letters, !letters, label:x, is:failed, is:starred"
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
        <span class="note" role="status">
          {filter.value && `${count(shown.value.length, "resource")} of ${resources.value.length.toLocaleString("en")}`}
        </span>
      </div>
      <Bulk />
      <table ref={table} class="resources" role="table">
        <thead role="rowgroup">
          <tr role="row">
            <th scope="col" role="columnheader">resource</th>
            <th scope="col" role="columnheader">update</th>
            <th scope="col" role="columnheader">runtime</th>
            <th scope="col" role="columnheader">ports and links</th>
            <th scope="col" role="columnheader" class="right">
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

/** What can be done with the marked resources. */
function Bulk() {
  const list = markedResources.value;
  if (list.length === 0) return null;
  return (
    <div class="bar bulk" role="toolbar" aria-label="marked resources">
      <strong>{list.length} marked</strong>
      {live.value && (
        <>
          <button class="chip" onClick={() => trigger(list)}>
            update
          </button>
          <button class="chip" onClick={() => restart(list)}>
            restart
          </button>
          <button class="chip" onClick={() => setEnabled(list, true)}>
            enable
          </button>
          <button class="chip" onClick={() => setEnabled(list, false)}>
            disable
          </button>
          <button class="chip" onClick={() => toggleMode(list)}>
            trigger mode
          </button>
          {list.some((r) => r.drift) && (
            <button class="chip" onClick={() => restore(list)}>
              restore
            </button>
          )}
        </>
      )}
      <button class="chip" onClick={unmark}>
        clear
      </button>
    </div>
  );
}

function Rows() {
  if (order.value !== "by group") {
    return (
      <tbody role="rowgroup">
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
    else {
      const name = groupOf(r);
      const list = groups.get(name);
      if (list) list.push(r);
      else groups.set(name, [r]);
    }
  }
  const alone = groups.size === 1 && groups.has("");
  return (
    <>
      <tbody role="rowgroup">
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
    <tbody role="rowgroup">
      <tr class="group" role="row">
        <th colSpan={5} scope="rowgroup" role="rowheader">
          <button aria-expanded={!closed} onClick={() => (folded.value = closed ? folded.value.filter((n) => n !== p.name) : [...folded.value, p.name])}>
            <span class="turn" aria-hidden="true">
              {closed ? "▸" : "▾"}
            </span>
            {p.name || "no label"}
            <span class="note">{p.rows.length}</span>
            {failing > 0 && <span class="bad">✖ {failing}</span>}
            {waiting > 0 && <span class="warn">◌ {waiting}</span>}
          </button>
          <span class="group-acts">
            <a class="act wide" href={hashOf({ view: "log", group: p.name })}>
              log
            </a>
            <button class="act wide" onClick={() => markAll(p.rows.map((r) => r.name))}>
              mark
            </button>
          </span>
        </th>
      </tr>
      {!closed && p.rows.map((r) => <Row key={r.name} name={r.name} />)}
    </tbody>
  );
}

/** What a row shows that changes with the time or with choices. */
interface Shown {
  status: string;
  update: Said;
  runtime: Said;
  changed: string;
  marked: boolean;
  starred: boolean;
}

/**
 * A row is drawn again only when something in it changes: of 1,000 rows most stay as they are when a second passes, when another one is
 * marked, or when the keyboard goes to the next one.
 */
function Row(p: { name: string }) {
  const text = useComputed(() => {
    const r = row(p.name)?.value;
    if (!r) return "";
    const shown: Shown = {
      status: r.status,
      update: updateOf(r, now.value, tiltfile.value),
      runtime: runtimeOf(r, now.value),
      changed: r.current ? "now" : age(r.last?.finishedAt, now.value),
      marked: marked.value.has(r.name),
      starred: starred.value.has(r.name),
    };
    return JSON.stringify(shown);
  });
  const r = row(p.name)?.value;
  if (!r || !text.value) return null;
  const is = JSON.parse(text.value) as Shown;
  return (
    <tr
      role="row"
      class={`row ${r.status}${is.marked ? " marked" : ""}`}
      onClick={(e) => {
        if ((e.target as HTMLElement).closest("a, button, input")) return;
        if (e.ctrlKey || e.metaKey) mark(r.name);
        else go({ view: "resource", name: r.name });
      }}
    >
      <th scope="row" role="rowheader">
        <input type="checkbox" class="mark-box" checked={is.marked} onChange={() => mark(r.name)} aria-label={`mark ${r.name}`} tabIndex={-1} disabled={r.name === tiltfileName} />
        <span class={`glyph ${is.status}`} role="img" aria-label={statusNames[is.status] ?? is.status}>
          {glyphs[r.error ? r.status : is.status]}
        </span>
        <a class="resource" href={resourceHash(r.name)} data-name={r.name} onFocus={() => (current.value = r.name)}>
          {r.name}
        </a>
        {r.triggerMode?.startsWith("manual") && <span class="tag">manual</span>}
        <span class="actions">
          <button class={`act star${is.starred ? " on" : ""}`} onClick={() => star(r.name)} aria-label={`star ${r.name}`} aria-pressed={is.starred} title="star (s)" tabIndex={-1}>
            {is.starred ? "★" : "☆"}
          </button>
          {!r.disabled && live.value && (
            <button class="act" onClick={() => trigger([r])} aria-label={`update ${r.name} now`} title="update now (t)">
              ↻
            </button>
          )}
        </span>
      </th>
      <td role="cell" data-label="update">
        <Words said={is.update} />
      </td>
      <td role="cell" data-label="runtime">
        <Words said={is.runtime} />
        {r.runtime.pods !== undefined && r.runtime.pods > 1 && (
          <span class="note">
            {" "}
            {r.runtime.ready ?? 0}/{r.runtime.pods} ready
          </span>
        )}
      </td>
      <td role="cell" data-label="ports" class="ports">
        <Endpoints r={r} />
      </td>
      <td role="cell" class="right note" data-label="changed">
        {is.changed}
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
