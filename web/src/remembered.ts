// Choices of the user that outlive the page. They are kept by the browser; of the session they hold no more than names of resources.
import { effect, signal, type Signal } from "@preact/signals";

export function remembered<T>(name: string, first: T): Signal<T> {
  const key = `hone.${name}`;
  let value = first;
  try {
    const text = localStorage.getItem(key);
    if (text !== null) value = JSON.parse(text) as T;
  } catch {
    // The browser stores nothing, or something else.
  }
  const s = signal(value);
  effect(() => {
    try {
      localStorage.setItem(key, JSON.stringify(s.value));
    } catch {
      // It is only forgotten.
    }
  });
  return s;
}
