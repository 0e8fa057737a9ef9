// What the user can ask of the session. Each function takes the resources that it is about.
import type {
  AdoptRequest,
  Button,
  ClickRequest,
  ConfirmRequest,
  DriftRequest,
  ForwardRequest,
  ModeRequest,
  PageResource,
  PauseRequest,
  PruneRequest,
  RestartRequest,
  SwitchRequest,
  TriggerRequest,
} from "./api";
import { choose, confirmed, openDialog } from "./dialog";
import type { Act } from "./keys";
import { ask, message, session } from "./state";
import { count } from "./words";

type Resources = PageResource[];

const named = (list: Resources) => (list.length === 1 ? (list[0]?.name ?? "") : count(list.length, "resource"));
const are = (list: Resources) => (list.length === 1 ? "is" : "are");
const names = (list: Resources) => list.map((r) => r.name);
const isTiltfile = (r: PageResource) => r.type === "tiltfile";

/** The resources that an action can be about; says why there are none. */
function those(list: Resources, can: (r: PageResource) => boolean, why: string): Resources {
  const able = list.filter(can);
  if (able.length === 0) message.value = { text: list.length === 1 ? `${list[0]?.name} ${why}` : `none of them can: each ${why}`, failed: true };
  return able;
}

const enabled = (r: PageResource) => !r.disabled;

export function trigger(list: Resources) {
  const able = those(list, enabled, "is disabled: enable it first");
  const body: TriggerRequest = { manifest_names: names(able) };
  if (able.length > 0) void ask("/api/trigger", body, `${named(able)} will be updated`);
}

export function rebuild(list: Resources) {
  const able = those(list, (r) => enabled(r) && !isTiltfile(r), "cannot be built from scratch");
  if (able.length === 0) return;
  const body: TriggerRequest = { manifest_names: names(able), no_cache: true };
  confirmed(`Rebuild ${named(able)}?`, "Images are built without a cache, and all pods are replaced.", "rebuild", () => void ask("/api/trigger", body, `${named(able)} will be built from scratch`));
}

export function restart(list: Resources) {
  const able = those(list, (r) => enabled(r) && !isTiltfile(r), "runs nothing that could be restarted");
  const body: RestartRequest = { manifest_names: names(able) };
  if (able.length > 0) void ask("/api/restart", body, `${named(able)} ${are(able)} restarted`);
}

export function restartPods(list: Resources) {
  const able = those(list, (r) => enabled(r) && r.type === "k8s", "has no pods");
  if (able.length === 0) return;
  const body: RestartRequest = { manifest_names: names(able), pods: true };
  confirmed(`Replace the pods of ${named(able)}?`, "What they hold in memory is lost.", "replace", () => void ask("/api/restart", body, `the pods of ${named(able)} are replaced`));
}

/** Disables resources, or enables them if all of them are disabled, or are about to be. */
export function toggle(list: Resources) {
  const able = those(list, (r) => !isTiltfile(r), "cannot be disabled");
  if (able.length === 0) return;
  setEnabled(able, able.every((r) => r.disabled || r.leaving));
}

export function setEnabled(list: Resources, on: boolean) {
  const able = list.filter((r) => !isTiltfile(r));
  const body: SwitchRequest = { state: on ? "enabled" : "disabled", manifest_names: names(able) };
  if (able.length > 0) void ask("/api/switch", body, `${named(able)} ${are(able)} ${body.state}`);
}

/** Lets resources be updated on request only, or automatically again if all of them already are. */
export function toggleMode(list: Resources) {
  const able = those(list, (r) => !isTiltfile(r), "has no trigger mode");
  if (able.length === 0) return;
  const body: ModeRequest = { manifest_names: names(able), mode: able.every(isManual) ? "auto" : "manual" };
  void ask("/api/mode", body, `${named(able)} ${are(able)} updated ${body.mode === "auto" ? "when files change" : "on request only"}`);
}

export const isManual = (r: PageResource) => !!r.triggerMode?.startsWith("manual");

export function adopt(list: Resources) {
  const able = those(list, (r) => r.type === "k8s" && enabled(r), "declares no objects");
  if (able.length === 0) return;
  const body: AdoptRequest = { manifest_names: names(able) };
  confirmed(`Let ${named(able)} take over objects?`, "Objects of others that it declares become part of this project. hone down gives them back as they were.", "take over", () => void ask("/api/adopt", body, `${named(able)} will be updated`));
}

export function restore(list: Resources) {
  const able = those(list, (r) => !!r.drift, "is as it was applied");
  if (able.length === 0) return;
  const body: DriftRequest = { manifest_names: names(able), adopt: able.some((r) => r.drift?.includes("made again")) };
  confirmed(`Restore ${named(able)}?`, `What others have changed is undone: ${able.map((r) => `${r.name}: ${r.drift}`).join("; ")}.`, "restore", () => void ask("/api/restore", body, `${named(able)} will be as declared`));
}

export function accept(list: Resources) {
  const able = those(list, (r) => !!r.drift, "is as it was applied");
  const body: DriftRequest = { manifest_names: names(able) };
  if (able.length > 0) void ask("/api/accept", body, `what others have changed of ${named(able)} stays`);
}

export function prune() {
  const body: PruneRequest = {};
  confirmed("Delete what the Tiltfile no longer declares?", "The objects are deleted from the cluster.", "delete", () => void ask("/api/prune", body, "what is no longer declared will be deleted"));
}

/** Carries out a plan that was looked at. */
export function confirm(evaluation: number) {
  const body: ConfirmRequest = { evaluation };
  void ask("/api/confirm", body, "what waited goes on");
}

export function pause() {
  const body: PauseRequest = { paused: !session.value?.paused };
  void ask("/api/pause", body, body.paused ? "all updates are paused" : "updates go on");
}

export function stop() {
  confirmed("Stop the session?", "hone ends, with its local processes and port forwards. What is deployed stays.", "stop", () => void ask("/api/stop", {}, "the session is ending"));
}

export function addForward(name: string, add: string): Promise<boolean> {
  const body: ForwardRequest = { manifest_name: name, add };
  return ask("/api/forwards", body, `port ${add} leads to ${name}`);
}

export function moveForward(name: string, remove: string, port: string): Promise<boolean> {
  const body: ForwardRequest = { manifest_name: name, remove, add: port };
  return ask("/api/forwards", body, `port ${port} leads to ${name}`);
}

export function removeForward(name: string, remove: string) {
  const body: ForwardRequest = { manifest_name: name, remove };
  void ask("/api/forwards", body, `port ${remove} is closed`);
}

/** Opens an endpoint of a resource; with several, the user chooses. */
export function openEndpoint(r: PageResource) {
  const list = (r.endpoints ?? []).filter((l) => /^https?:/.test(l.url));
  const visit = (url: string) => window.open(url, "_blank", "noopener,noreferrer");
  const first = list[0];
  if (!first) message.value = { text: `${r.name} has no endpoint`, failed: true };
  else if (list.length === 1) visit(first.url);
  else choose(`Endpoints of ${r.name}`, list.map((l) => ({ text: l.name || l.url, ...(l.name ? { note: l.url } : {}), value: l.url })), visit);
}

/** Edits the arguments of the Tiltfile. */
export function editArguments() {
  const now = session.value?.arguments ?? [];
  openDialog({
    title: "Arguments of the Tiltfile",
    content: (close) => (
      <form
        onSubmit={(e) => {
          e.preventDefault();
          const text = (new FormData(e.currentTarget).get("arguments") as string) ?? "";
          const list = text.split("\n").map((l) => l.trim()).filter(Boolean);
          void ask("/api/set_tiltfile_args", list, list.length > 0 ? `the Tiltfile is evaluated with ${count(list.length, "argument")}` : "the Tiltfile is evaluated without arguments").then((ok) => ok && close());
        }}
      >
        <label class="input">
          One argument in each line
          <textarea name="arguments" rows={6} autofocus spellcheck={false} defaultValue={now.join("\n")} />
        </label>
        <p class="note">Resources that you have enabled or disabled yourself start over.</p>
        <div class="dialog-foot">
          <button type="submit" class="button main">
            evaluate
          </button>
          <button type="button" class="button" onClick={close}>
            cancel
          </button>
        </div>
      </form>
    ),
  });
}

/** The buttons of a resource, or of the session for an empty name. */
export function buttonsOf(name: string): Button[] {
  return (session.value?.buttons ?? []).filter((b) => (name ? b.componentType === "Resource" && b.componentID === name : b.componentType !== "Resource"));
}

const click = (b: Button, inputs: Record<string, unknown>) => {
  const body: ClickRequest = { button: b.name, inputs };
  return ask("/api/click", body, `${b.text} was clicked`);
};

/** Clicks a button of the Tiltfile; asks for its inputs, or whether it is meant, where it wants that. */
export function press(b: Button) {
  const inputs = b.inputs ?? [];
  const shown = inputs.filter((i) => i.type !== "hidden");
  if (shown.length === 0) {
    if (b.requiresConfirmation) confirmed(`${b.text}?`, "The Tiltfile asks for a confirmation of this button.", b.text, () => void click(b, {}));
    else void click(b, {});
    return;
  }
  openDialog({
    title: b.text,
    content: (close) => (
      <form
        onSubmit={(e) => {
          e.preventDefault();
          const form = new FormData(e.currentTarget);
          const values: Record<string, unknown> = {};
          for (const i of shown) values[i.name] = i.type === "bool" ? form.has(i.name) : (form.get(i.name) ?? "");
          void click(b, values).then((ok) => ok && close());
        }}
      >
        {shown.map((i, n) =>
          i.type === "bool" ? (
            <label key={i.name} class="input check">
              <input type="checkbox" name={i.name} defaultChecked={i.default === "true"} autofocus={n === 0} /> {i.label || i.name}
            </label>
          ) : (
            <label key={i.name} class="input">
              {i.label || i.name}
              {i.type === "choice" ? (
                <select class="field" name={i.name} autofocus={n === 0}>
                  {(i.choices ?? []).map((c) => (
                    <option key={c} value={c} selected={c === i.default}>
                      {c}
                    </option>
                  ))}
                </select>
              ) : (
                <input class="field" type="text" name={i.name} defaultValue={i.default ?? ""} placeholder={i.placeholder ?? ""} autofocus={n === 0} spellcheck={false} />
              )}
            </label>
          ),
        )}
        {b.requiresConfirmation && <p class="note">The Tiltfile asks for a confirmation of this button.</p>}
        <div class="dialog-foot">
          <button type="submit" class="button main">
            {b.text}
          </button>
          <button type="button" class="button" onClick={close}>
            cancel
          </button>
        </div>
      </form>
    ),
  });
}

/** Lets the user choose a button of a resource or of the session. */
export function chooseButton(r: PageResource | undefined) {
  const list = [...(r ? buttonsOf(r.name) : []), ...buttonsOf("")].filter((b) => !b.disabled);
  if (list.length === 0) message.value = { text: r ? `neither ${r.name} nor the session has a button` : "the Tiltfile declares no button", failed: true };
  else choose("Buttons", list.map((b) => ({ text: b.text, note: b.componentType === "Resource" ? b.componentID : "session", value: b })), press);
}

/** The keys that act on resources, the same in each view. */
export function actsOn(those: () => Resources): Act[] {
  const on = (act: (list: Resources) => void) => () => {
    const list = those();
    if (list.length > 0) act(list);
  };
  const one = (act: (r: PageResource) => void) => on((list) => list[0] && act(list[0]));
  return [
    { keys: "t", does: "update now", run: on(trigger), changes: true },
    { keys: "T", does: "rebuild from scratch: images without a cache, new pods", run: on(rebuild), changes: true },
    { keys: "r", does: "restart the process where it is", run: on(restart), changes: true },
    { keys: "R", does: "replace the pods", run: on(restartPods), changes: true },
    { keys: "d", does: "enable or disable", run: on(toggle), changes: true },
    { keys: "m", does: "update when files change, or on request only", run: on(toggleMode), changes: true },
    { keys: "u", does: "buttons of the resource and of the session", run: () => chooseButton(those()[0]), changes: true },
    { keys: "b", does: "open an endpoint", run: one(openEndpoint) },
    { keys: "U", does: "undo what others have changed in the cluster", run: on(restore), changes: true },
    { keys: "K", does: "keep what others have changed in the cluster", run: on(accept), changes: true },
    { keys: "Y", does: "take over objects of others that it declares", run: on(adopt), changes: true },
  ];
}
