import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { openEndpoint, restart, toggle, trigger } from "./actions";
import type { PageBuild, PageContainer, PageDetail, PagePod, PageResource } from "./api";
import { keys } from "./keys";
import { LogView } from "./logview";
import { tiltfileName } from "./order";
import { Endpoints, Words } from "./overview";
import { detail, now, resources, row } from "./state";
import { age, count, duration, glyphs, past, running, runtimeOf, statusNames, updateOf } from "./words";

const tabs = ["updates", "pods", "events", "definition"] as const;
type Tab = (typeof tabs)[number];
const tab = signal<Tab>("updates");

export function Resource(p: { name: string }) {
  const span = useSpan(p.name);
  const r = row(p.name)?.value;
  const d = detail.value?.name === p.name ? detail.value : undefined;
  const go = (by: number) => {
    const names = resources.value.map((o) => o.name);
    const next = names[names.indexOf(p.name) + by];
    if (next) location.hash = `#/r/${encodeURIComponent(next)}`;
  };
  const nextError = (by: number) => {
    const names = resources.value.filter((o) => o.error || o.name === p.name).map((o) => o.name);
    const next = names[(names.indexOf(p.name) + by + names.length) % names.length];
    if (next) location.hash = `#/r/${encodeURIComponent(next)}`;
  };
  const on = (act: (r: PageResource) => void) => () => r && act(r);
  keys("resource", {
    Escape: () => (location.hash = "#/"),
    q: () => (location.hash = "#/"),
    j: () => go(1),
    k: () => go(-1),
    e: () => nextError(1),
    E: () => nextError(-1),
    t: on(trigger),
    r: on(restart),
    d: on(toggle),
    b: on(openEndpoint),
    a: () => (location.hash = "#/log"),
  });
  if (!r) {
    return (
      <main class="lost">
        <h1>No resource is called “{p.name}”</h1>
        <p>
          It may have left the Tiltfile. <a href="#/">All resources</a>
        </p>
      </main>
    );
  }
  const shownTabs = tabs.filter((t) => (t !== "events" || r.type === "k8s") && (t !== "pods" || r.type !== "tiltfile"));
  const chosen = shownTabs.includes(tab.value) ? tab.value : "updates";
  return (
    <main class="resource-page">
      <header class="subject">
        <nav aria-label="path">
          <a href="#/">resources</a>
        </nav>
        <h1>
          <span class={`glyph ${r.error ? "failed" : r.status}`} role="img" aria-label={statusNames[r.status] ?? r.status}>
            {glyphs[r.status]}
          </span>
          {r.name}
        </h1>
        {(r.labels ?? []).map((l) => (
          <span key={l} class="tag">
            {l}
          </span>
        ))}
        <span class="spring" />
        {!r.disabled && (
          <button class="button main" onClick={() => trigger(r)} title="t">
            update now
          </button>
        )}
        {!r.disabled && r.type !== "tiltfile" && (
          <button class="button" onClick={() => restart(r)} title="r">
            restart
          </button>
        )}
        {r.type !== "tiltfile" && (
          <button class="button" onClick={() => toggle(r)} title="d">
            {r.disabled ? "enable" : "disable"}
          </button>
        )}
      </header>
      <div class="sides">
        <div class="details">
          <Facts r={r} d={d} />
          {r.error && <ErrorCard r={r} d={d} />}
          <div class="tabs" role="tablist" aria-label="details">
            {shownTabs.map((t) => (
              <button
                key={t}
                role="tab"
                id={`tab-${t}`}
                aria-selected={chosen === t}
                aria-controls="panel"
                tabIndex={chosen === t ? 0 : -1}
                onClick={() => (tab.value = t)}
                onKeyDown={(e) => {
                  const by = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
                  const next = shownTabs[(shownTabs.indexOf(t) + by + shownTabs.length) % shownTabs.length];
                  if (by && next) {
                    tab.value = next;
                    document.getElementById(`tab-${next}`)?.focus();
                  }
                }}
              >
                {t === "pods" && r.type === "local" ? "process" : t === "pods" && r.type === "compose" ? "containers" : t}
                {size(t, d) > 0 && <span class="note">{size(t, d)}</span>}
              </button>
            ))}
          </div>
          <div id="panel" role="tabpanel" aria-labelledby={`tab-${chosen}`} tabIndex={0}>
            {!d ? <p class="empty">…</p> : chosen === "updates" ? <Updates r={r} d={d} show={span.set} /> : chosen === "pods" ? <Pods r={r} d={d} /> : chosen === "events" ? <Events d={d} /> : <Definition r={r} d={d} />}
          </div>
        </div>
        <LogView key={r.name} resource={r.name} title={`log of ${r.name}`} span={span.value} onSpanEnd={() => span.set("")} />
      </div>
    </main>
  );
}

const shownSpan = signal({ name: "", span: "" });

/** The update whose lines the log shows; none for another resource. */
function useSpan(name: string) {
  useEffect(() => () => void (shownSpan.value = { name: "", span: "" }), [name]);
  return { value: shownSpan.value.name === name ? shownSpan.value.span : "", set: (span: string) => (shownSpan.value = { name, span }) };
}

function size(t: Tab, d: PageDetail | undefined): number {
  return { updates: d?.updates, pods: d?.pods, events: d?.events, definition: undefined }[t]?.length ?? 0;
}

function Facts(p: { r: PageResource; d: PageDetail | undefined }) {
  const { r, d } = p;
  const links = (list: string[]) =>
    list.map((n) => (
      <a key={n} href={`#/r/${encodeURIComponent(n)}`}>
        {n}
      </a>
    ));
  return (
    <dl class="facts">
      <dt>update</dt>
      <dd>
        <Words said={r.error && !r.current && !r.waiting && r.last?.error === r.error ? { text: "failed", note: duration(r.last.ms ?? 0), tone: "bad" } : updateOf(r, now.value)} />
        {(r.waiting?.on?.length ?? 0) > 0 && <span class="links"> {links(r.waiting?.on ?? [])}</span>}
      </dd>
      {r.runtime.status !== "not_applicable" && r.runtime.status !== "none" && (
        <>
          <dt>runtime</dt>
          <dd>
            <Words said={runtimeOf(r, now.value)} />
          </dd>
        </>
      )}
      {(r.forwards?.length ?? 0) + (r.endpoints?.length ?? 0) > 0 && (
        <>
          <dt>links</dt>
          <dd class="ports">
            <Endpoints r={r} />
          </dd>
        </>
      )}
      {d?.dependsOn && (
        <>
          <dt>depends on</dt>
          <dd class="links">{links(d.dependsOn)}</dd>
        </>
      )}
      {d?.neededBy && (
        <>
          <dt>needed by</dt>
          <dd class="links">{links(d.neededBy)}</dd>
        </>
      )}
      {d?.files && (
        <>
          <dt>pending</dt>
          <dd class="note">{d.files.slice(0, 5).join(", ") + (d.files.length > 5 ? ` +${d.files.length - 5}` : "")}</dd>
        </>
      )}
      {r.triggerMode?.startsWith("manual") && (
        <>
          <dt>mode</dt>
          <dd>updated on request only</dd>
        </>
      )}
    </dl>
  );
}

function ErrorCard(p: { r: PageResource; d: PageDetail | undefined }) {
  const last = p.d?.updates?.find((u) => u.finishedAt);
  const mend = last?.error === p.r.error ? last?.mend : undefined;
  return (
    <section class="card" aria-label="error">
      <pre>{p.r.error}</pre>
      {mend && (
        <p>
          <strong>What helps:</strong> {mend}
        </p>
      )}
      {last?.output && last.error === p.r.error && <pre class="output">{last.output.join("\n")}</pre>}
    </section>
  );
}

function Updates(p: { r: PageResource; d: PageDetail; show: (span: string) => void }) {
  const list = p.d.updates ?? [];
  if (p.r.name === tiltfileName) return <p class="empty">Evaluations of the Tiltfile have no stages. Its messages are in the log.</p>;
  if (list.length === 0) return <p class="empty">It has not been updated yet.</p>;
  return (
    <ol class="updates">
      {list.map((u) => (
        <li key={u.serial} class={u.error ? "failed" : ""}>
          <div class="head">
            <span class="note">#{u.serial}</span>
            <Words said={!u.finishedAt ? running(u, now.value) : u.error && u.error === p.r.error ? { text: "failed", note: duration(u.ms ?? 0), tone: "bad" } : past(u)} />
            <span class="spring" />
            <span class="note">{u.finishedAt ? `${age(u.finishedAt, now.value)} ago` : "now"}</span>
            {u.span && (
              <button class="chip" onClick={() => p.show(u.span ?? "")}>
                log
              </button>
            )}
          </div>
          <div class="note">
            {u.reason}
            {(u.containers ?? 0) > 1 && `, in ${count(u.containers ?? 0, "container")}`}
            {(u.allFiles?.length ?? 0) > 0 && ": "}
            {(u.allFiles?.length ?? 0) > 0 && <Files list={u.allFiles ?? []} />}
          </div>
          <Waterfall u={u} />
        </li>
      ))}
    </ol>
  );
}

function Files(p: { list: string[] }) {
  if (p.list.length <= 3) return <span>{p.list.join(", ")}</span>;
  return (
    <details>
      <summary>{count(p.list.length, "file")}</summary>
      {p.list.slice(0, 500).join(", ")}
    </details>
  );
}

/** The stages of an update, each as wide as the time that it took. */
function Waterfall(p: { u: PageBuild }) {
  const stages = (p.u.stages ?? []).filter((s) => s.ms >= 0.05);
  const total = stages.reduce((sum, s) => sum + s.ms, 0);
  if (total === 0) return null;
  return (
    <div class="waterfall">
      {stages.map((s, i) => (
        <span key={i} class={`stage stage${i % 6}`} style={{ flexGrow: s.ms / total }} title={`${s.name} ${duration(s.ms)}`}>
          <span class="stage-name">{s.name}</span> {duration(s.ms)}
        </span>
      ))}
    </div>
  );
}

function Pods(p: { r: PageResource; d: PageDetail }) {
  const { d } = p;
  if (p.r.type === "local") {
    return (
      <dl class="facts">
        {d.process && (
          <>
            <dt>process</dt>
            <dd>
              {d.process.state}
              {d.process.pid ? `, pid ${d.process.pid}` : ""}
              {d.process.state === "running" && (d.process.ready ? ", ready" : ", not ready")}
              {d.process.exitCode !== undefined && `, exit ${d.process.exitCode}`}
              {d.process.detail && <span class="warn"> {d.process.detail}</span>}
            </dd>
          </>
        )}
        {d.serveCmd && (
          <>
            <dt>serve_cmd</dt>
            <dd class="code">{d.serveCmd}</dd>
          </>
        )}
        {d.updateCmd && (
          <>
            <dt>cmd</dt>
            <dd class="code">{d.updateCmd}</dd>
          </>
        )}
        {!d.process && !d.serveCmd && <dd class="empty">It has no serve_cmd, so nothing keeps running.</dd>}
      </dl>
    );
  }
  if (!d.pods) return <p class="empty">It has no pods.</p>;
  return (
    <ul class="pods">
      {d.pods.map((pod) => (
        <Pod key={pod.name} pod={pod} />
      ))}
    </ul>
  );
}

function Pod(p: { pod: PagePod }) {
  const { pod } = p;
  const tone = pod.deleting || !pod.current ? "dim" : pod.ready ? "good" : pod.failing ? "bad" : "warn";
  return (
    <li class={pod.current && !pod.deleting ? "" : "old"}>
      <div class="head">
        <strong>{pod.name}</strong>
        <span class={tone}>{pod.deleting ? "being deleted" : !pod.current ? `${pod.status}, of an older deploy` : pod.ready ? "ready" : pod.status}</span>
        <span class="spring" />
        <span class="note">{age(pod.createdAt, now.value)}</span>
      </div>
      {pod.why && <p class={pod.failing ? "bad" : "warn"}>{pod.why}</p>}
      <ul>
        {(pod.containers ?? []).map((c) => (
          <Container key={c.name} c={c} />
        ))}
      </ul>
    </li>
  );
}

function Container(p: { c: PageContainer }) {
  const { c } = p;
  const parts = [
    c.state + (c.state === "running" && !c.ready ? ", not ready" : ""),
    c.reason,
    c.exitCode !== undefined && `exit ${c.exitCode}`,
    c.restarts && count(c.restarts, "restart"),
    c.lastReason && `last run: ${c.lastReason}, exit ${c.lastExitCode}`,
  ].filter(Boolean);
  return (
    <li>
      {c.name}
      {c.kind !== "ordinary" && <span class="tag">{c.kind}</span>} <span class={c.exitCode || c.reason === "CrashLoopBackOff" ? "bad" : "note"}>{parts.join(" · ")}</span>
      {c.image && <div class="note code">{c.image}</div>}
    </li>
  );
}

function Events(p: { d: PageDetail }) {
  if (!p.d.events) return <p class="empty">Kubernetes has reported nothing about its objects.</p>;
  return (
    <ul class="events">
      {p.d.events.map((e, i) => (
        <li key={i}>
          <span class="note">{age(e.lastSeen, now.value)}</span> <span class={e.warning ? "warn" : ""}>{e.reason}</span> {e.message} {e.count > 1 && <span class="note">×{e.count} </span>}
          <span class="note">{e.object}</span>
        </li>
      ))}
    </ul>
  );
}

function Definition(p: { r: PageResource; d: PageDetail }) {
  if (p.d.description) return <p class="code">{p.d.description}</p>;
  return (
    <div class="definition">
      {(p.d.definition ?? []).map((c, i) => (
        <section key={i}>
          <h2>
            {c.call}{" "}
            <span class="note">
              {c.file}:{c.line}
            </span>
          </h2>
          <pre tabIndex={0} aria-label={`${c.call} in ${c.file}`}>
            {(c.source ?? []).map((line, n) => (
              <div key={n}>
                <span class="number">{c.line + n}</span>
                {line}
              </div>
            ))}
          </pre>
        </section>
      ))}
      {p.d.objects && (
        <section>
          <h2>objects</h2>
          <p class="code">{p.d.objects.join(", ")}</p>
        </section>
      )}
      {!p.d.definition && !p.d.objects && <p class="empty">No call of the Tiltfile declares it.</p>}
    </div>
  );
}
