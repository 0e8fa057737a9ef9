// The revisions of the project in its clusters: who applied what and when, and how each differs from the one before.
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
const compared = signal<{ of: string; plan?: PlanDoc; failure?: Failure } | undefined>(undefined);

/** Identifies a revision: those of each cluster have numbers of their own. */
const idOf = (r: Revision) => `${r.number} ${r.cluster ?? ""}`;

/** The name of the cluster of a revision; undefined if the session works on one only. */
function clusterOf(r: Revision): string | undefined {
  const all = session.value?.clusters;
  if (!r.cluster) return all?.[0]?.name;
  return all?.find((c) => c.context === r.cluster)?.name ?? r.cluster;
}

/** The address of a revision. */
const placeOf = (r: Revision) => ({ view: "revisions" as const, number: r.number, ...(r.cluster ? { cluster: r.cluster } : {}) });

let asked = 0;

/** Has the session compare a revision. Only the newest question is answered. */
async function compare(r: Revision) {
  const question = ++asked;
  const of = idOf(r);
  let answer: typeof compared.value;
  try {
    const resp = await fetch(`/api/revision?number=${r.number}${r.cluster ? `&cluster=${encodeURIComponent(r.cluster)}` : ""}`);
    const doc = await readBody<PlanDoc | Failure>(resp);
    answer = resp.ok ? { of, plan: doc as PlanDoc } : { of, failure: doc as Failure };
  } catch {
    answer = { of, failure: { error: "the session does not answer" } };
  }
  if (question === asked) compared.value = answer;
}

const tones: Record<string, string> = { succeeded: "good", failed: "bad", applying: "accent", cancelled: "warn" };

export function Revisions(p: { number: number | undefined; cluster: string | undefined }) {
  const all = session.value?.revisions ?? [];
  const at = all.findIndex((r) => r.number === p.number && (r.cluster ?? "") === (p.cluster ?? ""));
  const chosen = all[at];
  useEffect(() => {
    if (chosen && live.value) void compare(chosen);
  }, [JSON.stringify(chosen)]);
  const move = (by: number) => {
    const next = all[at < 0 ? 0 : Math.min(Math.max(at + by, 0), all.length - 1)];
    if (next) go(placeOf(next));
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
        <span class="note">what was applied to the cluster{session.value?.clusters ? "s" : ""}, by this session and by others</span>
      </div>
      {all.length === 0 ? <p class="empty">No revision of this project is known: the first objects that are applied make one.</p> : <List all={all} chosen={chosen} />}
      {chosen && live.value && <Comparison r={chosen} newest={at === all.findIndex((r) => r.cluster === chosen.cluster)} />}
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
          {p.all.map((r, i) => [
            clusterOf(r) !== undefined && (i === 0 || p.all[i - 1]?.cluster !== r.cluster) && (
              <tr key={`cluster ${r.cluster}`}>
                <th scope="rowgroup" colSpan={8}>
                  cluster {clusterOf(r)}
                </th>
              </tr>
            ),
            <tr key={idOf(r)} class={r === p.chosen ? "current" : ""} aria-current={r === p.chosen ? "true" : undefined}>
              <th scope="row">
                <a href={hashOf(placeOf(r))}>{r.number}</a>
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
            </tr>,
          ])}
        </tbody>
      </table>
    </div>
  );
}

function Comparison(p: { r: Revision; newest: boolean }) {
  const answer = compared.value?.of === idOf(p.r) ? compared.value : undefined;
  const steps = answer?.plan?.steps ?? [];
  const where = clusterOf(p.r);
  return (
    <section aria-label="comparison">
      <div class="bar">
        <h2>
          Revision {p.r.number}
          {p.r.cluster && ` in ${clusterOf(p.r)}`}, compared with the one before
        </h2>
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
          <code>
            hone rollback {p.r.number}
            {where !== undefined && ` --cluster ${where}`}
          </code> restores it: it shows what would change, and asks first.
        </p>
      )}
    </section>
  );
}
