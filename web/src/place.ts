// The address of what is shown: the part after # names the view and what of it.
import { signal } from "@preact/signals";

/** What the page shows. */
export type Place =
  | { view: "overview" }
  | { view: "log"; group?: string; line?: number }
  | { view: "resource"; name: string; tab?: string; line?: number; update?: number }
  | { view: "graph" }
  | { view: "time" }
  | { view: "start" }
  | { view: "tests" }
  | { view: "plan" }
  | { view: "revisions"; number?: number; cluster?: string }
  | { view: "hone" };

const plain = ["graph", "time", "start", "tests", "plan", "hone"] as const;

/** The place that an address names; the overview for anything else. */
export function placeOf(hash: string): Place {
  const [path = "", query = ""] = hash.replace(/^#\//, "").split("?", 2);
  const q = new URLSearchParams(query);
  const number = (name: string) => {
    const n = Number(q.get(name));
    return Number.isSafeInteger(n) && n > 0 ? { [name]: n } : {};
  };
  const text = (name: string) => (q.get(name) ? { [name]: q.get(name) ?? "" } : {});
  if (path.startsWith("r/")) {
    try {
      return { view: "resource", name: decodeURIComponent(path.slice(2)), ...text("tab"), ...number("line"), ...number("update") };
    } catch {
      return { view: "overview" };
    }
  }
  if (path === "log") return { view: "log", ...(q.has("group") ? { group: q.get("group") ?? "" } : {}), ...number("line") };
  if (path === "revisions") return { view: "revisions", ...number("number"), ...text("cluster") };
  for (const view of plain) if (path === view) return { view };
  return { view: "overview" };
}

/** The address of a place. */
export function hashOf(p: Place): string {
  if (p.view === "overview") return "#/";
  const q = new URLSearchParams();
  if (p.view === "resource") {
    if (p.tab) q.set("tab", p.tab);
    if (p.update) q.set("update", String(p.update));
  }
  if (p.view === "log" && p.group !== undefined) q.set("group", p.group);
  if ((p.view === "log" || p.view === "resource") && p.line) q.set("line", String(p.line));
  if (p.view === "revisions") {
    if (p.number) q.set("number", String(p.number));
    if (p.cluster) q.set("cluster", p.cluster);
  }
  const path = p.view === "resource" ? `r/${encodeURIComponent(p.name)}` : p.view;
  return `#/${path}${q.size > 0 ? `?${q}` : ""}`;
}

export const resourceHash = (name: string) => hashOf({ view: "resource", name });

export const place = signal<Place>(placeOf(location.hash));
window.addEventListener("hashchange", () => (place.value = placeOf(location.hash)));

export function go(p: Place) {
  location.hash = hashOf(p);
}
