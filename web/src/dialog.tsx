// One dialog at a time. Escape closes it, and the focus goes back to where it was.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface Open {
  title: string;
  /** The palette has its own look. */
  kind?: string;
  content: (close: () => void) => ComponentChildren;
}

const open = signal<(Open & { id: number }) | undefined>(undefined);
let opened = 0;

/** Opens a dialog. One with the same title that is just being closed is another one. */
export function openDialog(d: Open) {
  open.value = { ...d, id: ++opened };
}

export const dialogOpen = () => open.value !== undefined;

/** Shows the dialog that is open. It is once in the page. */
export function Dialogs() {
  const d = open.value;
  return d ? <Dialog key={d.id} d={d} /> : null;
}

function Dialog(p: { d: Open }) {
  const el = useRef<HTMLDialogElement>(null);
  // A layout effect: keys that are typed right after the one that opened it belong to the dialog.
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    el.current?.showModal();
    return () => before?.focus();
  }, []);
  const close = () => el.current?.close();
  return (
    <dialog
      ref={el}
      class={`dialog ${p.d.kind ?? ""}`}
      aria-labelledby="dialog-title"
      onClose={() => {
        if (open.value === p.d) open.value = undefined;
      }}
      onClick={(e) => e.target === el.current && close()}
    >
      <div class="dialog-body">
        <h2 id="dialog-title">{p.d.title}</h2>
        {p.d.content(close)}
      </div>
    </dialog>
  );
}

/** Asks before something is done that loses something. */
export function confirmed(title: string, text: string, verb: string, run: () => void) {
  openDialog({
    title,
    content: (close) => (
      <form
        method="dialog"
        onSubmit={(e) => {
          e.preventDefault();
          close();
          run();
        }}
      >
        <p>{text}</p>
        <div class="dialog-foot">
          <button type="submit" class="button main" autofocus>
            {verb}
          </button>
          <button type="button" class="button" onClick={close}>
            cancel
          </button>
        </div>
      </form>
    ),
  });
}

/** Lets the user choose one of several. */
export function choose<T>(title: string, list: { text: string; note?: string; value: T }[], take: (value: T) => void) {
  openDialog({
    title,
    content: (close) => (
      <ul class="choices">
        {list.map((c, i) => (
          <li key={i}>
            <button
              autofocus={i === 0}
              onKeyDown={(e) => {
                const to = e.key === "ArrowDown" || e.key === "j" ? e.currentTarget.parentElement?.nextElementSibling : e.key === "ArrowUp" || e.key === "k" ? e.currentTarget.parentElement?.previousElementSibling : undefined;
                to?.querySelector("button")?.focus();
              }}
              onClick={() => {
                close();
                take(c.value);
              }}
            >
              {c.text} {c.note && <span class="note">{c.note}</span>}
            </button>
          </li>
        ))}
      </ul>
    ),
  });
}
