// The palette: everything that can be done now, by name, and every resource to go to.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { buttonsOf, press } from "./actions";
import { openDialog } from "./dialog";
import { everywhere, keyNames, taken } from "./keys";
import { go } from "./place";
import { live, resources } from "./state";
import { glyphs } from "./words";

interface Entry {
  text: string;
  note: string;
  keys: string[];
  run: () => void;
}

/** Opens the palette. What it lists is that of the view below it. */
export function openPalette(first = "") {
  const acts = taken();
  openDialog({ title: "Go to a resource, or do something", kind: "palette", content: (close) => <Palette acts={acts} first={first} close={close} /> });
}

everywhere.palette = openPalette;

function Palette(p: { acts: ReturnType<typeof taken>; first: string; close: () => void }) {
  const typed = useSignal(p.first);
  const at = useSignal(0);
  const list = useRef<HTMLUListElement>(null);
  const all: Entry[] = [];
  const seen = new Set<string>();
  for (const { acts } of p.acts) {
    for (const a of acts) {
      if (a.moves || seen.has(a.does)) continue;
      seen.add(a.does);
      all.push({ text: a.does, note: "", keys: keyNames(a), run: a.run });
    }
  }
  for (const r of resources.value) all.push({ text: r.name, note: `${glyphs[r.status] ?? ""} ${r.type}`, keys: [], run: () => go({ view: "resource", name: r.name }) });
  if (live.value) {
    for (const b of buttonsOf("")) if (!b.disabled) all.push({ text: b.text, note: "button of the session", keys: [], run: () => press(b) });
    for (const r of resources.value) for (const b of buttonsOf(r.name)) if (!b.disabled) all.push({ text: b.text, note: `button of ${r.name}`, keys: [], run: () => press(b) });
  }
  const shown = ranked(all, typed.value).slice(0, 60);
  useEffect(() => list.current?.children[at.value]?.scrollIntoView({ block: "nearest" }), [at.value]);
  const take = (e: Entry | undefined) => {
    if (!e) return;
    p.close();
    // After the dialog is closed: what is done may open another one.
    setTimeout(e.run);
  };
  return (
    <>
      <input
        class="field"
        type="text"
        autofocus
        spellcheck={false}
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={shown[at.value] ? `palette-${at.value}` : undefined}
        aria-label="resource or command"
        value={typed.value}
        onInput={(e) => {
          typed.value = e.currentTarget.value;
          at.value = 0;
        }}
        onKeyDown={(e) => {
          const by = e.key === "ArrowDown" || (e.ctrlKey && e.key === "n") ? 1 : e.key === "ArrowUp" || (e.ctrlKey && e.key === "p") ? -1 : 0;
          if (by) {
            e.preventDefault();
            at.value = (at.value + by + shown.length) % Math.max(shown.length, 1);
          }
          if (e.key === "Enter") {
            e.preventDefault();
            take(shown[at.value]);
          }
        }}
      />
      <ul id="palette-list" role="listbox" aria-label="resources and commands" ref={list}>
        {shown.map((e, i) => (
          <li key={`${e.note}${e.text}`} id={`palette-${i}`} role="option" aria-selected={i === at.value} onClick={() => take(e)} onMouseMove={() => (at.value = i)}>
            <span>{e.text}</span> <span class="note">{e.note}</span>
            <span class="spring" />
            {e.keys.map((k) => (
              <kbd key={k}>{k}</kbd>
            ))}
          </li>
        ))}
      </ul>
      {shown.length === 0 && <p class="empty">Nothing is called that.</p>}
    </>
  );
}

/** Entries whose text has the letters in order, the best first: those at the beginnings of words and beside each other. */
export function ranked<T extends { text: string }>(all: T[], typed: string): T[] {
  const want = typed.toLowerCase().replace(/\s+/g, "");
  if (!want) return all;
  return all
    .map((e) => ({ e, score: score(e.text.toLowerCase(), want) }))
    .filter((s) => s.score > 0)
    .sort((a, b) => b.score - a.score)
    .map((s) => s.e);
}

function score(text: string, want: string): number {
  const whole = text.indexOf(want);
  if (whole >= 0) return 1000 - whole - text.length / 100 + (whole === 0 ? 500 : 0) + (text === want ? 500 : 0);
  let total = 1;
  let at = -1;
  for (const c of want) {
    const next = text.indexOf(c, at + 1);
    if (next < 0) return 0;
    if (next === at + 1) total += 3;
    if (next === 0 || /[\s\-_/.:]/.test(text[next - 1] ?? "")) total += 5;
    at = next;
  }
  return total / (1 + text.length / 100);
}
