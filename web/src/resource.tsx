import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { accept, actsOn, addForward, buttonsOf, editArguments, isManual, moveForward, press, removeForward, restart, restore, toggle, toggleMode, trigger } from "./actions";
import type { Forward, PageBuild, PageContainer, PageDetail, PageObject, PagePod, PageResource } from "./api";
import { star, starred } from "./chosen";
import { keys } from "./keys";
import { LogView } from "./logview";
import { tiltfileName } from "./order";
import { Endpoints, Link, Words } from "./overview";
import { Change, Waterfall } from "./parts";
import { go, hashOf, resourceHash } from "./place";
import { detail, live, now, resources, row, session, tiltfile } from "./state";
import { age, count, duration, glyphs, past, running, runtimeOf, statusNames, updateOf } from "./words";

const tabs = ["updates", "pods", "events", "objects", "ports", "definition"] as const;
type Tab = (typeof tabs)[number];
const tab = signal<Tab>("updates");

/** The tabs that a type of resource has. */
function tabsOf(type: string): Tab[] {
  if (type === "tiltfile") return ["updates", "definition"];
  return tabs.filter((t) => (t !== "events" && t !== "objects") || type === "k8s");
}

export function Resource(p: { name: string; tab?: string | undefined; line?: number | undefined; update?: number | undefined }) {
  const span = useSpan(p.name);
  const r = row(p.name)?.value;
  const d = detail.value?.name === p.name ? detail.value : undefined;
  const to = (by: number) => {
    const names = resources.value.map((o) => o.name);
    const next = names[names.indexOf(p.name) + by];
    if (next) go({ view: "resource", name: next });
  };
  const nextError = (by: number) => {
    const names = resources.value.filter((o) => o.error || o.name === p.name).map((o) => o.name);
    const next = names[(names.indexOf(p.name) + by + names.length) % names.length];
    if (next) go({ view: "resource", name: next });
  };
  // What the address names.
  useEffect(() => {
    if (p.tab && (tabs as readonly string[]).includes(p.tab)) tab.value = p.tab as Tab;
    else if (p.update) tab.value = "updates";
  }, [p.tab, p.update]);
  // The log shows the lines of the update that the address names, until another choice.
  const named = p.update && d?.updates?.find((u) => u.serial === p.update)?.span;
  useEffect(() => {
    if (named) span.set(named);
  }, [named]);
  // Steps through the lines of one update after another.
  const stepUpdate = (by: number) => {
    const list = (d?.updates ?? []).filter((u) => u.span);
    const at = list.findIndex((u) => u.span === span.value);
    const next = list[at < 0 ? (by > 0 ? -1 : 0) : at - by];
    span.set(next?.span ?? "");
  };
  const shownTabs = tabsOf(r?.type ?? "k8s");
  const stepTab = (by: number) => {
    const next = shownTabs[(shownTabs.indexOf(tab.value) + by + shownTabs.length) % shownTabs.length];
    if (next) tab.value = next;
  };
  keys("resource", [
    { keys: "Escape q", does: "back to all resources", run: () => go({ view: "overview" }), moves: true },
    { keys: "j", does: "next resource", run: () => to(1), moves: true },
    { keys: "k", does: "previous resource", run: () => to(-1), moves: true },
    { keys: "ArrowRight", does: "next tab", run: () => stepTab(1), moves: true },
    { keys: "ArrowLeft", does: "previous tab", run: () => stepTab(-1), moves: true },
    { keys: "e", does: "next error", run: () => nextError(1) },
    { keys: "E", does: "previous error", run: () => nextError(-1) },
    { keys: "s", does: "star the resource: it comes first", run: () => star(p.name) },
    { keys: "p", does: "port forwards: add, change, remove", run: () => (tab.value = "ports") },
    { keys: "[", does: "log of the previous update only", run: () => stepUpdate(-1) },
    { keys: "]", does: "log of the next update only", run: () => stepUpdate(1) },
    ...actsOn(() => (r ? [r] : [])),
  ]);
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
  const chosen = shownTabs.includes(tab.value) ? tab.value : "updates";
  return (
    <main class="resource-page">
      <header class="subject">
        <nav aria-label="path">
          <a href="#/">resources</a>
        </nav>
        <h1>
          <span class={`glyph ${r.status}`} role="img" aria-label={statusNames[r.status] ?? r.status}>
            {glyphs[r.status]}
          </span>
          {r.name}
        </h1>
        <button class={`act star${starred.value.has(r.name) ? " on" : ""}`} onClick={() => star(r.name)} aria-label="star" aria-pressed={starred.value.has(r.name)} title="star (s)">
          {starred.value.has(r.name) ? "★" : "☆"}
        </button>
        {(r.labels ?? []).map((l) => (
          <span key={l} class="tag">
            {l}
          </span>
        ))}
        <span class="spring" />
        {live.value && <Actions r={r} />}
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
                    e.preventDefault(); // the page does not take the key too
                    tab.value = next;
                    document.getElementById(`tab-${next}`)?.focus();
                  }
                }}
              >
                {tabName(t, r)}
                {size(t, r, d) > 0 && <span class="note">{size(t, r, d)}</span>}
              </button>
            ))}
          </div>
          <div id="panel" role="tabpanel" aria-labelledby={`tab-${chosen}`} tabIndex={0}>
            {!d ? (
              <p class="empty">…</p>
            ) : chosen === "updates" ? (
              <Updates r={r} d={d} show={span.set} chosen={p.update} />
            ) : chosen === "pods" ? (
              <Pods r={r} d={d} />
            ) : chosen === "events" ? (
              <Events d={d} />
            ) : chosen === "objects" ? (
              <Objects r={r} d={d} />
            ) : chosen === "ports" ? (
              <Ports r={r} d={d} />
            ) : (
              <Definition r={r} d={d} />
            )}
          </div>
        </div>
        <LogView
          key={r.name}
          resources={[r.name]}
          here={{ view: "resource", name: r.name }}
          title={`log of ${r.name}`}
          span={span.value}
          onSpanEnd={() => span.set("")}
          pods={d?.pods ?? []}
          line={p.line}
        />
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

function tabName(t: Tab, r: PageResource): string {
  if (t === "pods") return r.type === "local" ? "process" : r.type === "compose" ? "containers" : "pods";
  if (t === "updates" && r.type === "tiltfile") return "evaluations";
  if (t === "definition" && r.type === "tiltfile") return "files and arguments";
  return t;
}

function size(t: Tab, r: PageResource, d: PageDetail | undefined): number {
  return { updates: d?.updates, pods: d?.pods, events: d?.events, objects: d?.objects, ports: r.forwards, definition: undefined }[t]?.length ?? 0;
}

/** What the mouse can do with a resource. The rest is in the palette and has keys. */
function Actions(p: { r: PageResource }) {
  const { r } = p;
  return (
    <>
      {buttonsOf(r.name).map((b) => (
        <button key={b.name} class="button" disabled={!!b.disabled} onClick={() => press(b)}>
          {b.text}
        </button>
      ))}
      {r.type === "tiltfile" && (
        <button class="button" onClick={editArguments} title="A">
          arguments
        </button>
      )}
      {!r.disabled && (
        <button class="button main" onClick={() => trigger([r])} title="t">
          update now
        </button>
      )}
      {!r.disabled && r.type !== "tiltfile" && (
        <button class="button" onClick={() => restart([r])} title="r">
          restart
        </button>
      )}
      {r.type !== "tiltfile" && (
        <button class="button" onClick={() => toggleMode([r])} title="m" aria-pressed={isManual(r)}>
          manual
        </button>
      )}
      {r.type !== "tiltfile" && (
        <button class="button" onClick={() => toggle([r])} title="d">
          {r.disabled ? "enable" : "disable"}
        </button>
      )}
    </>
  );
}

/** The context of one of several clusters, and whether it answers. */
function ClusterState(p: { name: string }) {
  const c = session.value?.clusters?.find((c) => c.name === p.name);
  if (!c) return null;
  return (
    <>
      {c.context !== c.name && <span class="note">context {c.context}</span>} {!c.connected && c.error && <span class={c.starting ? "warn" : "bad"}>{c.starting ? "is starting" : "does not answer"}</span>}
    </>
  );
}

function Facts(p: { r: PageResource; d: PageDetail | undefined }) {
  const { r, d } = p;
  const links = (list: string[]) =>
    list.map((n) => (
      <a key={n} href={resourceHash(n)}>
        {n}
      </a>
    ));
  return (
    <dl class="facts">
      <dt>update</dt>
      <dd>
        <Words said={r.error && !r.current && !r.waiting && r.last?.error === r.error ? { text: "failed", note: duration(r.last.ms ?? 0), tone: "bad" } : updateOf(r, now.value, tiltfile.value)} />
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
      {r.cluster && (
        <>
          <dt>cluster</dt>
          <dd>
            {r.cluster} <ClusterState name={r.cluster} />
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
      {r.dependsOn && (
        <>
          <dt>depends on</dt>
          <dd class="links">{links(r.dependsOn)}</dd>
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
      {r.drift && (
        <>
          <dt>cluster</dt>
          <dd class="warn">
            ≠ {r.drift} <a href={hashOf({ view: "resource", name: r.name, tab: "objects" })}>what differs</a>
          </dd>
        </>
      )}
      {isManual(r) && (
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

function Updates(p: { r: PageResource; d: PageDetail; show: (span: string) => void; chosen: number | undefined }) {
  const list = p.d.updates ?? [];
  useEffect(() => document.getElementById(`update-${p.chosen}`)?.scrollIntoView({ block: "nearest" }), [p.chosen]);
  const earlier = p.d.earlier ?? [];
  if (list.length + earlier.length === 0) return <p class="empty">{p.r.name === tiltfileName ? "It has not been evaluated yet." : "It has not been updated yet."}</p>;
  return (
    <>
      <ol class="updates">
        {list.map((u) => (
          <li key={u.serial} id={`update-${u.serial}`} class={`${u.error ? "failed" : ""}${p.chosen === u.serial ? " chosen" : ""}`}>
            <Update u={u} r={p.r} show={p.show} />
          </li>
        ))}
      </ol>
      {earlier.length > 0 && (
        <section aria-label="updates of earlier sessions">
          <h2 class="section">in earlier sessions</h2>
          <ol class="updates">
            {earlier.map((u) => (
              <li key={`${u.serial} ${u.startedAt}`} class={u.error ? "failed" : ""}>
                <Update u={u} r={p.r} show={p.show} />
              </li>
            ))}
          </ol>
        </section>
      )}
    </>
  );
}

function Update(p: { u: PageBuild; r: PageResource; show: (span: string) => void }) {
  const { u } = p;
  return (
    <>
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
        {(u.resources ?? 0) > 0 && `, ${count(u.resources ?? 0, "resource")}`}
        {(u.containers ?? 0) > 1 && `, in ${count(u.containers ?? 0, "container")}`}
        {(u.allFiles?.length ?? 0) > 0 && ": "}
        {(u.allFiles?.length ?? 0) > 0 && <Files list={u.allFiles ?? []} />}
      </div>
      <Waterfall stages={u.stages ?? []} />
      {u.error && u.error !== p.r.error && <pre class="past-error">{u.error}</pre>}
    </>
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
  if (!d.pods) return <p class="empty">{p.r.type === "compose" ? "It has no containers." : "It has no pods."}</p>;
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

/** The objects of a resource, and what others have changed of them in the cluster. */
function Objects(p: { r: PageResource; d: PageDetail }) {
  const list = p.d.objects ?? [];
  return (
    <>
      {p.r.drift && live.value && (
        <div class="bar">
          <button class="button" onClick={() => restore([p.r])} title="U">
            restore
          </button>
          <button class="button" onClick={() => accept([p.r])} title="K">
            keep the changes
          </button>
        </div>
      )}
      {list.length === 0 && <p class="empty">It has applied no objects.</p>}
      <ul class="objects">
        {list.map((o) => (
          <ObjectLine key={`${o.kind} ${o.namespace} ${o.name}`} o={o} />
        ))}
      </ul>
      {(p.d.images ?? []).length > 0 && (
        <>
          <h2 class="section">images</h2>
          <ul class="objects">
            {(p.d.images ?? []).map((i) => (
              <li key={i.name}>
                <span class="code">{i.name}</span>
                {i.builtOn && <span class="note"> built on {i.builtOn.join(", ")}</span>}
                {i.deployed && <div class="note code">{i.deployed}</div>}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function ObjectLine(p: { o: PageObject }) {
  const { o } = p;
  return (
    <li>
      <span class="note">{o.kind}</span> <strong>{o.name}</strong> {o.namespace && <span class="note">in {o.namespace}</span>}
      {o.what && (
        <span class="warn">
          {" "}
          ≠ {o.what}, {age(o.since, now.value)} ago{o.reason && `: ${o.reason}`}
          {o.keep && ", will be restored"}
        </span>
      )}
      {(o.fields ?? []).map((f) => (
        <Change key={f.path} f={f} before={["applied", f.to]} after={["cluster", f.from]} />
      ))}
    </li>
  );
}

/** Port forwards, which can be added, changed and removed while the session runs, and links. */
function Ports(p: { r: PageResource; d: PageDetail }) {
  const { r, d } = p;
  const forwards = r.forwards ?? [];
  const links = (r.endpoints ?? []).filter((l) => !forwards.some((f) => f.url === l.url));
  return (
    <>
      {forwards.length > 0 && (
        <ul class="forwards" aria-label="port forwards">
          {forwards.map((f) => (
            <ForwardLine key={f.address ?? f.localPort} r={r} f={f} />
          ))}
        </ul>
      )}
      {live.value &&
        (d.noForwards ? (
          <p class="empty">{d.noForwards}</p>
        ) : (
          <form
            class="bar"
            onSubmit={(e) => {
              e.preventDefault();
              const form = e.currentTarget;
              const text = ((new FormData(form).get("port") as string) ?? "").trim();
              if (text) void addForward(r.name, text).then((ok) => ok && form.reset());
            }}
          >
            <label class="note">
              new forward <input class="field" name="port" placeholder="8080 or 8080:80" spellcheck={false} autocomplete="off" />
            </label>
            <button class="button" type="submit">
              add
            </button>
          </form>
        ))}
      {links.length > 0 && (
        <>
          <h2 class="section">links</h2>
          <ul class="objects">
            {links.map((l) => (
              <li key={l.url}>
                <Link url={l.url}>{l.name || l.url}</Link> {l.name && <span class="note">{l.url}</span>}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function ForwardLine(p: { r: PageResource; f: Forward }) {
  const { r, f } = p;
  const state = { ready: "ready", waiting: "waits for a pod", failed: "failed" }[f.state] ?? f.state;
  return (
    <li>
      <div class="head">
        <Link url={f.url}>{f.address ?? String(f.localPort)}</Link>
        <span class={f.state === "ready" ? "good" : f.state === "failed" ? "bad" : "warn"}>{state}</span>
        {f.added && <span class="tag">added</span>}
        <span class="spring" />
        {live.value && f.address && (
          <>
            <form
              class="inline"
              onSubmit={(e) => {
                e.preventDefault();
                const form = e.currentTarget;
                const text = ((new FormData(form).get("to") as string) ?? "").trim();
                if (text) void moveForward(r.name, f.address ?? "", text).then((ok) => ok && form.reset());
              }}
            >
              <input class="field narrow" name="to" placeholder="other port" aria-label={`another local port for ${f.address}`} inputMode="numeric" autocomplete="off" />
              <button class="chip" type="submit">
                move
              </button>
            </form>
            <button class="chip" onClick={() => removeForward(r.name, f.address ?? "")} aria-label={`remove the forward of port ${f.address}`}>
              remove
            </button>
          </>
        )}
      </div>
      {f.pod && <div class="note code">{f.pod}</div>}
      {f.error && <p class="bad">{f.error}</p>}
    </li>
  );
}

function Definition(p: { r: PageResource; d: PageDetail }) {
  if (p.r.name === tiltfileName) return <TiltfileFacts d={p.d} />;
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
      {!p.d.definition && <p class="empty">No call of the Tiltfile declares it.</p>}
    </div>
  );
}

function TiltfileFacts(p: { d: PageDetail }) {
  const { d } = p;
  const args = session.value?.arguments ?? [];
  return (
    <div class="definition">
      <section>
        <h2>file</h2>
        <p class="code">{d.description}</p>
      </section>
      <section>
        <h2>arguments</h2>
        {args.length > 0 ? <p class="code">{args.join(" ")}</p> : <p class="note">none</p>}
        {live.value && (
          <button class="chip" onClick={editArguments}>
            change
          </button>
        )}
      </section>
      {d.warnings && (
        <section>
          <h2>warnings</h2>
          {d.warnings.map((w) => (
            <pre key={w} class="warn">
              {w}
            </pre>
          ))}
        </section>
      )}
      {d.configFiles && (
        <section>
          <h2>files whose change evaluates it again</h2>
          <ul>
            {d.configFiles.map((f) => (
              <li key={f} class="code">
                {f}
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
