// Lays graphs out in layers, from left to right.
import { graphlib, layout } from "@dagrejs/dagre";

export interface Size {
  width: number;
  height: number;
}

export interface Laid {
  /** The middle of each node. */
  nodes: Map<string, { x: number; y: number }>;
  /** The path of each edge, by "from to". */
  edges: { from: string; to: string; path: string }[];
  width: number;
  height: number;
}

/** Lays out nodes of one size. Edges that name no node are left out. */
export function laidOut(names: string[], edges: [string, string][], size: Size): Laid {
  const g = new graphlib.Graph();
  g.setGraph({ rankdir: "LR", nodesep: 14, ranksep: 56, marginx: 12, marginy: 12 });
  g.setDefaultEdgeLabel(() => ({}));
  for (const n of names) g.setNode(n, { ...size });
  for (const [from, to] of edges) if (g.hasNode(from) && g.hasNode(to) && from !== to) g.setEdge(from, to);
  layout(g);
  const laid: Laid = { nodes: new Map(), edges: [], width: 0, height: 0 };
  for (const n of names) {
    const at = g.node(n) as { x: number; y: number };
    laid.nodes.set(n, { x: at.x, y: at.y });
    laid.width = Math.max(laid.width, at.x + size.width / 2 + 12);
    laid.height = Math.max(laid.height, at.y + size.height / 2 + 12);
  }
  for (const e of g.edges()) {
    const points = (g.edge(e) as { points: { x: number; y: number }[] }).points;
    const from = laid.nodes.get(e.v);
    const to = laid.nodes.get(e.w);
    if (!from || !to) continue;
    // From the right side of one to the left side of the other; the points between keep it away from other nodes.
    const ends = [{ x: from.x + size.width / 2, y: from.y }, ...points.slice(1, -1), { x: to.x - size.width / 2 - 2, y: to.y }];
    laid.edges.push({ from: e.v, to: e.w, path: curve(ends) });
  }
  return laid;
}

/** A smooth line through points, which is level at each of them. */
function curve(points: { x: number; y: number }[]): string {
  let path = "";
  let before: { x: number; y: number } | undefined;
  for (const at of points) {
    const half = before ? (before.x + at.x) / 2 : 0;
    path += before ? `C${half},${before.y} ${half},${at.y} ${at.x},${at.y}` : `M${at.x},${at.y}`;
    before = at;
  }
  return path;
}
