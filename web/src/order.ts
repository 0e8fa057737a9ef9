// Which rows are shown, and in which order: the same as on hone's screen.
import type { PageResource } from "./api";
import { changed } from "./words";

export const orders = ["by group", "alerts first", "by name", "by last change"] as const;
export type Order = (typeof orders)[number];

export const tiltfileName = "(Tiltfile)";

const urgency = ["failed", "unknown", "waiting", "updating", "warning", "ok", "idle"];
const collator = new Intl.Collator("en", { numeric: true });

const label = (r: PageResource) => r.labels?.[0] ?? "";

/** The group of a row: its label, in a session on several clusters after its cluster. */
export const group = (r: PageResource) => [r.cluster, label(r)].filter(Boolean).join(" · ");

/** Compares rows by their groups: by cluster, then by label, those without one last. */
function byGroup(a: PageResource, b: PageResource): number {
  const compare = (x: string, y: string) => Number(x === "") - Number(y === "") || collator.compare(x, y);
  return compare(a.cluster ?? "", b.cluster ?? "") || compare(label(a), label(b));
}

/** Arranges rows. Starred ones come first in each order except that of alerts. */
export function arrange(rows: PageResource[], order: Order, starred: ReadonlySet<string> = new Set()): PageResource[] {
  const first = (r: PageResource) => (r.name === tiltfileName ? 0 : starred.has(r.name) ? 1 : 2);
  const compare: Record<Order, (a: PageResource, b: PageResource) => number> = {
    "by group": (a, b) => first(a) - first(b) || byGroup(a, b),
    "alerts first": (a, b) => alert(a) - alert(b),
    "by name": (a, b) => first(a) - first(b) || collator.compare(a.name, b.name),
    "by last change": (a, b) => Number(starred.has(b.name)) - Number(starred.has(a.name)) || changed(b) - changed(a),
  };
  return [...rows].sort(compare[order]); // the sort is stable
}

/** The place of a row where alerts come first. */
function alert(r: PageResource): number {
  return r.error ? 0 : urgency.indexOf(r.status);
}

/** The test of a filter: letters in order, !letters, label:x, cluster:x, is:status, is:starred. */
export function matches(filter: string, starred: ReadonlySet<string> = new Set()): (r: PageResource) => boolean {
  const terms = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return (r) =>
    terms.every((term) => {
      const not = term.startsWith("!");
      const t = not ? term.slice(1) : term;
      return test(r, t, starred) !== not || t === "";
    });
}

function test(r: PageResource, term: string, starred: ReadonlySet<string>): boolean {
  const labelled = /^label:(.*)$/.exec(term);
  if (labelled) return (r.labels ?? []).some((l) => l.toLowerCase().includes(labelled[1] ?? ""));
  const cluster = /^cluster:(.*)$/.exec(term);
  if (cluster) return !!r.cluster?.toLowerCase().includes(cluster[1] ?? "");
  const is = /^is:(.*)$/.exec(term);
  if (is) {
    const status = is[1] === "failing" ? "failed" : is[1];
    return r.status === status || (status === "failed" && !!r.error) || (status === "disabled" && !!r.disabled) || (status === "starred" && starred.has(r.name)) || (status === "manual" && !!r.triggerMode?.startsWith("manual")) || (status === "drifted" && !!r.drift) || (status === "ok" && r.status === "warning");
  }
  let at = 0;
  for (const c of r.name.toLowerCase()) if (c === term[at]) at++;
  return at >= term.length;
}
