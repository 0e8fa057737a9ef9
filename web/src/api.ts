// Generated from package pkg/api; make generate writes it.

/** Page is an event of GET /api/page, a stream of server-sent events: the session as its web page shows it. The first event has everything, and Whole is true. Each further one has what has changed since the one before it, at most one per 50 ms; a client that reads slowly gets fewer, with all changes in them. In a session where nothing changes, nothing is sent.
 *
 * The ID of an event is where a client continues: with the header Last-Event-ID, or the parameter since, the stream begins with what has changed since that event. It begins with everything if the ID is from another session, or too old.
 *
 * The parameters are: since; detail, the name of a resource whose details are sent too; and log, which may be repeated: the names of resources, or * for all. With log the stream also has events of type "log", each a LogNews, at most one per 100 ms. */
export interface Page {
  whole?: boolean;
  /** Now is the time of the session's machine. All times are of its clock. */
  now: string;
  session?: PageSession;
  /** Order are the names of all resources in the order of the Tiltfile, "(Tiltfile)" first; absent if it has not changed. */
  order?: string[];
  /** Resources are those that are new or have changed, and Removed those that are gone. */
  resources?: PageResource[];
  removed?: string[];
  /** Detail is sent at the beginning of each stream that has the parameter detail, and when it changes. It is absent for a resource that does not exist. */
  detail?: PageDetail;
}

/** LogNews is an event of type "log" of GET /api/page. Lines is how many lines the resources have written since the session began. */
export interface LogNews {
  lines: number;
}

/** LogWindow is the body of GET /api/logs/window: any part of the log, by position. The lines that a filter matches have the positions 0, 1, 2 and so on, which stay the same while the filter is in use. An end that lies before one that was sent earlier begins a new count.
 *
 * The parameters are resource, level, source, span and since, as for GET /api/logs; text, which lines must contain, without regard to case, or match if it is written as /regex/; from, the first position; and count, the number of positions, at most 1000. Without from, the window is the end of the log. */
export interface LogWindow {
  /** First is the position before which no lines are stored any more, and End the one after the newest line. */
  first: number;
  end: number;
  /** Lines are the lines of the window. Positions are missing where lines were dropped because of the bounds of the log. */
  lines: LogAt[];
}

/** LogFound is the body of GET /api/logs/find, which finds a text in a log without hiding the other lines.
 *
 * The parameters are those of GET /api/logs/window that select lines; find, the text to find, written as parameter text is; from, the position to start from, by default the end of the log; and back, true for the match at or before from instead of at or after it. Where there is none in that direction, it is the one that is farthest in the other. */
export interface LogFound {
  /** At is the position of the match among the lines that the filter matches, -1 if there is none. */
  at: number;
  /** Nth is its number among the Count matches, from 1; 0 if there is none. */
  nth: number;
  count: number;
}

/** TriggerRequest is the body of POST /api/trigger. The field name is the one that scripts for Tilt use. */
export interface TriggerRequest {
  manifest_names: string[];
  /** NoCache requests updates from scratch: images are built without a cache, and all pods are replaced. */
  no_cache?: boolean;
}

/** RestartRequest is the body of POST /api/restart, which restarts what resources run. */
export interface RestartRequest {
  manifest_names: string[];
  /** Pods replaces pods; otherwise processes are restarted where they run. */
  pods?: boolean;
}

/** SwitchRequest is the body of POST /api/switch, which enables or disables any number of resources at once. The Tiltfile itself can be neither enabled nor disabled. A name or a label that no resource has is an error, and then no resource is changed. */
export interface SwitchRequest {
  /** State is the desired state of the resources: enabled or disabled. */
  state: string;
  /** ManifestNames, Labels and All select the resources: those with one of these names, those with one of these labels, or all. One of them must be set. All excludes the other two. */
  manifest_names?: string[];
  labels?: string[];
  all?: boolean;
  /** Only gives all other resources the opposite state. */
  only?: boolean;
}

/** PauseRequest is the body of POST /api/pause. While a session is paused, updates begin only on request. */
export interface PauseRequest {
  /** Paused is whether the session should be paused. */
  paused: boolean;
}

/** Failure is the body of every response that is not a success. */
export interface Failure {
  error: string;
  /** Mend is what to do about the error; absent when unknown. */
  mend?: string;
}

/** PageSession is what a page shows of the session itself. */
export interface PageSession {
  /** Run identifies this run of the session. */
  run: string;
  version: string;
  /** Project is the name of the Tiltfile's folder. */
  project: string;
  tiltfile: string;
  context?: string;
  namespace?: string;
  startedAt: string;
  /** Paused is set while the session is paused, and Ended once it has ended. */
  paused?: boolean;
  ended?: boolean;
  notices?: PageNotice[];
}

/** PageResource is one row. Status is idle, ok, warning, waiting, updating, failed or unknown: the same as the glyph on the screen. Type is tiltfile, k8s, compose or local. */
export interface PageResource {
  name: string;
  type: string;
  labels?: string[];
  status: string;
  triggerMode?: string;
  disabled?: boolean;
  /** Leaving is set while the resource is being torn down. */
  leaving?: boolean;
  /** Current is the running update, and Last the newest completed one. */
  current?: PageUpdate;
  last?: PageUpdate;
  /** Waiting is why the resource is not updated now. */
  waiting?: Waiting;
  /** Pending is how many changed files wait for an update. */
  pending?: number;
  runtime: PageRuntime;
  /** Behind is the number of containers in which an update is still running that the others already have. */
  behind?: number;
  forwards?: Forward[];
  endpoints?: PageLink[];
  /** Error is the whole text of the error of the update, else of the runtime, else of a forward. */
  error?: string;
}

/** PageDetail is everything else about one resource. Updates are the newest first, the running one included. Files are the changed files that wait for an update. */
export interface PageDetail {
  name: string;
  updates?: PageBuild[];
  files?: string[];
  process?: Process;
  pods?: PagePod[];
  events?: PageEvent[];
  objects?: string[];
  definition?: PageDeclaration[];
  dependsOn?: string[];
  neededBy?: string[];
  serveCmd?: string;
  updateCmd?: string;
  description?: string;
}

/** LogAt is a line with its position. */
export interface LogAt extends LogLine {
  at: number;
}

/** PageNotice is a problem that belongs to no resource. Severity is error or warning. */
export interface PageNotice {
  severity: string;
  summary: string;
  cause?: string;
  mend?: string;
}

/** PageUpdate is an update in a row. Mode is "in place", image, local and so on; empty until it is known. Files are the first changed files, of FileCount. Milliseconds is how long it took; an update in place takes from the save until the slowest container. */
export interface PageUpdate {
  serial: number;
  mode?: string;
  reason?: string;
  stage?: string;
  progress?: Progress;
  files?: string[];
  fileCount?: number;
  startedAt: string;
  finishedAt?: string;
  ms?: number;
  error?: string;
  cancelled?: boolean;
  warnings?: number;
  fellBack?: string;
}

/** Waiting is why a resource is not updated now, and which resources it waits for. */
export interface Waiting {
  reason: string;
  on?: string[];
  text: string;
}

/** PageRuntime is what runs. Status is that of Resource.RuntimeStatus. Since is when a running process was started. */
export interface PageRuntime {
  status: string;
  text?: string;
  error?: string;
  pods?: number;
  ready?: number;
  restarts?: number;
  since?: string;
}

/** Forward is a port forward. State is waiting, ready or failed. Address is where it listens, as it is declared: "8080" or "host:8080"; absent for ports that Compose publishes. Added is set for a forward that was added in this session. */
export interface Forward {
  localPort: number;
  address?: string;
  added?: boolean;
  url: string;
  pod?: string;
  state: string;
  error?: string;
}

/** PageLink is an address of a resource. Name may be empty. */
export interface PageLink {
  url: string;
  name?: string;
}

/** PageBuild is an update with its stages. All files are in Files. Span selects its lines in the log. */
export interface PageBuild extends PageUpdate {
  allFiles?: string[];
  stages?: PageStage[];
  /** Mend is what to do about the error, and Output are the last lines before it. */
  mend?: string;
  output?: string[];
  span?: string;
  /** Containers is the number of containers that were updated in place. */
  containers?: number;
}

/** Process is the server of a local resource. State is starting, running, stopping, failed or stopped. Detail is why a running server is not ready. ExitCode is set once the server has failed; it is -1 if the server could not be started. */
export interface Process {
  state: string;
  pid?: number;
  ready: boolean;
  detail?: string;
  exitCode?: number;
  startedAt: string;
}

/** PagePod is a pod, or a container of Compose. */
export interface PagePod {
  name: string;
  namespace?: string;
  status: string;
  ready?: boolean;
  current?: boolean;
  deleting?: boolean;
  failing?: boolean;
  why?: string;
  node?: string;
  createdAt?: string;
  containers?: PageContainer[];
}

/** PageEvent is an event of Kubernetes about an object of the resource. */
export interface PageEvent {
  warning?: boolean;
  reason: string;
  message: string;
  object: string;
  count: number;
  firstSeen?: string;
  lastSeen: string;
}

/** PageDeclaration is a call of the Tiltfile that has shaped the resource, with its source. */
export interface PageDeclaration {
  call: string;
  file: string;
  line: number;
  source?: string[];
}

/** LogLine is a line of GET /api/logs?format=json. The response has one such object per line.
 *
 * The parameters of GET /api/logs are: resource (may be repeated, or be a comma-separated list; once the Tiltfile was evaluated, the name of a resource that never existed is an error), level (debug, info, warn or error: the minimum level), source (all, build or runtime), span, since (a duration or a time), tail (the number of newest lines), after (the number of the line after which to continue), follow (true keeps sending until the session ends) and format (text or json). */
export interface LogLine {
  /** Seq is the number of the line. Numbers increase across all resources. The parameter "after" takes such a number. */
  seq?: number;
  time?: string;
  /** Resource is the resource that the line belongs to; empty for lines that belong to none. */
  resource?: string;
  /** Span is the id of the piece of work that wrote the line, such as a build or one run of a container. */
  span?: string;
  /** Source is build, runtime, or empty for neither; Level is debug, info, warn or error. */
  source?: string;
  level?: string;
  /** Continues is set for a line that belongs to the same entry as the line before it in its stream, such as a line of a stack trace. */
  continues?: boolean;
  /** Prefix is "[container] ", "[pod] " or "[pod container] " where a resource's lines come from several containers or pods. */
  prefix?: string;
  /** Pod and Container name where the line comes from. Both are empty for a line that no container wrote. */
  pod?: string;
  container?: string;
  text: string;
  /** ProgressID is set for a line that replaces the previous line with the same id and span. ProgressDone marks the last line of such a series. */
  progressID?: string;
  progressDone?: boolean;
  /** Skipped is the number of lines that were dropped before they could be read. An object with this field has no other fields. */
  skipped?: number;
}

/** Progress is how far the current stage of a running update is. Kind is build, push, apply, start or run. Image is the image that is built or pushed, number Nth of Images. Step is how many of the Steps of its Dockerfile have begun; both are absent while they are not known, and for custom_build. Percent is how much of the image has been pushed, if that is known. Waits is why the stage pauses. */
export interface Progress {
  kind: string;
  image?: string;
  nth?: number;
  images?: number;
  step?: number;
  steps?: number;
  percent?: number;
  waits?: string;
}

/** PageStage is a stage of an update. */
export interface PageStage {
  name: string;
  ms: number;
}

/** PageContainer is a container of a pod. Kind is ordinary, init or sidecar; State is waiting, running or terminated. ExitCode is set for a terminated container, and LastExitCode if there was a run before. */
export interface PageContainer {
  name: string;
  kind: string;
  state: string;
  reason?: string;
  message?: string;
  ready?: boolean;
  restarts?: number;
  exitCode?: number;
  lastReason?: string;
  lastExitCode?: number;
  image?: string;
  startedAt?: string;
}
