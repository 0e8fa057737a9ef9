// Splits a line of a log into runs of text with a look. Nothing here makes HTML: what a program prints stays text.

/** A run of text. Classes are those of the style sheet. */
export interface Run {
  text: string;
  classes: string;
  link?: string;
}

interface Look {
  fg: string;
  bg: string;
  flags: Set<string>;
}

// eslint-free: escape sequences are control characters by nature.
const sequence = /\x1b(?:\[([0-?]*)[ -/]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-~])|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;
const address = /\bhttps?:\/\/[^\s"'<>`\\^{|}]+[^\s"'<>`\\^{|}.,;:!?)\]]/g;

/** Parses a line. Colours become classes; other escape sequences and control characters disappear. */
export function parse(line: string): Run[] {
  const runs: Run[] = [];
  const look: Look = { fg: "", bg: "", flags: new Set() };
  let at = 0;
  const add = (text: string) => {
    if (!text) return;
    const classes = [look.fg && `fg-${look.fg}`, look.bg && `bg-${look.bg}`, ...look.flags].filter(Boolean).join(" ");
    let from = 0;
    for (const m of text.matchAll(address)) {
      if (m.index > from) runs.push({ text: text.slice(from, m.index), classes });
      runs.push({ text: m[0], classes, link: m[0] });
      from = m.index + m[0].length;
    }
    if (from < text.length) runs.push({ text: text.slice(from), classes });
  };
  for (const m of line.matchAll(sequence)) {
    add(line.slice(at, m.index));
    at = m.index + m[0].length;
    if (m[2] === "m") apply(look, m[1] ?? "");
  }
  add(line.slice(at));
  return runs;
}

const names = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

function apply(look: Look, parameters: string) {
  const codes = parameters.split(/[;:]/).map(Number);
  for (let i = 0; i < codes.length; i++) {
    const c = codes[i] ?? 0;
    if (c === 0) {
      look.fg = look.bg = "";
      look.flags.clear();
    } else if (c === 1) look.flags.add("bold");
    else if (c === 2) look.flags.add("faint");
    else if (c === 3) look.flags.add("italic");
    else if (c === 4) look.flags.add("underline");
    else if (c === 9) look.flags.add("struck");
    else if (c === 22) ["bold", "faint"].forEach((f) => look.flags.delete(f));
    else if (c === 23) look.flags.delete("italic");
    else if (c === 24) look.flags.delete("underline");
    else if (c === 29) look.flags.delete("struck");
    else if (c >= 30 && c <= 37) look.fg = names[c - 30] ?? "";
    else if (c >= 90 && c <= 97) look.fg = names[c - 90] ?? "";
    else if (c === 39) look.fg = "";
    else if (c >= 40 && c <= 47) look.bg = names[c - 40] ?? "";
    else if (c >= 100 && c <= 107) look.bg = names[c - 100] ?? "";
    else if (c === 49) look.bg = "";
    else if (c === 38 || c === 48) {
      // One of 256 colours, or any: the nearest of the eight, whose contrast the style sheet sees to.
      const near = codes[i + 1] === 5 ? indexed(codes[i + 2] ?? 0) : nearest(codes[i + 2] ?? 0, codes[i + 3] ?? 0, codes[i + 4] ?? 0);
      if (c === 38) look.fg = near;
      else look.bg = near;
      i += codes[i + 1] === 5 ? 2 : 4;
    }
  }
}

function indexed(n: number): string {
  if (n < 16) return names[n % 8] ?? "";
  if (n >= 232) return "";
  const level = (v: number) => (v === 0 ? 0 : 55 + 40 * v);
  return nearest(level(Math.floor((n - 16) / 36)), level(Math.floor((n - 16) / 6) % 6), level((n - 16) % 6));
}

function nearest(r: number, g: number, b: number): string {
  const most = Math.max(r, g, b);
  if (most - Math.min(r, g, b) < 32) return ""; // a grey: the colour of the text reads better
  const half = most * 0.6;
  return names[(r > half ? 1 : 0) + (g > half ? 2 : 0) + (b > half ? 4 : 0)] ?? "";
}

/** The text without escape sequences, as it is seen. */
export function plain(line: string): string {
  return line.replace(sequence, "");
}
