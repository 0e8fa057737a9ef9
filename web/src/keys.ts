// The keys. Views say what they take, and the newest view that takes a key gets it. The letters are those of hone's screen. Help and
// palette list what the views on the page take, so that neither can be out of date.
import { useLayoutEffect, useRef } from "preact/hooks";

import { live } from "./state";

/** Something that a key does. */
export interface Act {
  /** The keys, separated by blanks, as KeyboardEvent.key names them; "Space" is the space bar. Empty for an act of the palette alone. */
  keys: string;
  does: string;
  run: () => void;
  /** Set for what asks something of the session: a snapshot has none of these. */
  changes?: boolean;
  /** Set for what only moves: the palette leaves it out. */
  moves?: boolean;
}

interface Layer {
  place: string;
  acts: Act[];
}

const layers: { current: Layer }[] = [];

/** Takes keys while the component that calls this is shown. Help lists them under the name of the place. */
export function keys(place: string, acts: Act[]) {
  const ref = useRef<Layer>({ place, acts });
  ref.current = { place, acts };
  // A layout effect: an effect would take the keys only after the next frame, and one that is pressed before is lost.
  useLayoutEffect(() => {
    layers.push(ref);
    return () => void layers.splice(layers.indexOf(ref), 1);
  }, []);
}

/** All that can be done now, by place, the newest first. */
export function taken(): Layer[] {
  return layers
    .map((l) => ({ place: l.current.place, acts: l.current.acts.filter(allowed) }))
    .reverse()
    .filter((l) => l.acts.length > 0);
}

const allowed = (a: Act) => live.peek() || !a.changes;

/** What opens from anywhere, even from an input. Set by the palette. */
export const everywhere: { palette?: () => void } = {};

document.addEventListener("keydown", (e) => {
  const dialog = document.querySelector("dialog[open]");
  if ((e.ctrlKey || e.metaKey) && e.key === "k" && !e.altKey && !e.shiftKey && !dialog) {
    e.preventDefault();
    everywhere.palette?.();
    return;
  }
  const at = e.target as HTMLElement;
  if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented || at.matches("input:not([type=checkbox]), select, textarea")) return;
  if (dialog) return; // it has its own keys
  const key = e.key === " " ? "Space" : e.key;
  // Enter and the space bar belong to a button that has the focus.
  if ((key === "Space" || key === "Enter") && at.matches("button, summary, input")) return;
  for (let i = layers.length - 1; i >= 0; i--) {
    const act = layers[i]?.current.acts.find((a) => a.keys.split(" ").includes(key) && allowed(a));
    if (act) {
      e.preventDefault();
      act.run();
      return;
    }
  }
});

const names: Record<string, string> = { ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc" };

/** Keys as people read them. */
export function keyNames(a: Act): string[] {
  return a.keys.split(" ").filter(Boolean).map((k) => names[k] ?? k);
}
