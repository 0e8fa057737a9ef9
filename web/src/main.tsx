import "./style.css";

import { computed, effect } from "@preact/signals";
import { render } from "preact";
import { useEffect } from "preact/hooks";

import { buttonsOf, chooseButton, editArguments, pause, press, prune, stop } from "./actions";
import type { Cluster } from "./api";
import { Architecture } from "./architecture";
import { Dialogs, openDialog } from "./dialog";
import { Graph } from "./graph";
import { keyNames, keys, taken } from "./keys";
import { LogView } from "./logview";
import { group } from "./order";
import { filter, Overview } from "./overview";
import { openPalette } from "./palette";
import { go, place } from "./place";
import { Plan } from "./plan";
import { renew } from "./renew";
import { Resource } from "./resource";
import { Revisions } from "./revisions";
import { Start } from "./start";
import { live, message, resources, session, stream } from "./state";
import { connection } from "./stream";
import { Tests } from "./tests";
import { TimeLine } from "./timeline";
import { glyphs } from "./words";

/** The resources of a group. */
const members = (name: string) => resources.value.filter((r) => group(r) === name && r.type !== "tiltfile").map((r) => r.name);

effect(() => {
  const at = place.value;
  if (at.view === "resource") stream.want({ detail: at.name, log: [at.name] });
  else if (at.view === "log") stream.want({ log: at.group === undefined ? ["*"] : members(at.group) });
  else stream.want({});
});

const counts = computed(() => {
  const n = { ok: 0, warning: 0, updating: 0, waiting: 0, failed: 0, unknown: 0, idle: 0 };
  for (const r of resources.value) n[r.status as keyof typeof n]++;
  n.ok += n.warning;
  return n;
});

effect(() => {
  const failing = resources.value.filter((r) => r.error).length;
  const at = place.value;
  const subject = at.view === "resource" ? `${at.name} – ` : "";
  document.title = `${failing > 0 ? `✖ ${failing} ` : ""}${subject}${session.value?.project ?? "hone"}`;
});

function App() {
  keys("page", [
    { keys: "?", does: "all keys", run: openHelp },
    { keys: ":", does: "all commands by name, and resources (Ctrl-K)", run: () => openPalette(), moves: true },
    { keys: "a", does: "log of all resources", run: () => go({ view: "log" }) },
    { keys: "D", does: "graph of the dependencies", run: () => go({ view: "graph" }) },
    { keys: "H", does: "time line: what happened, and how long you waited", run: () => go({ view: "time" }) },
    { keys: "V", does: "verdicts of the tests, and of their single tests", run: () => go({ view: "tests" }) },
    { keys: "P", does: "pending changes: what an update would do to the cluster", run: () => go({ view: "plan" }) },
    { keys: "B", does: "revisions of the project: what was applied, and what has changed", run: () => go({ view: "revisions" }) },
    { keys: "Z", does: "pause all updates, or resume them", run: pause, changes: true },
    { keys: "A", does: "arguments of the Tiltfile", run: editArguments, changes: true },
    { keys: "", does: "buttons of the session", run: () => chooseButton(undefined), changes: true },
    { keys: "", does: "delete what the Tiltfile no longer declares", run: prune, changes: true },
    { keys: "", does: "save a snapshot of the session to a file", run: () => download("/api/snapshot", "snapshot.json") },
    { keys: "", does: "hone’s own parts: wake-ups and batch times", run: () => go({ view: "hone" }) },
    { keys: "", does: "stop the session", run: stop, changes: true },
  ]);
  const at = place.value;
  return (
    <>
      <Top />
      <Connection />
      <Notices />
      {at.view === "resource" ? (
        <Resource key={at.name} name={at.name} tab={at.tab} line={at.line} update={at.update} />
      ) : at.view === "log" ? (
        <AllLogs key={at.group ?? "*"} group={at.group} line={at.line} />
      ) : !session.value ? (
        <main class="lost" aria-busy="true" />
      ) : at.view === "graph" ? (
        <Graph />
      ) : at.view === "time" ? (
        <TimeLine />
      ) : at.view === "start" ? (
        <Start />
      ) : at.view === "tests" ? (
        <Tests />
      ) : at.view === "plan" ? (
        <Plan />
      ) : at.view === "revisions" ? (
        <Revisions number={at.number} cluster={at.cluster} />
      ) : at.view === "hone" ? (
        <Architecture />
      ) : (
        <Overview />
      )}
      <Message />
      <Dialogs />
    </>
  );
}

function download(path: string, name: string) {
  const a = document.createElement("a");
  a.href = path;
  a.download = name;
  a.click();
}

const views = [
  ["overview", "#/", "resources"],
  ["log", "#/log", "log"],
  ["graph", "#/graph", "graph"],
  ["time", "#/time", "time line"],
  ["plan", "#/plan", "changes"],
  ["revisions", "#/revisions", "revisions"],
  ["hone", "#/hone", "hone"],
] as const;

/** One of several clusters, and whether it answers. */
function ClusterName(p: { c: Cluster; first: boolean }) {
  const { c } = p;
  const away = c.needed && !c.connected && c.error;
  return (
    <>
      {!p.first && ", "}
      <span class={away ? (c.starting ? "warn" : "bad") : undefined} title={away || `context ${c.context}`}>
        {c.name}
        {c.namespace && `/${c.namespace}`}
        {away && (c.starting ? " is starting" : " does not answer")}
      </span>
    </>
  );
}

function Top() {
  const s = session.value;
  const n = counts.value;
  return (
    <header class="top">
      <a class="mark" href="#/" aria-label="hone, all resources">
        hone
      </a>
      {s && (
        <span class="where">
          <strong>{s.project}</strong>
          {s.clusters ? (
            <span class="note">
              {" "}
              @{" "}
              {s.clusters.map((c, i) => (
                <ClusterName key={c.context} c={c} first={i === 0} />
              ))}
            </span>
          ) : (
            s.context && (
              <span class="note">
                {" "}
                @ {s.context}
                {s.namespace && `/${s.namespace}`}
              </span>
            )
          )}
        </span>
      )}
      <nav class="views" aria-label="views">
        {views.filter(([view]) => live.value || (view !== "plan" && view !== "hone")).map(([view, href, name]) => (
          <a key={view} href={href} aria-current={place.value.view === view ? "page" : undefined}>
            {name}
          </a>
        ))}
        <a href="/docs/" target="_blank" rel="noopener">
          docs
        </a>
      </nav>
      <span class="counts">
        {(["failed", "unknown", "waiting", "updating", "ok"] as const).map(
          (status) =>
            n[status] > 0 && (
              <button
                key={status}
                class={`count ${status}`}
                aria-pressed={filter.value === `is:${status}`}
                onClick={() => {
                  filter.value = filter.value === `is:${status}` ? "" : `is:${status}`;
                  location.hash = "#/";
                }}
              >
                <span aria-hidden="true">{glyphs[status]}</span> {n[status]} <span class="word">{status}</span>
              </button>
            ),
        )}
      </span>
      {live.value &&
        buttonsOf("").map((b) => (
          <button key={b.name} class="chip" disabled={!!b.disabled} onClick={() => press(b)}>
            {b.text}
          </button>
        ))}
      {s && live.value && (
        <button class="chip" aria-pressed={!!s.paused} onClick={pause} title="Z">
          {s.paused ? "resume" : "pause"}
        </button>
      )}
      <button class="chip" onClick={() => openPalette()} aria-label="commands and resources" title="Ctrl-K">
        ⌘K
      </button>
      <button class="chip" onClick={openHelp} aria-label="keys" title="?">
        ?
      </button>
    </header>
  );
}

function Connection() {
  const c = connection.value;
  return (
    <div role="alert">
      {c === "lost" && (
        <p class="notice error">
          <strong>The connection to the session is lost.</strong> What is shown may be out of date. It is tried again.
          <button class="chip" onClick={() => stream.retry()}>
            try now
          </button>
        </p>
      )}
      {c === "refused" && (
        <p class="notice error">
          <strong>This page belongs to a session that has ended.</strong> <code>hone open</code> opens the page of the one that runs now.
        </p>
      )}
      {session.value?.past && (
        <p class="notice">
          <strong>A snapshot:</strong> the session as it was on {new Date(session.value.past.at).toLocaleString("sv")}, run by hone v{session.value.past.by}. Nothing can be changed here.
        </p>
      )}
      {session.value?.ended && !session.value.past && c === "open" && (
        <p class="notice error">
          <strong>The session is ending.</strong>
        </p>
      )}
    </div>
  );
}

function Notices() {
  return (
    <div role="status">
      {(session.value?.notices ?? []).map((n, i) => (
        <p key={i} class={`notice ${n.severity}`}>
          <strong>{n.summary}</strong> {n.cause} {n.mend && <span class="mend">{n.mend}</span>}
          {live.value && n.act === "resume" && (
            <button class="chip" onClick={pause}>
              resume
            </button>
          )}
          {live.value && n.act === "prune" && (
            <button class="chip" onClick={prune}>
              delete them
            </button>
          )}
          {live.value && n.act === "confirm" && place.value.view !== "plan" && (
            <a class="chip" href="#/plan">
              look at the changes
            </a>
          )}
        </p>
      ))}
    </div>
  );
}

function AllLogs(p: { group: string | undefined; line: number | undefined }) {
  const back = () => go({ view: "overview" });
  keys("log", [{ keys: "Escape q a", does: "back to all resources", run: back, moves: true }]);
  const names = p.group === undefined ? [] : members(p.group);
  const title = p.group === undefined ? "log of all" : `log of ${p.group || "what has no label"}`;
  return (
    <main class="all-logs">
      <h1 class="hidden">{title}</h1>
      {p.group !== undefined && names.length === 0 ? <p class="empty">No resource has this label.</p> : <LogView resources={names} here={{ view: "log", ...(p.group === undefined ? {} : { group: p.group }) }} title={title} line={p.line} />}
    </main>
  );
}

function Message() {
  const m = message.value;
  useEffect(() => {
    if (!m || m.failed) return;
    const timer = setTimeout(() => (message.value = undefined), 4000);
    return () => clearTimeout(timer);
  }, [m]);
  return (
    <div class="message" role="status">
      {m && (
        <p class={m.failed ? "bad" : ""}>
          {m.text}
          <button class="chip" onClick={() => (message.value = undefined)} aria-label="close the message">
            ✕
          </button>
        </p>
      )}
    </div>
  );
}

/** Lists what keys do now, from the views that are on the page. */
function openHelp() {
  const places = taken();
  openDialog({
    title: "Keys",
    kind: "help",
    content: (close) => (
      <>
        {places.map((p) => (
          <section key={p.place}>
            <h3>{p.place}</h3>
            <dl>
              {p.acts
                .filter((a) => a.keys)
                .map((a) => (
                  <div key={a.does}>
                    <dt>
                      {keyNames(a).map((k) => (
                        <kbd key={k}>{k}</kbd>
                      ))}
                    </dt>
                    <dd>{a.does}</dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
        <p class="note">hone {session.value?.version}. The letters are those of hone’s screen.</p>
        <button class="button main" autofocus onClick={close}>
          close
        </button>
      </>
    ),
  });
}

renew();
void stream.run();
const root = document.getElementById("page");
if (root) render(<App />, root);
