// The revisions of the project in the cluster: who applied what and when, and how each differs from the one before.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import type { Failure, Plan as PlanDoc, Revision } from "./api";
import { readBody } from "./foreign";
import { keys } from "./keys";
import { Step } from "./parts";
import { go, hashOf } from "./place";
import { live, now, session } from "./state";
import { age } from "./words";

/** The comparison of a revision with the one before, or why there is none. */
const compared = signal<{ number: number; plan?: PlanDoc; failure?: Failure } | undefined>(undefined);

let asked = 0;

/** Has the session compare a revision. Only the newest question is answered. */
async function compare(number: number) {
  const question = ++asked;
  let answer: typeof compared.value;
  try {
    const resp = await fetch(`/api/revision?number=${number}`);
    const doc = await readBody<PlanDoc | Failure>(resp);
    answer = resp.ok ? { number, plan: doc as PlanDoc } : { number, failure: doc as Failure };
  } catch {
    answer = { number, failure: { error: "the session does not answer" } };
  }
  if (question === asked) compared.value = answer;
}

const tones: Record<string, string> = { succeeded: "good", failed: "bad", applying: "accent", cancelled: "warn" };

export function Revisions(p: { number: number | undefined }) {
  const all = session.value?.revisions ?? [];
  const at = all.findIndex((r) => r.number === p.number);
  const chosen = all[at];
  useEffect(() => {
    if (chosen && live.value) void compare(chosen.number);
  }, [JSON.stringify(chosen)]);
  const move = (by: number) => {
    const next = all[at < 0 ? 0 : Math.min(Math.max(at + by, 0), all.length - 1)];
    if (next) go({ view: "revisions", number: next.number });
  };
  keys("revisions", [
    { keys: "j ArrowDown", does: "the revision before", run: () => move(1), moves: true },
    { keys: "k ArrowUp", does: "the next revision", run: () => move(-1), moves: true },
    { keys: "Escape q", does: "back to all resources", run: () => go({ view: "overview" }), moves: true },
  ]);
  return (
    <main class="plan-page">
      <div class="bar">
        <h1>Revisions</h1>
        <span class="note">what was applied to the cluster, by this session and by others</span>
      </div>
      {all.length === 0 ? <p class="empty">No revision of this project is known: the first objects that are applied make one.</p> : <List all={all} chosen={chosen} />}
      {chosen && live.value && <Comparison r={chosen} newest={at === 0} />}
    </main>
  );
}

/** Says from which files a revision comes. */
function origin(r: Revision): string {
  return [r.tiltfile, r.digest && `digest ${r.digest}`, r.commit && `commit ${r.commit}`, r.uncommitted && "with uncommitted changes"].filter(Boolean).join(", ");
}

function List(p: { all: Revision[]; chosen: Revision | undefined }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="table of the revisions">
      <table class="parts">
        <thead>
          <tr>
            {["revision", "age", "command", "by", "commit", "objects", "changes", "result"].map((h) => (
              <th key={h} scope="col">
                {h}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {p.all.map((r) => (
            <tr key={r.number} class={r === p.chosen ? "current" : ""} aria-current={r === p.chosen ? "true" : undefined}>
              <th scope="row">
                <a href={hashOf({ view: "revisions", number: r.number })}>{r.number}</a>
              </th>
              <td title={r.began && new Date(r.began).toLocaleString("sv")}>{r.began ? age(r.began, now.value) : "–"}</td>
              <td>{r.command ?? "–"}</td>
              <td>{r.by ?? "–"}</td>
              <td class="code" title={origin(r)}>
                {r.commit?.slice(0, 10) ?? "–"}
                {r.uncommitted && "-dirty"}
              </td>
              <td>{r.objects}</td>
              <td>
                +{r.created ?? 0} ~{r.changed ?? 0} −{r.deleted ?? 0}
                {r.forgotten ? ` (${r.forgotten} forgotten)` : ""}
              </td>
              <td class={tones[r.phase]}>
                {r.phase}
                {r.failures && `: ${r.failures}`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Comparison(p: { r: Revision; newest: boolean }) {
  const answer = compared.value?.number === p.r.number ? compared.value : undefined;
  const steps = answer?.plan?.steps ?? [];
  return (
    <section aria-label="comparison">
      <div class="bar">
        <h2>Revision {p.r.number}, compared with the one before</h2>
        <span class="note" role="status">
          {!answer ? "the ledger is read…" : answer.plan && steps.length === 0 ? "no declared object differs" : ""}
        </span>
      </div>
      {answer?.failure && (
        <div class="card">
          <pre>{answer.failure.error}</pre>
          {answer.failure.mend && <p>{answer.failure.mend}</p>}
        </div>
      )}
      {origin(p.r) && <p class="note">It comes from {origin(p.r)}.</p>}
      <ul class="steps">
        {steps.map((s) => (
          <Step key={`${s.action} ${s.object.kind} ${s.object.namespace} ${s.object.name}`} s={s} from="before" to="after" />
        ))}
      </ul>
      {!p.newest && (
        <p class="note">
          <code>hone rollback {p.r.number}</code> restores it: it shows what would change, and asks first.
        </p>
      )}
    </section>
  );
}
