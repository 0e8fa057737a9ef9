// The keys. Views say what they take, and the newest view that takes a key gets it. The letters are those of hone's screen.
import { useLayoutEffect, useRef } from "preact/hooks";

type Keys = Record<string, () => void>;

const layers: { current: Keys }[] = [];

/** Takes keys while the component that calls this is shown. The first parameter only names the place. */
export function keys(_place: string, map: Keys) {
  const ref = useRef(map);
  ref.current = map;
  // A layout effect: an effect would take the keys only after the next frame, and one that is pressed before is lost.
  useLayoutEffect(() => {
    layers.push(ref);
    return () => void layers.splice(layers.indexOf(ref), 1);
  }, []);
}

document.addEventListener("keydown", (e) => {
  const at = e.target as HTMLElement;
  if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented || at.matches("input, select, textarea")) return;
  if (document.querySelector("dialog[open]")) return; // it has its own keys
  for (let i = layers.length - 1; i >= 0; i--) {
    const act = layers[i]?.current[e.key];
    if (act) {
      e.preventDefault();
      act();
      return;
    }
  }
});

/** What help lists. */
export const help: [string, string][] = [
  ["j k", "next and previous resource"],
  ["Enter", "open the resource"],
  ["Esc", "back"],
  ["/", "filter resources: letters, !letters, label:x, is:failed"],
  [">", "next order: by group, alerts first, by name, by last change"],
  ["e E", "next and previous error"],
  ["t", "trigger an update of the resource"],
  ["r", "restart its process"],
  ["d", "enable it, or disable it"],
  ["Z", "pause all updates, or resume them"],
  ["a", "log of all resources"],
  ["b", "open its endpoint"],
  ["f n N", "find in the log, next and previous match"],
  ["L", "level of the log: all, warnings, errors"],
  ["1 2 3", "log: all, build, runtime"],
  ["l G", "follow the newest line"],
  ["W i", "wrap lines; show times"],
  ["?", "this help"],
];
