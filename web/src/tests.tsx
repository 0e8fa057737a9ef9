// The tests of the Tiltfile: their newest verdicts, and the single tests that their commands have described.
import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { events, follow } from "./events";
import { readBody } from "./foreign";
import { keys } from "./keys";
import { go, resourceHash } from "./place";
import { now } from "./state";
import { age, count, duration, glyphs } from "./words";

/** The status of an object of the kind Test: see hone explain tests. */
interface Test {
  resource: string;
  suite?: string;
  case?: string;
  result: "passed" | "failed" | "skipped" | "waiting";
  cached?: boolean;
  at?: string;
  tookMs?: number;
  text?: string;
  file?: string;
  line?: number;
  cases?: number;
  failed?: number;
  left?: number;
}

const tests = signal<Test[] | undefined>(undefined);

async function load() {
  try {
    const resp = await fetch("/apis/hone.dev/v1alpha1/tests");
    if (resp.ok) tests.value = (await readBody<{ items: { status: Test }[] }>(resp)).items.map((i) => i.status);
  } catch {
    // The session is away: what is known stays.
  }
}

const news = computed(() => events.value[events.value.length - 1]?.seq ?? 0);
const urgency = ["failed", "waiting", "passed", "skipped"];
const marks = { failed: "failed", waiting: "waiting", passed: "ok", skipped: "idle" } as const;
const urgent = (a: Test, b: Test) => urgency.indexOf(a.result) - urgency.indexOf(b.result);

/** How the tests are, all together: "14 ok, 11 of them cached, 1 failed". */
function summary(all: Test[]): string {
  const n = (result: string) => all.filter((t) => t.result === result).length;
  const cached = all.filter((t) => t.result === "passed" && t.cached).length;
  const said = [n("passed") > 0 && `${n("passed")} ok`, cached > 0 && `${cached} of them cached`, n("failed") > 0 && `${n("failed")} failed`, n("waiting") > 0 && `${n("waiting")} waiting`];
  return said.filter(Boolean).join(", ");
}

export function Tests() {
  useEffect(() => follow(), []);
  useEffect(() => {
    const soon = setTimeout(() => void load(), 200);
    return () => clearTimeout(soon);
  }, [news.value]);
  keys("the tests", [{ keys: "Escape q", does: "back to all resources", run: () => go({ view: "overview" }), moves: true }]);
  const all = tests.value ?? [];
  const whole = all.filter((t) => !t.case).sort(urgent); // the sort is stable
  return (
    <main class="plan-page">
      <div class="bar">
        <h1>Tests</h1>
        <span class="note" role="status">
          {summary(whole)}
        </span>
      </div>
      {tests.value && whole.length === 0 && (
        <p class="empty">
          The Tiltfile declares no test: <code>test('unit', 'go test ./...', deps=['.'])</code>
        </p>
      )}
      <ol class="tests" aria-label="tests">
        {whole.map((t) => (
          <Verdict key={t.resource} t={t} cases={all.filter((c) => c.case && c.resource === t.resource).sort(urgent)} />
        ))}
      </ol>
    </main>
  );
}

/** A test with its single tests. Those of a failed one are shown at once. */
function Verdict(p: { t: Test; cases: Test[] }) {
  const { t, cases } = p;
  return (
    <li>
      <p class="test">
        <Mark result={t.result} /> <a href={resourceHash(t.resource)}>{t.resource}</a>{" "}
        <span class="note">
          {t.result === "passed" && t.cached ? "cached" : ""} {t.tookMs ? duration(t.tookMs) : ""} {t.at ? `${age(t.at, now.value)} ago` : ""}
        </span>
      </p>
      {t.text && cases.length === 0 && <pre class="case-text">{t.text}</pre>}
      {cases.length > 0 && (
        <details open={t.result === "failed"}>
          <summary>
            {count(t.cases ?? cases.length, "single test")}
            {t.failed ? `, ${t.failed} failed` : ""}
          </summary>
          <ol class="cases">
            {cases.map((c, i) => (
              <li key={i}>
                <Mark result={c.result} /> <span class="note">{c.suite}</span> {c.case}{" "}
                <span class="note">
                  {c.file ? `${c.file}:${c.line}` : ""} {c.tookMs ? duration(c.tookMs) : ""}
                </span>
                {c.text && <pre class="case-text">{c.text}</pre>}
              </li>
            ))}
          </ol>
          {t.left ? <p class="note">and {count(t.left, "other")}</p> : null}
        </details>
      )}
    </li>
  );
}

function Mark(p: { result: Test["result"] }) {
  const status = marks[p.result];
  return (
    <span class={`glyph ${status}`} role="img" aria-label={p.result}>
      {glyphs[status]}
    </span>
  );
}
