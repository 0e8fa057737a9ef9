// What the user can ask of the session.
import type { PageResource, PauseRequest, RestartRequest, SwitchRequest, TriggerRequest } from "./api";
import { ask, message, session } from "./state";

export function trigger(r: PageResource) {
  const body: TriggerRequest = { manifest_names: [r.name] };
  void ask("/api/trigger", body, `${r.name} will be updated`);
}

export function restart(r: PageResource) {
  const body: RestartRequest = { manifest_names: [r.name] };
  void ask("/api/restart", body, `${r.name} is restarted`);
}

export function toggle(r: PageResource) {
  if (r.type === "tiltfile") return;
  const body: SwitchRequest = { state: r.disabled ? "enabled" : "disabled", manifest_names: [r.name] };
  void ask("/api/switch", body, `${r.name} is ${body.state}`);
}

export function pause() {
  const body: PauseRequest = { paused: !session.value?.paused };
  void ask("/api/pause", body, body.paused ? "all updates are paused" : "updates go on");
}

export function openEndpoint(r: PageResource) {
  const first = r.endpoints?.[0];
  if (first && /^https?:/.test(first.url)) window.open(first.url, "_blank", "noopener,noreferrer");
  else message.value = { text: `${r.name} has no endpoint`, failed: true };
}
