/** The number of hues of the style sheet. */
const hues = 8;

/** The hue of a resource's name: always the same for a name. */
export function hue(name: string): number {
  let h = 2166136261;
  for (let i = 0; i < name.length; i++) h = Math.imul(h ^ name.charCodeAt(i), 16777619);
  return (h >>> 0) % hues;
}
