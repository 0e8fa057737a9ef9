// What the updates that wait would do to the cluster, and the confirmation of it.
import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { confirm } from "./actions";
import type { Failure, Plan as PlanDoc, PlanImage, PlanStep } from "./api";
import { readBody } from "./foreign";
import { keys } from "./keys";
import { Step } from "./parts";
import { go } from "./place";
import { live, resources, session } from "./state";

const plan = signal<PlanDoc | undefined>(undefined);
const failure = signal<Failure | undefined>(undefined);
const loading = signal(false);

/** When the last update ended that may have changed what a plan says; one in place does not. */
const deployed = computed(() => Math.max(0, ...resources.value.map((r) => (r.last?.finishedAt && r.last.mode !== "in place" ? Date.parse(r.last.finishedAt) : 0))));

let asked = 0;

/** Asks the cluster. Only the newest question is answered: an earlier one may take longer. */
async function load() {
  const question = ++asked;
  const answer = (then: () => void) => {
    if (question !== asked) return;
    then();
    loading.value = false;
  };
  loading.value = true;
  try {
    const resp = await fetch("/api/plan");
    const doc = await readBody<PlanDoc | Failure>(resp);
    answer(() => {
      if (resp.ok) plan.value = doc as PlanDoc;
      failure.value = resp.ok ? undefined : (doc as Failure);
    });
  } catch {
    answer(() => (failure.value = { error: "the session does not answer" }));
  }
}

/** Says where an image of a plan comes from, and why. */
function imageText(im: PlanImage): string {
  if (im.source === "registry") return `image ${im.image}: is in ${im.registry} already, ${im.digest}`;
  if (!im.reason || im.reason.startsWith("never ")) return `image ${im.image}: ${im.reason || "unchanged"}`;
  return `image ${im.image}: built, because ${im.reason}`;
}

export function Plan() {
  const waits = (session.value?.notices ?? []).find((n) => n.act === "confirm");
  // What was confirmed is no longer pending once it has been deployed, which is after it stops waiting.
  useEffect(() => void load(), [session.value?.evaluation, session.value?.paused, waits?.summary, deployed.value]);
  const agree = () => {
    if (plan.value?.evaluation !== undefined && waits) confirm(plan.value.evaluation);
  };
  keys("pending changes", [
    { keys: "y", does: "confirm what waits: the plan is carried out", run: agree, changes: true },
    { keys: "P", does: "ask the cluster once more", run: () => void load() },
    { keys: "Escape q", does: "back to all resources", run: () => go({ view: "overview" }), moves: true },
  ]);
  const steps = plan.value?.steps ?? [];
  const changing = steps.filter((s) => s.action !== "unchanged");
  return (
    <main class="plan-page">
      <div class="bar">
        <h1>Pending changes</h1>
        <span class="note" role="status">
          {loading.value ? "the cluster is asked…" : plan.value ? summary(plan.value) : ""}
        </span>
        <span class="spring" />
        {live.value && (
          <button class="chip" onClick={() => void load()} disabled={loading.value}>
            ask again
          </button>
        )}
        {waits && live.value && (
          <button class="button main" onClick={agree} title="y" disabled={!plan.value}>
            confirm
          </button>
        )}
      </div>
      {waits && <p class="notice warning">{waits.summary}</p>}
      {failure.value && (
        <section class="card" aria-label="error">
          <pre>{failure.value.error}</pre>
          {failure.value.mend && <p>{failure.value.mend}</p>}
        </section>
      )}
      {!failure.value && plan.value && changing.length === 0 && <p class="empty">Nothing waits: no update would change anything now.</p>}
      {!failure.value &&
        (plan.value?.images ?? []).map((im) => (
          <p class="note" key={im.image}>
            {imageText(im)}
          </p>
        ))}
      {!failure.value &&
        byCluster(changing).map(([cluster, steps]) => (
          <section key={cluster} aria-label={cluster === undefined ? undefined : `cluster ${cluster}`}>
            {cluster !== undefined && <h2 class="section">cluster {cluster}</h2>}
            <ul class="steps">
              {steps.map((s) => (
                <Step key={`${s.action} ${s.object.kind} ${s.object.namespace} ${s.object.name} ${s.resource}`} s={s} from="now" to="then" />
              ))}
            </ul>
          </section>
        ))}
    </main>
  );
}

/** Groups steps by cluster, the session's own first. In a session on one cluster there is one group, without a name. */
function byCluster(steps: PlanStep[]): [string | undefined, PlanStep[]][] {
  if (!steps.some((s) => s.cluster)) return [[undefined, steps]];
  const own = plan.value?.context ?? "";
  const groups = new Map<string, PlanStep[]>();
  for (const s of [...steps].sort((a, b) => Number(!!a.cluster) - Number(!!b.cluster))) {
    const name = s.cluster ?? own;
    const list = groups.get(name);
    if (list) list.push(s);
    else groups.set(name, [s]);
  }
  return [...groups];
}

function summary(p: PlanDoc): string {
  return Object.entries(p.summary)
    .filter(([, n]) => n > 0)
    .map(([action, n]) => `${n.toLocaleString("en")} ${action}`)
    .join(", ");
}
