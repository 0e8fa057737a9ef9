// Parts that several views show: the stages of an update, a step of a plan, a field that changes.
import type { FieldChange, PlanStep } from "./api";
import { resourceHash } from "./place";
import { now } from "./state";
import { age, count, duration } from "./words";

/** The stages of an update, one below the other, each where it began and as wide as the time that it took. */
export function Waterfall(p: { stages: { name: string; ms: number }[] }) {
  const stages = p.stages.filter((s) => s.ms >= 0.05);
  const total = stages.reduce((sum, s) => sum + s.ms, 0);
  if (total === 0) return null;
  let began = 0;
  return (
    <ol class="waterfall" aria-label="stages">
      {stages.map((s, i) => {
        const left = (began / total) * 100;
        began += s.ms;
        return (
          <li key={i}>
            <span class="stage-name">{s.name}</span>
            <span class="stage-lane">
              <span class={`stage stage${i % 6}`} style={{ marginLeft: `${left}%`, width: `${(s.ms / total) * 100}%` }} />
            </span>
            <span class="stage-time">{duration(s.ms)}</span>
          </li>
        );
      })}
    </ol>
  );
}

/** A field that changes, with two of its values, each under a name. */
export function Change(p: { f: FieldChange; before: [name: string, value: unknown]; after: [name: string, value: unknown]; tag?: string }) {
  const { f } = p;
  const text = (v: unknown) => (v === undefined || v === null ? "(not there)" : typeof v === "string" ? v || '""' : JSON.stringify(v));
  return (
    <div class="change">
      <span class="code">{f.path}</span> {p.tag && <span class={f.class === "drift" || f.class === "conflict" ? "warn" : "note"}>{p.tag}</span>} {f.manager && <span class="note">{f.manager}</span>}{" "}
      {f.at && <span class="note">{age(f.at, now.value)} ago</span>}
      {f.masked ? (
        <p class="note">The values of a Secret are not shown.</p>
      ) : (
        <dl>
          <dt>{p.before[0]}</dt>
          <dd class="gone">
            <pre>{text(p.before[1])}</pre>
          </dd>
          <dt>{p.after[0]}</dt>
          <dd class="new">
            <pre>{text(p.after[1])}</pre>
          </dd>
        </dl>
      )}
    </div>
  );
}

const signs: Record<string, string> = { create: "+", update: "~", replace: "±", adopt: "⇤", "hand over": "⇄", delete: "−", keep: "·", orphan: "·", run: "▸", blocked: "✖", unchanged: "=" };

/** A step of a plan, with its fields: their values under two names. */
export function Step(p: { s: PlanStep; from: string; to: string }) {
  const { s } = p;
  const fields = s.fields ?? [];
  return (
    <li class={`step ${s.action.replace(" ", "-")}`}>
      <div class="head">
        <span class="sign" aria-hidden="true">
          {signs[s.action] ?? "·"}
        </span>
        <strong>{s.action}</strong>
        <span>
          <span class="note">{s.object.kind}</span> {s.object.name} {s.object.namespace && <span class="note">in {s.object.namespace}</span>}
        </span>
        <span class="spring" />
        {s.resource && <a href={resourceHash(s.resource)}>{s.resource}</a>}
      </div>
      {s.reason && <p class="note">{s.reason}</p>}
      {fields.length > 0 && (
        <details open={fields.length <= 6}>
          <summary>{count(fields.length, "field")}</summary>
          {fields.map((f) => (
            <Change key={f.path} f={f} tag={f.class} before={[p.from, f.from]} after={[p.to, f.afterBuild || f.afterApply ? "known after the build" : f.to]} />
          ))}
        </details>
      )}
    </li>
  );
}
