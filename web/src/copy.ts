// Copies to the clipboard.
import { message } from "./state";

export async function copy(text: string, what: string): Promise<void> {
  try {
    if (navigator.clipboard) await navigator.clipboard.writeText(text);
    else byHand(text); // the page of another machine, without TLS
    message.value = { text: `${what} copied`, failed: false };
  } catch {
    message.value = { text: "the browser does not let the page copy", failed: true };
  }
}

function byHand(text: string) {
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const ok = document.execCommand("copy");
  area.remove();
  if (!ok) throw new Error("not copied");
}
