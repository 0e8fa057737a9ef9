// What the session passes on, others have written: programs, people, the cluster. It is shown as text, and no character in it moves or hides
// what stands beside it.

/**
 * What is no text: control characters apart from tabs and line breaks, and characters that change the direction of the text, as they stand
 * in JSON; and the other escapes of JSON, which stay.
 */
const commands = /[\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\\(?:u00(?:0[0-8bcBCeEfF]|1[\da-fA-F]|7f|7F|[89][\da-fA-F])|u20(?:2[a-eA-E]|6[6-9])|[bf]|.)/g;

const short: Record<string, string> = { "\\b": "\\u0008", "\\f": "\\u000c" };

/** Reads JSON. Characters that are no text become their numbers. */
export function readJSON<T>(json: string): T {
  return JSON.parse(
    json.replace(commands, (c) => {
      if (c.length === 1) return `\\\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`;
      const escape = short[c] ?? c;
      return escape.length > 2 ? `\\${escape}` : escape;
    }),
  ) as T;
}

/** Reads the body of an answer. */
export async function readBody<T>(resp: Response): Promise<T> {
  return readJSON<T>(await resp.text());
}
