// Which resources the user has marked, for actions on several, and which are starred.
import { computed, signal } from "@preact/signals";

import type { PageResource } from "./api";
import { remembered } from "./remembered";
import { resources, session } from "./state";

export const marked = signal<ReadonlySet<string>>(new Set());

/** Marks a resource, or takes the mark away. */
export function mark(name: string) {
  const next = new Set(marked.value);
  if (!next.delete(name)) next.add(name);
  marked.value = next;
}

/** Marks resources; if all of them are marked, takes their marks away. */
export function markAll(names: string[]) {
  const next = new Set(marked.value);
  const all = names.every((n) => next.has(n));
  for (const n of names) {
    if (all) next.delete(n);
    else next.add(n);
  }
  marked.value = next;
}

export function unmark() {
  if (marked.value.size > 0) marked.value = new Set();
}

/** The marked resources that still exist. */
export const markedResources = computed<PageResource[]>(() => (marked.value.size === 0 ? [] : resources.value.filter((r) => marked.value.has(r.name))));

const stars = remembered<Record<string, string[]>>("stars", {});
const project = computed(() => session.value?.tiltfile ?? "");

/** The starred resources of this project. */
export const starred = computed<ReadonlySet<string>>(() => new Set(stars.value[project.value] ?? []));

export function star(name: string) {
  const next = new Set(starred.value);
  if (!next.delete(name)) next.add(name);
  stars.value = { ...stars.value, [project.value]: [...next] };
}
