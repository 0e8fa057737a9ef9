import "./style.css";

import { computed, effect, signal } from "@preact/signals";
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { pause } from "./actions";
import { help, keys } from "./keys";
import { LogView } from "./logview";
import { filter, Overview } from "./overview";
import { Resource } from "./resource";
import { message, resources, session, stream } from "./state";
import { connection } from "./stream";
import { glyphs } from "./words";

/** What the address shows: the overview, the log of all, or a resource. */
type Place = { view: "overview" } | { view: "log" } | { view: "resource"; name: string };

function placeOf(hash: string): Place {
  const m = /^#\/r\/(.+)$/.exec(hash);
  if (m?.[1]) {
    try {
      return { view: "resource", name: decodeURIComponent(m[1]) };
    } catch {
      return { view: "overview" };
    }
  }
  return hash === "#/log" ? { view: "log" } : { view: "overview" };
}

const place = signal<Place>(placeOf(location.hash));
const helping = signal(false);
window.addEventListener("hashchange", () => (place.value = placeOf(location.hash)));

effect(() => {
  const at = place.value;
  if (at.view === "resource") stream.want({ detail: at.name, log: [at.name] });
  else stream.want(at.view === "log" ? { log: ["*"] } : {});
});

const counts = computed(() => {
  const n = { ok: 0, updating: 0, waiting: 0, failed: 0, unknown: 0, idle: 0 };
  for (const r of resources.value) n[(r.status === "warning" ? "ok" : r.status) as keyof typeof n]++;
  return n;
});

effect(() => {
  const failing = resources.value.filter((r) => r.error).length;
  const at = place.value;
  const subject = at.view === "resource" ? `${at.name} – ` : "";
  document.title = `${failing > 0 ? `✖ ${failing} ` : ""}${subject}${session.value?.project ?? "hone"}`;
});

function App() {
  keys("page", {
    "?": () => (helping.value = !helping.value),
    Z: pause,
  });
  const at = place.value;
  return (
    <>
      <Top />
      <Connection />
      <Notices />
      {at.view === "resource" ? (
        <Resource key={at.name} name={at.name} />
      ) : at.view === "log" ? (
        <AllLogs />
      ) : session.value ? (
        <Overview />
      ) : (
        <main class="lost" aria-busy="true" />
      )}
      <Message />
      {helping.value && <Help />}
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
          {s.context && (
            <span class="note">
              {" "}
              @ {s.context}
              {s.namespace && `/${s.namespace}`}
            </span>
          )}
        </span>
      )}
      <span class="spring" />
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
      {s && (
        <button class="chip" aria-pressed={!!s.paused} onClick={pause} title="Z">
          {s.paused ? "resume" : "pause"}
        </button>
      )}
      <button class="chip" onClick={() => (helping.value = true)} aria-label="keys" title="?">
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
      {session.value?.ended && c === "open" && (
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
        </p>
      ))}
    </div>
  );
}

function AllLogs() {
  keys("all logs", { Escape: () => (location.hash = "#/"), q: () => (location.hash = "#/"), a: () => (location.hash = "#/") });
  return (
    <main class="all-logs">
      <h1 class="hidden">Log</h1>
      <LogView key="all" resource="" title="log of all" />
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

function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={() => (helping.value = false)}>
      <h2 id="help-title">Keys</h2>
      <dl>
        {help.map(([k, does]) => (
          <div key={k}>
            <dt>
              {k.split(" ").map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <p class="note">hone {session.value?.version}. They are those of hone’s screen.</p>
      <button class="button main" autofocus onClick={() => dialog.current?.close()}>
        close
      </button>
    </dialog>
  );
}

void stream.run();
const root = document.getElementById("page");
if (root) render(<App />, root);
