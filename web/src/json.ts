// Lines of logs that are JSON.
import { readJSON } from "./foreign";

/** A line of JSON: what it says, and its other fields. */
export interface JSONLine {
  message: string;
  fields: [string, unknown][];
  value: Record<string, unknown>;
}

const messages = ["msg", "message", "event", "text"];
/** Fields that stand in columns of their own. */
const known = ["time", "ts", "timestamp", "@timestamp", "level", "lvl", "severity"];

/** Parses a line; undefined if it is no object in JSON. Anything may stand before the object. */
export function parseJSON(text: string): JSONLine | undefined {
  const at = text.indexOf("{");
  if (at < 0 || !text.trimEnd().endsWith("}")) return undefined;
  let value: unknown;
  try {
    value = readJSON(text.slice(at));
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const object = value as Record<string, unknown>;
  const key = messages.find((m) => typeof object[m] === "string");
  return {
    message: (text.slice(0, at) + (key ? String(object[key]) : "")).trim(),
    fields: Object.entries(object).filter(([k]) => k !== key && !known.includes(k)),
    value: object,
  };
}

/** A value in a line: text as it is, everything else as JSON. */
export function short(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
