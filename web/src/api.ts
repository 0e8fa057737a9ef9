// Generated from what the session serves at /openapi/v3/hone; make generate writes it.

/** AdoptRequest is the body of POST /api/adopt, which updates resources and lets them take over objects of others that they declare. */
export interface AdoptRequest {
  manifest_names: string[];
}

/** Architecture is the body of GET /api/architecture: hone's own parts, how they depend on each other, and how busy they are. */
export interface Architecture {
  edges: PartEdge[];
  loop: LoopNumbers;
  parts: Part[];
  tables: StateTable[];
}

/** BatchBucket counts the batches that took at most UpTo milliseconds, and longer than the bucket before; 0 for no bound. */
export interface BatchBucket {
  batches: number;
  upToMs: number;
}

/** Behind is a container that is behind. Files are the files that it does not have yet, and Since is the time since when it is behind. */
export interface Behind {
  container: string;
  files?: string[];
  namespace: string;
  pod: string;
  since: string;
}

/** Build is one update of a resource. BuildHistory lists the newest first. */
export interface Build {
  cancelled?: boolean;
  /** Containers holds the result for each container of an in-place update. */
  containers?: ContainerUpdate[];
  error?: string;
  fellBack?: string;
  files?: string[];
  finishedAt?: string;
  mode?: string;
  progress?: Progress;
  reason?: string;
  serial: number;
  stage?: string;
  startedAt: string;
}

/** Button is a button that the Tiltfile declares. ComponentType is Resource or Global; for Resource, ComponentID is the name of a resource. */
export interface Button {
  /** Clicks is the number of clicks. LastClickedAt is absent before the first click. */
  clicks: number;
  componentID: string;
  componentType: string;
  disabled?: boolean;
  iconName?: string;
  iconSVG?: string;
  inputs?: Input[];
  lastClickedAt?: string;
  name: string;
  requiresConfirmation?: boolean;
  showInputsAsModal?: boolean;
  text: string;
}

/** ButtonEvent describes a click on a button. The values of the inputs are not included. */
export interface ButtonEvent {
  /** Clicks is the number of clicks so far. */
  clicks: number;
  name: string;
  text?: string;
}

/** ClickRequest is the body of POST /api/click. Inputs that are omitted have their default values. A bool input takes true or false; the other inputs take text. */
export interface ClickRequest {
  button: string;
  inputs?: Record<string, unknown>;
}

/** Cluster is a Kubernetes cluster of a session that works on several. */
export interface Cluster {
  connected: boolean;
  context: string;
  /** Error is the reason why it does not answer. */
  error?: string;
  /** Name is the name of the Tiltfile, or the context. */
  name: string;
  namespace?: string;
  /** Needed is set if a resource that is not disabled is deployed to it. */
  needed: boolean;
  /** Starting is set while it does not answer yet and reports that it may soon. */
  starting?: boolean;
}

/** Command is a command that the Tiltfile declares outside of any resource. State is the state of its newest run: waiting, running, succeeded, failed or stopped. Disabled is true while a config map disables the command. */
export interface Command {
  disabled?: boolean;
  endedAt?: string;
  error?: string;
  exitCode?: number;
  name: string;
  pid?: number;
  ready: boolean;
  runs: number;
  startedAt?: string;
  state: string;
}

/** CommandEvent describes a command that the Tiltfile declares outside of any resource. */
export interface CommandEvent {
  error?: string;
  /** ExitCode and all fields after it are present only at the end of the run. A run that hone stopped has neither failed nor succeeded. */
  exitCode?: number;
  name: string;
  /** Run numbers the runs, from 1. */
  run: number;
  stopped?: boolean;
}

/** ConfirmRequest is the body of POST /api/confirm. In a session that asks (hone up --confirm), it starts the updates and deletions that wait for the user's answer. */
export interface ConfirmRequest {
  /** Evaluation is the number of the evaluation behind the plan that the user has seen. If the Tiltfile was evaluated since, the request is refused. */
  evaluation: number;
}

/** ConfirmResult is the response to a ConfirmRequest: the resources that will be updated. */
export interface ConfirmResult {
  resources: string[];
}

/** ConnectionEvent describes the connection to the cluster or the container engine. */
export interface ConnectionEvent {
  error?: string;
  /** Name is the context of the cluster, or the host of the engine. */
  name?: string;
}

/** ContainerUpdate is the result of an in-place update of one container. Mode is synclet, container or exec. Behind means that the update of this container is still running and that its result is not known yet. */
export interface ContainerUpdate {
  behind?: boolean;
  bytes: number;
  container: string;
  deletes: number;
  error?: string;
  /** Files is the number of files copied, Deletes the number of files deleted, and Same the number of files that needed neither. Bytes is the size of the copied files. */
  files: number;
  id: string;
  mode?: string;
  namespace: string;
  pod: string;
  same: number;
  stages: Stages;
  totalMs: number;
}

/** ControllerEvent describes an internal component of hone that has failed. */
export interface ControllerEvent {
  crashes: number;
  error: string;
  name: string;
}

/** DeployLock is a line of the response to a DeployLockRequest. */
export interface DeployLock {
  /** Granted is set in the last line: no update is running now. */
  granted?: boolean;
  /** WaitsFor are the resources whose running updates have to end first. */
  waitsFor?: string[];
}

/** DeployLockRequest is the body of POST /api/turn. Another process, such as "hone ci", is about to deploy the session's project: the session begins no update from now on. The lock lasts until the client closes the connection. */
export interface DeployLockRequest {
  /** By names the process, for people: "hone ci (pid 42)". */
  by: string;
}

/** DriftRequest is the body of POST /api/restore, which applies the objects of resources again as they are declared, and of POST /api/accept, which leaves the fields that others have changed to them. Adopt lets a restore take over objects that others have made again. */
export interface DriftRequest {
  adopt?: boolean;
  manifest_names: string[];
}

/** EngineDump is the body of GET /api/dump/engine and the output of "hone dump engine": the whole store. */
export interface EngineDump {
  controllers: unknown[];
  /** CreatedAt is the time at which the dump was created. */
  createdAt: string;
  /** Loop and Controllers are the objects of the kinds Loop and Controller: the status of the store's loop and of hone's internal components. */
  loop: unknown;
  /** Snapshot is the number of the store's snapshot. */
  snapshot: number;
  /** Tables have the same form as the tables of a Snapshot. */
  tables: Record<string, TableEntry[]>;
  /** Version is the version of hone. */
  version: string;
}

/** Event is something that happened in a session: one line of GET /api/events and of "hone events -o json". The type determines which of the fields after resource is present. GET /api/events takes these parameters. since: start after this event number, this long ago, or at this time. resource and type: return only matching events; repeat the parameter or separate values with commas. A type is an event's type or the name of its family: "pod" stands for all types that begin with "pod-". follow=true: keep sending until the session ends. A client that reads too slowly receives one event of type gap instead of the events that are no longer kept. A number that the session has not reached belongs to another session; the response is 410. */
export interface Event {
  button?: ButtonEvent;
  command?: CommandEvent;
  connection?: ConnectionEvent;
  container?: ContainerUpdate;
  controller?: ControllerEvent;
  files?: FilesEvent;
  forward?: ForwardEvent;
  gap?: GapEvent;
  hold?: HoldEvent;
  pod?: PodEvent;
  problem?: ProblemEvent;
  program?: ProgramEvent;
  pull?: PullEvent;
  ready?: ReadyEvent;
  request?: RequestEvent;
  /** Resource is the resource that the event is about: "(Tiltfile)" for the Tiltfile, absent for the session as a whole. */
  resource?: string;
  restart?: RestartEvent;
  /** Seq is the event's number. Numbers increase by one within a session, across all resources and types. A gap has the number of the last missing event. */
  seq: number;
  server?: ServerEvent;
  session?: SessionEvent;
  summary?: Summary;
  tiltfile?: TiltfileEvent;
  /** Time is the time at which the session observed the event. */
  time: string;
  /** Type is the type of the event, such as update-started. */
  type: string;
  update?: UpdateEvent;
  /** V is the version of this schema. */
  v: number;
}

/** Explanation explains a failure, or a resource that is stuck, as the screen's card does. */
export interface Explanation {
  also?: string[];
  /** Cause explains it, a line each. Where names the pod and the container. */
  cause?: string[];
  /** Changed are the files whose change it began with. */
  changed?: string[];
  /** Cluster is the cluster of the resource, in a session that works on several. */
  cluster?: string;
  failedAfter?: string[];
  /** LookFirst are failing resources that it depends on and that failed before it, FailedAfter those that failed in consequence, and Waiting those that wait for it. */
  lookFirst?: string[];
  /** Mend are things to do about it. */
  mend?: string[];
  /** Place is the first place in the source tree that the output or the cause names. */
  place?: Place;
  /** Resource is the resource that failed; Also are further ones that failed for the same reason. */
  resource: string;
  /** Said is the message of Kubernetes, where the cause is shorter. */
  said?: string[];
  since?: string;
  /** Title names the failure in a few words. */
  title: string;
  waiting?: string[];
  where?: string;
  /** Written are the lines of its output that matter. A program has written them: they are data. */
  written?: string[];
}

/** Failure is the body of every response that is not a success. */
export interface Failure {
  error: string;
  /** Mend tells how to fix the error; absent when unknown. */
  mend?: string;
}

/** FieldChange is a field that an operation would change. */
export interface FieldChange {
  /** AfterApply is set if the value is taken from a field of another object, and is known only after that object is applied. */
  afterApply?: boolean;
  /** AfterBuild is set if the value is known only after the build of an image. */
  afterBuild?: boolean;
  /** Applied is the value that was applied last; only for conflicts, and nil if it is not known. */
  applied?: unknown;
  at?: string;
  class: string;
  /** From is the value in the cluster and To the one after the operation; nil where there is none. The values of a Secret are never shown: both are nil then, and Masked is set. */
  from?: unknown;
  /** Manager is the field manager that set the value in the cluster, and At when; only for drift and conflicts. */
  manager?: string;
  masked?: boolean;
  /** Path is the path of the field: spec.template.spec.containers[name=main].image. */
  path: string;
  to?: unknown;
}

/** FilesEvent lists files that have changed. */
export interface FilesEvent {
  /** Files are the first of the changed files, sorted. Paths below the Tiltfile's folder are relative to it. */
  files: string[];
  /** Total is the number of changed files. */
  total: number;
  /** Watch is the name of the file watch that the files belong to; absent for resources. */
  watch?: string;
}

/** Forward is a port forward. State is waiting, ready, failed, or unknown while its destination does not answer. Address is the local address, as it is declared: "8080" or "host:8080"; absent for ports that Compose publishes. Added is set for a forward that was added in this session. */
export interface Forward {
  added?: boolean;
  address?: string;
  error?: string;
  localPort: number;
  pod?: string;
  state: string;
  url: string;
}

/** ForwardEvent describes a port forward. */
export interface ForwardEvent {
  error?: string;
  localPort: number;
  /** Pod is the destination, "namespace/name:port". */
  pod?: string;
  url?: string;
}

/** ForwardRequest is the body of POST /api/forwards, which adds or removes a port forward of a running session, or changes its local port: then both Remove and Add are set. */
export interface ForwardRequest {
  /** Add is the forward to add: "8080", "8080:80" or "host:8080:80". With Remove it is only the new local port, "8081". */
  add?: string;
  manifest_name: string;
  /** Remove is the address that the forward to remove listens on: "8080" or "host:8080". */
  remove?: string;
}

/** GapEvent describes a gap in the sequence of events. A session keeps only the newest events. */
export interface GapEvent {
  from: number;
  /** Missed is the number of missing events, across all resources and types. They are numbered From to the gap's own number. */
  missed: number;
}

/** HoldEvent describes why an update of a resource waits. */
export interface HoldEvent {
  /** On lists the resources that it waits for. */
  on?: string[];
  /** Reason is one of tiltfile-reload, waiting-for-local, is-unparallelizable-local, waiting-for-uncategorized, building-component, waiting-for-dep, waiting-for-newest, waiting-for-cluster, waiting-for-engine, waiting-for-deploy, waiting-for-container, waiting-for-slot, manual, paused, waiting-for-turn, waiting-for-confirmation and pausing-in-loop; absent when the update no longer waits. */
  reason?: string;
  /** Text is the reason in words. */
  text?: string;
  /** Was is the previous reason, and WasMs how long it applied; absent when the update was not waiting before. */
  was?: string;
  wasMs?: number;
}

/** ImageInput is an input of an image's build that differs from the last build on this machine. */
export interface ImageInput {
  change: string;
  kind: string;
  /** Name is the name of a file, an argument, an image, a secret or an SSH agent; empty for other inputs. Files are relative to the build context or to the folder of the build command. */
  name?: string;
}

/** Input is a value that is sent with a click. Type is text, bool, choice or hidden. The value of a hidden input is not shown. Default is "true" or "false" for a bool. */
export interface Input {
  choices?: string[];
  default?: string;
  label?: string;
  name: string;
  placeholder?: string;
  type: string;
}

/** Kubeconfig is a kubeconfig that reads some namespaces, without their Secrets. Its account ends with the session. */
export interface Kubeconfig {
  expiresAt: string;
  kubeconfig: string;
  namespaces: string[];
}

/** KubeconfigRequest requests a kubeconfig that reads the namespaces of the session. */
export interface KubeconfigRequest {
  /** ForMs is the life of its token, from LeastKubeconfig to LongestToken. The cluster may shorten it. */
  forMs: number;
}

/** Lag lists the containers of a resource that are behind: their update is still running, while the other containers are up to date. Of is the number of containers that can be updated in place. */
export interface Lag {
  behind: Behind[];
  of: number;
}

/** LayersAhead is a transfer of layers of the last version of an image, or of its base, while the image is built. */
export interface LayersAhead {
  /** FromMs is the time since the start of the update. TookMs ends with the update at the latest. */
  fromMs: number;
  image: string;
  tookMs: number;
}

/** LogAt is a line with its position. */
export interface LogAt {
  at: number;
  container?: string;
  /** Continues is set for a line that belongs to the same entry as the line before it in its stream, such as a line of a stack trace. */
  continues?: boolean;
  level?: string;
  /** Pod and Container name where the line comes from. Both are empty for a line that no container wrote. */
  pod?: string;
  /** Prefix is "[container] ", "[pod] " or "[pod container] " where a resource's lines come from several containers or pods. */
  prefix?: string;
  progressDone?: boolean;
  /** ProgressID is set for a line that replaces the previous line with the same id and span. ProgressDone marks the last line of such a series. */
  progressID?: string;
  /** Resource is the resource that the line belongs to; empty for lines that belong to none. */
  resource?: string;
  /** Seq is the number of the line. Numbers increase across all resources. The parameter "after" takes such a number. */
  seq?: number;
  /** Skipped is the number of lines that were dropped before they could be read. An object with this field has no other fields. */
  skipped?: number;
  /** Source is build, runtime, or empty for neither; Level is debug, info, warn or error. */
  source?: string;
  /** Span is the id of the piece of work that wrote the line, such as a build or one run of a container. */
  span?: string;
  text: string;
  time?: string;
}

/** LogDump is the body of GET /api/dump/logstore and the output of "hone dump logstore": all logs that are kept. */
export interface LogDump {
  /** CreatedAt is the time at which the dump was created. */
  createdAt: string;
  /** Lines are all lines that are kept, in the order in which they were written. */
  lines: LogLine[];
  /** Resources describe the kept log text of each resource, and its storage. */
  resources: LogInventory[];
}

/** LogFound is the body of GET /api/logs/find, which finds a text in a log without hiding the other lines. The parameters are the parameters of GET /api/logs/window that select lines, and: find, the text to find, written like the parameter text; from, the position at which the search starts, by default the end of the log; and back, true for the match at or before from instead of the one at or after it. If there is no match in that direction, the search wraps around, and the result is the match that is farthest in the other direction. With seq instead of find, the result is the position of the line with this number, or of the next one. */
export interface LogFound {
  /** At is the position of the match among the lines that the filter matches, -1 if there is none. */
  at: number;
  count: number;
  /** Nth is its number among the Count matches, from 1; 0 if there is none. */
  nth: number;
}

/** LogInventory describes the log lines that are kept of one resource. */
export interface LogInventory {
  diskBytes: number;
  dropped: number;
  /** Lines is the number of lines that are kept, and Dropped is the number of lines that were dropped for lack of room. */
  lines: number;
  /** MemoryBytes and DiskBytes are the space that the lines take. They are compressed on disk. */
  memoryBytes: number;
  /** Resource is the name of the resource; empty for lines that belong to none. */
  resource: string;
  /** Segments are the segments that hold the lines, in the order of their lines. */
  segments: LogSegment[];
  /** Spans are the pieces of work that wrote the lines, in the order of their first lines. */
  spans: LogSpan[];
}

/** LogLine is a line of GET /api/logs?format=json. The response has one such object per line. The parameters of GET /api/logs are: resource (may be repeated, or be a comma-separated list; once the Tiltfile was evaluated, the name of a resource that never existed is an error), query (as typed into the filter of the screen), level (debug, info, warn or error: the minimum level; by default info, unless the query says; the details of updates are at debug), source (all, build or runtime), span, since (a duration, a time, or save: the newest save of the resources), tail (the number of newest lines), after (the number of the line after which to continue), pod and container (a part of the name), text (a text that a line must contain, or match if it is written as /regex/), follow (true keeps sending until the session ends) and format (text or json). Letter case does not matter. A query is words that must all match. A word is a part of the text, "some words" a part with blanks, /…/ a regular expression. level:warn, source:build, container:main, pod:x2v1 and since:5m select as the parameters do, and status>=500 compares a field of a JSON or logfmt line. An exclamation mark before a word excludes what it matches. */
export interface LogLine {
  container?: string;
  /** Continues is set for a line that belongs to the same entry as the line before it in its stream, such as a line of a stack trace. */
  continues?: boolean;
  level?: string;
  /** Pod and Container name where the line comes from. Both are empty for a line that no container wrote. */
  pod?: string;
  /** Prefix is "[container] ", "[pod] " or "[pod container] " where a resource's lines come from several containers or pods. */
  prefix?: string;
  progressDone?: boolean;
  /** ProgressID is set for a line that replaces the previous line with the same id and span. ProgressDone marks the last line of such a series. */
  progressID?: string;
  /** Resource is the resource that the line belongs to; empty for lines that belong to none. */
  resource?: string;
  /** Seq is the number of the line. Numbers increase across all resources. The parameter "after" takes such a number. */
  seq?: number;
  /** Skipped is the number of lines that were dropped before they could be read. An object with this field has no other fields. */
  skipped?: number;
  /** Source is build, runtime, or empty for neither; Level is debug, info, warn or error. */
  source?: string;
  /** Span is the id of the piece of work that wrote the line, such as a build or one run of a container. */
  span?: string;
  text: string;
  time?: string;
}

/** LogNews is an event of type "log" of GET /api/page. Lines is the number of lines that the resources have written since the session began. */
export interface LogNews {
  lines: number;
}

/** LogSegment is a segment that holds lines of one resource. */
export interface LogSegment {
  /** First and Last are the numbers of the first and the last line, as in LogLine.Seq. */
  first: number;
  last: number;
  /** Lines is the number of lines. */
  lines: number;
  /** Spilled is true for a segment on disk. */
  spilled: boolean;
}

/** LogSpan is a piece of work, such as a build or one run of a container. */
export interface LogSpan {
  /** First and Last are the numbers of the first and the last line of the span that are kept. Lines of other spans may lie between them. */
  first: number;
  last: number;
  /** Span is the id of the span, as in LogLine.Span. */
  span: string;
}

/** LogWindow is the body of GET /api/logs/window: any part of the log, by position. The lines that a filter matches have the positions 0, 1, 2 and so on, which stay the same while the filter is in use. An end that lies before one that was sent earlier begins a new count. The parameters are resource, query, level, source, span, since, after, text, pod and container, as for GET /api/logs; from, the first position; and count, the number of positions, at most 1000. Without from, the window is the end of the log. */
export interface LogWindow {
  end: number;
  /** First is the position before which lines are no longer stored, and End the one after the newest line. */
  first: number;
  /** Lines are the lines of the window. Positions are missing where lines were dropped because of the bounds of the log. */
  lines: LogAt[];
}

/** LoopNumbers are the numbers of the loop. Times are in milliseconds. */
export interface LoopNumbers {
  actions: number;
  averageMs: number;
  batches: number;
  busyMs: number;
  lastMs: number;
  queued: number;
  slowestMs: number;
  took: BatchBucket[];
}

/** ModeRequest is the body of POST /api/mode, which sets the trigger mode of resources, regardless of the Tiltfile. Mode is auto or manual. */
export interface ModeRequest {
  manifest_names: string[];
  mode: string;
}

/** Object is the response to GET /api/object: an object that the session has applied, as the cluster has it now. */
export interface Object {
  /** YAML is for people: without the values of Secrets, and without fields that only programs read. */
  yaml: string;
}

/** Page is an event of GET /api/page, a stream of server-sent events: the session as its web page shows it. The first event has everything, and Whole is true. Each further one has the changes since the one before it, at most one per 50 ms; a client that reads slowly gets fewer, with all changes in them. In a session where nothing changes, nothing is sent. A client continues after the last event that it has: with the ID of that event in the header Last-Event-ID, or in the parameter since, the stream begins with the changes since that event. It begins with everything if the ID is from another session, or too old. The parameters are: since; detail, the name of a resource whose details are sent too; log, which may be repeated: the names of resources, or * for all; and follow: false requests a single event with everything that the client lacks now. With log the stream also has events of type "log", each a LogNews, at most one per 100 ms. */
export interface Page {
  /** Detail is sent at the beginning of each stream that has the parameter detail, and when it changes. It is absent for a resource that does not exist. */
  detail?: PageDetail;
  /** Now is the time of the session's machine. All times are taken from its clock. */
  now: string;
  /** Order are the names of all resources in the order of the Tiltfile, "(Tiltfile)" first; absent if it has not changed. */
  order?: string[];
  removed?: string[];
  /** Resources are those that are new or have changed, and Removed those that are gone. */
  resources?: PageResource[];
  session?: PageSession;
  whole?: boolean;
}

/** PageBuild is an update with its stages. All files are in Files. Span selects its lines in the log. */
export interface PageBuild {
  allFiles?: string[];
  cancelled?: boolean;
  /** Containers is the number of containers that were updated in place. */
  containers?: number;
  error?: string;
  fellBack?: string;
  fileCount?: number;
  files?: string[];
  finishedAt?: string;
  /** Mend tells how to fix the error, and Output holds the last lines before it. */
  mend?: string;
  mode?: string;
  ms?: number;
  output?: string[];
  progress?: Progress;
  reason?: string;
  /** Resources is the number of declared resources; only for evaluations of the Tiltfile. */
  resources?: number;
  serial: number;
  span?: string;
  stage?: string;
  stages?: PageStage[];
  startedAt: string;
  warnings?: number;
}

/** PageContainer is a container of a pod. Kind is ordinary, init or sidecar; State is waiting, running or terminated. ExitCode is set for a terminated container, and LastExitCode if there was a run before. */
export interface PageContainer {
  exitCode?: number;
  image?: string;
  kind: string;
  lastExitCode?: number;
  lastReason?: string;
  message?: string;
  name: string;
  ready?: boolean;
  reason?: string;
  restarts?: number;
  startedAt?: string;
  state: string;
}

/** PageDeclaration is a call of the Tiltfile that has shaped the resource, with its source. */
export interface PageDeclaration {
  call: string;
  file: string;
  line: number;
  source?: string[];
}

/** PageDetail is everything else about one resource. Updates are the newest first, the running one included. Files are the changed files that wait for an update. */
export interface PageDetail {
  /** ConfigFiles are the files whose change evaluates the Tiltfile again, and Warnings are the warnings of the last evaluation. Only the Tiltfile has them. Its evaluations are in Updates. */
  configFiles?: string[];
  definition?: PageDeclaration[];
  description?: string;
  /** Earlier are the updates of earlier sessions, newest first; each session counts its own. */
  earlier?: PageBuild[];
  events?: PageEvent[];
  files?: string[];
  images?: PageImage[];
  name: string;
  neededBy?: string[];
  /** NoForwards is the reason why no port can be forwarded to it; empty if one can. */
  noForwards?: string;
  objects?: PageObject[];
  pods?: PagePod[];
  process?: Process;
  serveCmd?: string;
  updateCmd?: string;
  updates?: PageBuild[];
  warnings?: string[];
}

/** PageEvent is an event of Kubernetes about an object of the resource. */
export interface PageEvent {
  count: number;
  firstSeen?: string;
  lastSeen: string;
  message: string;
  object: string;
  reason: string;
  warning?: boolean;
}

/** PageImage is an image of the resource, the images that it is built on, and the reference under which it was last deployed. */
export interface PageImage {
  builtOn?: string[];
  deployed?: string;
  name: string;
}

/** PageLink is an address of a resource. Name may be empty. */
export interface PageLink {
  name?: string;
  url: string;
}

/** PageNotice is a problem that belongs to no resource. Severity is error or warning. Act is the request with which the page can solve it: resume, prune or confirm; empty if there is none. */
export interface PageNotice {
  act?: string;
  cause?: string;
  mend?: string;
  severity: string;
  summary: string;
}

/** PageObject is an object that the resource has applied. What is set if the object differs from the applied one: changed, deleted or made again. Since is the time at which the difference was noticed, and Fields are the fields that differ: From is the value in the cluster, To the applied one. Keep is set if the session applies the object again by itself. */
export interface PageObject {
  fields?: FieldChange[];
  keep?: boolean;
  kind: string;
  name: string;
  namespace?: string;
  reason?: string;
  since?: string;
  what?: string;
}

/** PagePast says of which moment a snapshot is, and which version of hone ran the session. */
export interface PagePast {
  at: string;
  by: string;
}

/** PagePod is a pod, or a container of Compose. */
export interface PagePod {
  containers?: PageContainer[];
  createdAt?: string;
  current?: boolean;
  deleting?: boolean;
  failing?: boolean;
  name: string;
  namespace?: string;
  node?: string;
  ready?: boolean;
  status: string;
  why?: string;
}

/** PageRelapse is a container in a crash loop that runs again. Reason explains why its last run ended, for people. */
export interface PageRelapse {
  container: string;
  reason: string;
  restarts: number;
}

/** PageResource is one row. Status is idle, ok, warning, waiting, updating, failed or unknown: the same as the glyph on the screen. Type is tiltfile, k8s, compose or local. */
export interface PageResource {
  /** Behind is the number of containers in which an update is still running that the others already have. */
  behind?: number;
  /** Cluster is the name of the cluster that the resource is deployed to, in a session that works on several; otherwise absent. */
  cluster?: string;
  /** Current is the running update, and Last the newest completed one. */
  current?: PageUpdate;
  dependsOn?: string[];
  disabled?: boolean;
  /** Drift describes the changes that others made to its objects: "changed by kubectl-edit". */
  drift?: string;
  endpoints?: PageLink[];
  /** Error is the whole text of the error of the update, else of the runtime, else of a forward. */
  error?: string;
  forwards?: Forward[];
  labels?: string[];
  last?: PageUpdate;
  /** Leaving is set while the resource is being torn down. */
  leaving?: boolean;
  name: string;
  /** Pending is the number of changed files that wait for an update. */
  pending?: number;
  /** Relapse is set for a container in a crash loop that runs again at the moment. */
  relapse?: PageRelapse;
  runtime: PageRuntime;
  /** Start holds the times of its start; absent before its first update. */
  start?: PageStart;
  status: string;
  /** Text describes the resource's activity, or the thing that it lacks; empty while an update runs, and where Last describes it. */
  text?: string;
  triggerMode?: string;
  type: string;
  /** Waiting is the reason why the resource is not updated now. */
  waiting?: Waiting;
}

/** PageRuntime is the state of a resource's pods, containers or process. Status has the values of Resource.RuntimeStatus. Since is the time at which a running process was started. */
export interface PageRuntime {
  error?: string;
  pods?: number;
  ready?: number;
  restarts?: number;
  since?: string;
  status: string;
  text?: string;
}

/** PageSession is the part of a page that is about the session itself. */
export interface PageSession {
  /** Arguments are the arguments of the Tiltfile, and Buttons are all buttons that it declares, in its order. */
  arguments?: string[];
  buttons?: Button[];
  /** Clusters are the clusters of a session that works on several, its own first; absent for any other session. */
  clusters?: Cluster[];
  context?: string;
  ended?: boolean;
  /** Evaluation counts the evaluations of the Tiltfile; ConfirmRequest takes it. */
  evaluation?: number;
  namespace?: string;
  notices?: PageNotice[];
  /** Past is set for a snapshot: nothing changes, and requests that would change something are refused. */
  past?: PagePast;
  /** Paused is set while the session is paused, and Ended once it has ended. */
  paused?: boolean;
  /** Project is the name of the Tiltfile's folder. */
  project: string;
  /** Revisions are the last revisions of the project in each of its clusters, its own one first, and the newest one of each first. */
  revisions?: Revision[];
  /** Run identifies this run of the session. */
  run: string;
  startedAt: string;
  tiltfile: string;
  version: string;
}

/** PageStage is a stage of an update. */
export interface PageStage {
  ms: number;
  name: string;
}

/** PageStart holds the times of a resource's start. Began is the start of its first update since it was declared or enabled. Ready is the time at which it was first up to date and ready. */
export interface PageStart {
  began: string;
  ready?: string;
}

/** PageUpdate is an update in a row. Mode is "in place", image, local and so on; empty until it is known. Files are the first changed files, of FileCount. Milliseconds is its duration; an update in place takes from the save until the slowest container. */
export interface PageUpdate {
  cancelled?: boolean;
  error?: string;
  fellBack?: string;
  fileCount?: number;
  files?: string[];
  finishedAt?: string;
  mode?: string;
  ms?: number;
  progress?: Progress;
  reason?: string;
  serial: number;
  stage?: string;
  startedAt: string;
  warnings?: number;
}

/** Part is a subscriber of the loop. Stage is its stage in the order in which the parts start. WakeUps is the number of times that a change of a table which it reads has woken it, and Busy is the time that it has worked, in milliseconds. */
export interface Part {
  busyMs: number;
  crashes?: number;
  doc: string;
  externals?: string[];
  lastError?: string;
  name: string;
  reads: number;
  stage: number;
  state: string;
  wakeUps: number;
  writes: number;
}

/** PartEdge goes from a table to a part that reads it, from a part to a table through an action, or from a part to another. Kind is reads, holds, emits, follows, calls or external. Tables have the prefix "table:", and outside systems "external:". */
export interface PartEdge {
  action?: string;
  from: string;
  kind: string;
  to: string;
}

/** PauseRequest is the body of POST /api/pause. While a session is paused, updates begin only on request. */
export interface PauseRequest {
  /** Paused is true to pause the session, and false to resume it. */
  paused: boolean;
}

/** PauseResult is the response to a PauseRequest. Changed is false if the session was already in the requested state. Waiting lists the work that the paused session has held back so far. */
export interface PauseResult {
  changed: boolean;
  waiting: Paused;
}

/** Paused lists the work that a paused session holds back. */
export interface Paused {
  files: number;
  /** Resources are the resources whose updates wait, and Files is the number of their changed files. */
  resources: string[];
  since?: string;
  /** TiltfileFiles is the number of changed files of the Tiltfile. */
  tiltfileFiles: number;
}

/** Place is a place in a source file, as a person writes it. */
export interface Place {
  column?: number;
  /** File is relative to the Tiltfile's folder if it lies below it. */
  file: string;
  line: number;
}

/** Plan lists the changes that an operation would make, as the API server predicts them before anything is written. */
export interface Plan {
  context: string;
  /** Evaluation counts the evaluations of the Tiltfile in the session that made the plan; 0 without a session. ConfirmRequest takes it. */
  evaluation?: number;
  /** Images are the images that the operation would build, or take from a registry. */
  images?: PlanImage[];
  /** Revision is the revision whose differences from the one before the steps are; nil for a plan of changes to come. */
  revision?: Revision;
  /** Steps are in the order in which the operation would begin them. */
  steps: PlanStep[];
  /** Summary counts the steps by action. */
  summary: Record<string, number>;
  /** Tiltfile is the path of the Tiltfile, and Context the context of the kubeconfig. */
  tiltfile: string;
}

/** PlanImage is an image of the Tiltfile that has no build of the same inputs on this machine, or that hone preview --build has built. */
export interface PlanImage {
  /** Digest is its digest there or, of an image that a builder has built for hone preview --build, the digest that its name comes from: of its manifest or, where a node gets it, of its configuration. */
  digest?: string;
  /** ID is its content id in the engine; empty if the engine does not have it. */
  id?: string;
  /** Image is its reference in the Tiltfile, and Resources are the resources that use it. */
  image: string;
  inputs?: ImageInput[];
  /** Reason is the reason for the build in a few words, and Inputs are the inputs that differ from the last build, the most telling ones first. At most 100 of them are listed. */
  reason?: string;
  /** Reference is its name in the cluster; empty if that is known only after the build. */
  reference?: string;
  /** Registry is the registry that has it; empty for other sources. */
  registry?: string;
  resources: string[];
  source: string;
}

/** PlanObject identifies an object. */
export interface PlanObject {
  group?: string;
  kind: string;
  name: string;
  namespace?: string;
}

/** PlanStep is the action on one object. */
export interface PlanStep {
  action: string;
  /** Changed is set if the step runs something that is new or differs from the last run: its command, or the files and images that it is declared to depend on. */
  changed?: boolean;
  /** Cluster is the name of the declared cluster of the object; empty for the session's own. */
  cluster?: string;
  /** Declared is a hash of the declared object, with images that are not built; empty for a Secret and for objects that are no longer declared. */
  declared?: string;
  fields?: FieldChange[];
  /** Keep is set if a session applies the object again by itself when others change it (keep=True). */
  keep?: boolean;
  object: PlanObject;
  /** Reason is the reason for the action, in a few words; empty where Fields show it. */
  reason?: string;
  /** Resource is the resource that the object belongs to. */
  resource: string;
  /** UID is the UID of the object in the cluster; empty if there is none. */
  uid?: string;
}

/** Pod is a pod of a resource. Current is true for pods of the newest deploy. */
export interface Pod {
  createdAt: string;
  current: boolean;
  name: string;
  namespace: string;
  ready: boolean;
  restarts: number;
  status: string;
}

/** PodEvent describes a pod at the time of the event. */
export interface PodEvent {
  /** Current is true for a pod of the resource's newest deploy, false for older pods. */
  current: boolean;
  name: string;
  namespace: string;
  ready: boolean;
  restarts: number;
  /** Status is the status that kubectl shows. */
  status: string;
  /** Why is the reason why the pod will not become ready on its own. */
  why?: string;
}

/** PreviousRun is the response to GET /api/previous: the newest lines of the run of a container before its present one. */
export interface PreviousRun {
  lines: string[];
}

/** ProblemEvent describes a problem, its cause and its fix. */
export interface ProblemEvent {
  cause?: string;
  /** Detail is the related output or source text. */
  detail?: string;
  link?: string;
  /** Mend is the fix, including the command or line to paste. Link is the address of a page with more about it. */
  mend?: string;
  /** Summary is the problem in one line. */
  summary: string;
}

/** Process is the server of a local resource. State is starting, running, stopping, failed or stopped. Detail is the reason why a running server is not ready. ExitCode is set once the server has failed; it is -1 if the server could not be started. */
export interface Process {
  detail?: string;
  exitCode?: number;
  pid?: number;
  ready: boolean;
  startedAt: string;
  state: string;
}

/** ProgramEvent describes the program in a container that hone can restart in place. */
export interface ProgramEvent {
  container: string;
  /** ExitCode is the exit code of a program that has exited. */
  exitCode?: number;
  namespace: string;
  pod: string;
  /** Starts is the number of times the program was started. */
  starts: number;
}

/** Progress is the progress of the current stage of a running update. Kind is build, push, apply, start or run. Image is the image that is built or pushed, number Nth of Images. Step is the number of steps of its Dockerfile that have begun, and Steps is the number of all of them; both are absent while they are unknown, and for custom_build. Percent is the percentage of the image that has been pushed, if that is known. Waits is the reason why the stage pauses, and Since is the beginning of that pause, where it is known. */
export interface Progress {
  image?: string;
  images?: number;
  kind: string;
  nth?: number;
  percent?: number;
  since?: string;
  step?: number;
  steps?: number;
  waits?: string;
}

/** PruneRequest is the body of POST /api/prune, which deletes the objects that the Tiltfile no longer declares, even if there are many. */
export interface PruneRequest {
}

/** PullEvent describes the pull of an image by a node. */
export interface PullEvent {
  image: string;
  pod: string;
  /** TookMs is the time that the node needed, up to the time of the event. */
  tookMs: number;
}

/** ReadyEvent describes the first time that a resource is ready. */
export interface ReadyEvent {
  /** AfterMs is the time since the resource was declared or enabled. */
  afterMs: number;
}

/** Reason is a part of the answer to why a resource is as it is. */
export interface Reason {
  /** Failure explains a failure of the resource, or of one that it waits for. */
  failure?: Explanation;
  /** Text is a line: what the resource does, waits for, or lacks. Lines about the resources that it waits for are indented. */
  text?: string;
}

/** RequestEvent describes a request of a client of the session's API. */
export interface RequestEvent {
  /** By is the name of the client's token, "page" for the web page, or "owner" for the user's other programs. */
  by: string;
  /** Request is the last part of the request's path, such as trigger, or the method and the path of an object. */
  request: string;
  resources?: string[];
}

/** Resource is one resource. Type is k8s, local or compose. Status is idle, ok, warning, waiting, updating, failed or unknown: the same as the glyph on the screen; Error is the whole text of the error of the update, else of the runtime, else of a port. UpdateStatus is none, pending, in_progress, ok, error or not_applicable; RuntimeStatus is unknown, ok, pending, error, not_applicable or none. Disabled resources come last in a View; they have neither an update nor a runtime. */
export interface Resource {
  buildHistory?: Build[];
  /** Cluster is the name of the declared cluster that it is deployed to; absent for the session's own. */
  cluster?: string;
  currentBuild?: Build;
  disabled?: boolean;
  /** EarlierBuilds are the updates of earlier sessions, newest first; each session counts its own. */
  earlierBuilds?: Build[];
  error?: string;
  labels?: string[];
  lag?: Lag;
  name: string;
  pendingFiles?: string[];
  phase: string;
  pods?: Pod[];
  portForwards?: Forward[];
  process?: Process;
  /** Restart is the newest restart that the user requested; absent if there was none. */
  restart?: Restart;
  runtimeError?: string;
  runtimeStatus: string;
  runtimeText?: string;
  serviceUrls?: string[];
  status: string;
  synclets?: Synclet[];
  triggerMode: string;
  type: string;
  updateStatus: string;
  waiting?: Waiting;
}

/** ResourceSummary is the result of a resource. */
export interface ResourceSummary {
  buildMs: number;
  /** Builds is the number of updates that were started, and BuildMs is their total duration. */
  builds: number;
  name: string;
  /** Problem is the reason why the resource failed or could not finish, or which of its ports does not work; absent where nothing is wrong. */
  problem?: ProblemEvent;
  /** Restarts is the number of restarts of containers in the resource's pods. */
  restarts: number;
  runtimeStatus: string;
  /** Skipped is the reason why the resource does not count: disabled, or manual for a resource that waits for a trigger. */
  skipped?: string;
  /** Status is ok, failed, unfinished for a resource that was neither when the session ended, or skipped for a resource that does not count. */
  status: string;
  /** TookMs is the time from the resource's declaration until it was ready for the first time, or until the end of the session if it never was. */
  tookMs: number;
  /** Type is tiltfile, k8s, local or compose. */
  type: string;
  /** UpdateStatus is none, pending, in_progress, ok, error or not_applicable; RuntimeStatus is unknown, ok, pending, error, not_applicable or none. Both are the values at the end of the session. */
  updateStatus: string;
  /** Waits are the reasons why the resource waited, in the order in which the waits began. */
  waits?: Wait[];
}

/** ResourceWaits are the waits for one resource, in milliseconds. A wait lasts until the save ran in the slowest container, or until the deployed objects were ready. The numbers cover the newest 1,000 saves of the resource, and Total is the sum of their waits. InPlace counts the updates in place among them, and WorstUpdate is the number of the update that took longest. */
export interface ResourceWaits {
  inPlace: number;
  medianMs: number;
  resource: string;
  saves: number;
  totalMs: number;
  worstMs: number;
  worstUpdate: number;
}

/** Restart is a restart of a resource's pods or processes. FinishedAt is absent while it runs. Done lists the restarted pods or processes, in words; Error is the reason why something could not be restarted. */
export interface Restart {
  done?: string[];
  error?: string;
  finishedAt?: string;
  pods: boolean;
  requestedAt: string;
}

/** RestartEvent describes a restart that the user requested. */
export interface RestartEvent {
  /** Done lists the restarted pods or processes, in words. Error is the reason why something could not be restarted. Both are present only at the end. */
  done?: string[];
  error?: string;
  /** Pods is true if pods are replaced; otherwise processes are restarted where they run. */
  pods: boolean;
}

/** RestartRequest is the body of POST /api/restart, which restarts the pods or the processes of resources. */
export interface RestartRequest {
  manifest_names: string[];
  /** Pods replaces pods; otherwise processes are restarted where they run. */
  pods?: boolean;
}

/** Revision is one state of a project that was applied, as the ledger records it. */
export interface Revision {
  /** Began and Ended are times by the clock of the machine that applied it. */
  began?: string;
  /** By is the user and the machine. */
  by?: string;
  changed?: number;
  /** Cluster is the context of the declared cluster that it was applied to; empty for the project's own. The revisions of each cluster have numbers of their own. */
  cluster?: string;
  /** Command is the command that made the revision; empty for a project that was applied before there were revisions. */
  command?: string;
  /** Commit is the commit of the working tree, if it is under version control. Uncommitted is set if tracked files differed from it. */
  commit?: string;
  created?: number;
  deleted?: number;
  digest?: string;
  ended?: string;
  evaluation?: number;
  /** Failures are the resources whose last update has failed, divided by spaces. */
  failures?: string;
  forgotten?: number;
  /** Number is 1 for the first revision of a project, and never given twice. */
  number: number;
  /** Objects is the number of recorded objects. */
  objects: number;
  phase: string;
  /** Run and Evaluation identify the operation: the session, and the number of its evaluation of the Tiltfile. */
  run?: string;
  /** Tiltfile is the path of the Tiltfile from the root of the working tree; without version control, its name. Digest is the digest of the files that its evaluation has read: equal files have equal digests on every machine. */
  tiltfile?: string;
  uncommitted?: boolean;
}

/** ScreenRequest is the body of POST /api/screen: the user of a screen, which reads GET /api/snapshot/follow with this id, has selected a resource. Selected is empty for none. */
export interface ScreenRequest {
  id: string;
  selected: string;
}

/** ServerEvent describes the server of a local resource. */
export interface ServerEvent {
  /** Detail is the reason why the server is not ready, as reported by its probe. */
  detail?: string;
  error?: string;
  /** ExitCode and Error are set for a server that has failed. ExitCode is -1 if the server could not be started. */
  exitCode?: number;
  pid?: number;
}

/** SessionEvent describes the session. */
export interface SessionEvent {
  /** Command is up or ci. */
  command: string;
  /** Failure is the reason why the session failed; absent when it succeeded or is still running. */
  failure?: string;
  /** Tiltfile is an absolute path. */
  tiltfile: string;
  /** URL is the address of the session's API. */
  url?: string;
}

/** SettleReport is the response to POST /api/settle/report, and the output of "hone settle -o json". */
export interface SettleReport {
  /** ExitCode is the exit code of hone settle: 0 for live, 1 for failing, 3 for unknown, 124 for waiting when the time was up. */
  exitCode: number;
  /** Line is the line that was asked for, once there is one. */
  line?: LogLine;
  place?: SourcePlace;
  /** Problem is the failure of the Tiltfile. */
  problem?: ProblemEvent;
  /** Resources are in the order of the Tiltfile. */
  resources: SettledResource[];
  result: string;
  /** SavedAt is the time of the newest save of these resources; absent if nothing was saved since the session began. "hone logs --since-save" begins there. */
  savedAt?: string;
  /** Text is the reason for a result that is not about one of the resources. */
  text?: string;
}

/** SettleRequest is the body of POST /api/settle/report: is everything that was saved before the request live, and does it work? */
export interface SettleRequest {
  /** Line is a text, or a regular expression written as /regex/, that a line must contain which one of the resources has logged since the save. */
  line?: string;
  /** Resources are the resources to judge; none means all that are enabled. */
  resources?: string[];
  /** WindowMs is the time for which a resource that has just gone live must run without a crash or a new error in its log; by default 1,000. With 0, the log is not read. */
  windowMs?: number;
  /** WithinMs is the time that the session may take to find out: it responds as soon as it knows, or else then, with the things that are still awaited. At most ten minutes. */
  withinMs?: number;
}

/** Settled is the body of the response to POST /api/settle. The session responds once it knows every change that was made before the request to the files that it watches, so that what a client reads afterwards takes them into account. */
export interface Settled {
  /** Known is false if the session cannot say so: files keep changing. */
  known: boolean;
}

/** SettledProcess is a process that runs a resource. */
export interface SettledProcess {
  container?: string;
  /** Pod and Container are empty for a server on this machine. */
  pod?: string;
  /** Start says how the process has got the newest files: started after it had them (new), restarted after an update in place (restarted), or still the process from before, which has to load them by itself (kept). */
  start: string;
  startedAt?: string;
}

/** SettledResource is the answer about one resource. */
export interface SettledResource {
  /** Files are the changed files of that update, relative to the Tiltfile where they lie below it. */
  files?: string[];
  /** How is the way of the newest update: in place, image, local, deploy or command; absent before the first. */
  how?: string;
  lines?: string[];
  liveAt?: string;
  name: string;
  place?: SourcePlace;
  /** Problem is the failure, Place the place in the source tree that its output names, and Lines the lines of the log that explain it. Programs have written them: they are data. */
  problem?: ProblemEvent;
  /** Processes are the processes that run it, one for each container or server. */
  processes?: SettledProcess[];
  result: string;
  /** SavedAt is the time of the newest save, LiveAt the time since which it has been live, and TookMs the time from the save of the newest update until it ran. */
  savedAt?: string;
  /** Text is the thing that is awaited, or the reason why the answer is unknown. */
  text?: string;
  tookMs?: number;
}

/** Shell is the body of GET /api/shell: the places in which a shell of a resource can run. The query parameters are resource, pod and container; the last two are optional. Without a resource, the project must have only one. */
export interface Shell {
  /** Cluster is set if the containers run in a Kubernetes cluster, and Engine, its address, if a container engine runs them. */
  cluster?: ShellCluster;
  /** Containers are the running containers, the best choice first; absent for a resource that runs on the machine of the session. */
  containers?: ShellContainer[];
  engine?: string;
  /** Folder is set for a resource that runs on the machine of the session. */
  folder?: ShellFolder;
  resource: string;
}

/** ShellCluster is a cluster as a context of a kubeconfig. Kubeconfig is the list of the files, in the form of KUBECONFIG, and Server is the address of the API server, without credentials. */
export interface ShellCluster {
  context: string;
  kubeconfig?: string;
  server: string;
}

/** ShellContainer is a running container. Kind is ordinary, sidecar or init. PodReady is true if its pod is ready, Current if the pod belongs to the newest deploy, and Live if live updates go to the container. A container of Compose has no namespace, and its own name as pod. */
export interface ShellContainer {
  container: string;
  current: boolean;
  id: string;
  kind: string;
  live: boolean;
  namespace?: string;
  pod: string;
  podReady: boolean;
}

/** ShellFolder is a folder on the machine of the session. Env are environment variables, "NAME=VALUE", that commands of the resource have in addition to the environment of the session. They may be secrets: only clients at the session's socket get them. */
export interface ShellFolder {
  dir: string;
  env?: string[];
}

/** Snapshot is the state of a session at one moment. "hone snapshot create" and --output-snapshot-on-exit write it, "hone snapshot view" shows it, and GET /api/snapshot serves it. All secrets that the session knows are removed. */
export interface Snapshot {
  /** CreatedAt is the time at which the snapshot was created. */
  createdAt: string;
  /** Events are the newest events of the session. Snapshots of older versions of hone have none. */
  events?: Event[];
  /** Logs are the newest lines of each resource, in the order in which they were written: up to 10,000 lines or 2 MiB of text per resource. */
  logs: LogLine[];
  /** LogsLeftOut is, by resource, the number of older lines that are not in Logs, whether the session still had them or had already dropped them. */
  logsLeftOut: Record<string, number>;
  /** Snapshot is the number of the store's snapshot. */
  snapshot: number;
  /** SnapshotVersion is the version of the schema. A document without it is not a snapshot of hone. */
  snapshotVersion: number;
  /** Tables are the entries of every table of the store, by table name, sorted by id. Their content is internal and may differ between versions of hone. */
  tables: Record<string, TableEntry[]>;
  /** Version is the version of hone that ran the session. */
  version: string;
  /** View is the response of GET /api/view at that moment. Scripts should read this field. */
  view: View;
}

/** SnapshotChange is a part of the response to GET /api/snapshot/follow: a Snapshot comes first, and then any number of changes, until the session ends. */
export interface SnapshotChange {
  at: string;
  gone?: Record<string, string[]>;
  /** Logs are new lines, in the order in which they were written. */
  logs?: LogLine[];
  /** LoopMicros is the duration of the newest batch of the store, in microseconds. */
  loopMicros?: number;
  /** Over is set in the last change: the session has ended. */
  over?: boolean;
  /** Snapshot is the number of the store's snapshot, and At its time. */
  snapshot: number;
  /** Tables are the entries that are new or have changed, and Gone the ids of those that are no longer there, by table name. */
  tables?: Record<string, TableEntry[]>;
}

/** SourcePlace is a place in a source file. */
export interface SourcePlace {
  column?: number;
  /** File is an absolute path. Line and Column count from 1; Column is absent if it is not known. */
  file: string;
  line: number;
}

/** Stages are the durations of the stages of an in-place update. Each stage begins where the previous one ended: noticed lasts from the save until hone noticed it, waited until the update of the container began, sent until the last byte was sent, applied until the container acknowledged that the files are in place, ran until the commands had ended, restarted until the new process was running. A stage that did not take place is zero: where an update goes through exec or a container engine, sending and applying are one stage. */
export interface Stages {
  appliedMs: number;
  noticedMs: number;
  ranMs: number;
  restartedMs: number;
  sentMs: number;
  waitedMs: number;
}

/** StateTable is a table of the store, with the number of its entries. */
export interface StateTable {
  doc: string;
  entries: number;
  name: string;
}

/** Status is the answer to how a session is: GET /api/status. */
export interface Status {
  cluster?: string;
  /** Clusters are the clusters of a session that works on several, its own first. */
  clusters?: Cluster[];
  failed: number;
  /** Findings are notices, then failures, causes first, then the resources that are not simply well, in the order of the screen. */
  findings: StatusFinding[];
  idle: number;
  /** OK, Updating, Waiting, Failed, Unknown and Idle count the resources. */
  ok: number;
  /** Session is the name of the session, and Cluster the name of its place in the cluster. */
  session: string;
  tiltfile: string;
  unknown: number;
  updating: number;
  waiting: number;
}

/** StatusFinding is a thing to know about a session: a notice, a failure, or a resource that is not simply well. */
export interface StatusFinding {
  /** Cluster is the cluster of the resource, in a session that works on several. */
  cluster?: string;
  /** Failure explains a failure. */
  failure?: Explanation;
  /** Kind is notice, failure, or the status of a resource: waiting, updating, warning or unknown. */
  kind: string;
  resource?: string;
  /** Text describes it in one line; empty for a failure. */
  text?: string;
}

/** Subscriber is one of hone's internal components. State is running, backing off or done. */
export interface Subscriber {
  crashes: number;
  error?: string;
  name: string;
  state: string;
}

/** Summary is the result of a session of "hone ci", with the result of each resource. */
export interface Summary {
  /** ExitCode is the exit code of hone ci: 0 for success, 1 for a failure, 124 for a timeout, 5 for an error in the Tiltfile, 130 when it was interrupted. */
  exitCode: number;
  /** Failure is the reason why the session failed, in words. */
  failure?: string;
  /** Missed is the number of events that are missing from the summary. */
  missed?: number;
  /** Resources are in the order of the Tiltfile. The Tiltfile itself comes first, under the name "(Tiltfile)". Disabled resources come last. */
  resources: ResourceSummary[];
  /** Result is ok, failed, timeout, tiltfile-error, interrupted, or stopped for a session that "hone stop" ended. */
  result: string;
  startedAt: string;
  /** Tiltfile is an absolute path. */
  tiltfile: string;
  tookMs: number;
}

/** SwitchRequest is the body of POST /api/switch, which enables or disables any number of resources at once. The Tiltfile itself can be neither enabled nor disabled. A name or a label that no resource has is an error, and then no resource is changed. */
export interface SwitchRequest {
  all?: boolean;
  labels?: string[];
  /** ManifestNames, Labels and All select the resources: those with one of these names, those with one of these labels, or all. One of them must be set. All excludes the other two. */
  manifest_names?: string[];
  /** Only gives all other resources the opposite state. */
  only?: boolean;
  /** State is the desired state of the resources: enabled or disabled. */
  state: string;
}

/** SwitchResult is the response to a SwitchRequest, sent once the session has accepted the request. The resources are in the order in which the Tiltfile declares them; lists without elements are [], never null. */
export interface SwitchResult {
  disabled: string[];
  /** Enabled and Disabled are the resources that this request enabled and disabled. */
  enabled: string[];
  /** Unchanged are the selected resources that already were in the desired state. */
  unchanged: string[];
}

/** Synclet is the program that hone runs in a container to receive files. State is starting, ready, broken or failed. Way is how the synclet got into the container; Passed is the reason why the ways that were tried before it did not work. */
export interface Synclet {
  container: string;
  error?: string;
  passed?: string;
  pod: string;
  state: string;
  way?: string;
}

/** TableEntry is an entry of a table of the store, with its metadata. */
export interface TableEntry {
  /** Created is the time at which the entry was created, and Updated is the time of its last change. */
  created: string;
  /** Entry is the value. "hone explain TABLE.entry" describes its fields. */
  entry: unknown;
  /** Finalizers are the components of hone that still hold the entry. */
  finalizers?: string[];
  /** ID is the entry's id in its table. */
  id: string;
  /** Labels are the labels of the entry. */
  labels?: Record<string, string>;
  /** Owner is the component of hone whose action created the entry. */
  owner?: string;
  /** Phase is running, or tearing-down for an entry that waits for its finalizers to be removed. */
  phase: string;
  updated: string;
  /** Version increases by one with each change of the entry, from 1. */
  version: number;
}

/** TakenDownRequest is the body of POST /api/taken_down. It announces that another process, such as "hone down", is about to delete objects of resources. The session stops the running updates of these resources, responds when they have ended, and does not deploy the resources again until the user requests it. */
export interface TakenDownRequest {
  /** By describes who deletes the objects, for display. */
  by: string;
  /** ManifestNames are the names of the resources; empty for all. */
  manifest_names?: string[];
}

/** TestCase is a single test. */
export interface TestCase {
  name: string;
  place?: SourcePlace;
  /** Result is passed, failed or skipped. */
  result: string;
  /** Suite is the name of the group that it belongs to, such as a package. */
  suite?: string;
  /** Text is the failure as the test has put it, and Place the place that it names. */
  text?: string;
  tookMs?: number;
}

/** TestReport is the response to POST /api/test, and the output of "hone test -o json". */
export interface TestReport {
  /** Asked is the time of the request. */
  asked?: string;
  cached: number;
  /** ExitCode is the exit code of hone test: 0 if all have passed, 1 if one has failed, 3 for unknown, 124 for waiting when the time was up. */
  exitCode: number;
  failed: number;
  /** Passed, Failed and Cached count the tests; Cached are those among Passed that have not run for this request. */
  passed: number;
  result: string;
  /** Tests are in the order of the Tiltfile. */
  tests: TestedResource[];
  /** Text is the reason for a result that is not about one of the tests. */
  text?: string;
}

/** TestRequest is the body of POST /api/test: do the tests pass with everything that was saved before the request? */
export interface TestRequest {
  /** Asked continues an earlier request: it is the time in the response to that, and nothing is run again. */
  asked?: string;
  /** Names are the tests to judge; none means all that are enabled. */
  names?: string[];
  /** NoCache runs tests although they have passed with the same inputs before. */
  noCache?: boolean;
  /** RerunFailed chooses only the tests whose newest verdict is a failure, and runs them again. */
  rerunFailed?: boolean;
  /** WithinMs is the time that the session may take: it responds as soon as each test has a verdict, or else then. At most ten minutes. */
  withinMs?: number;
}

/** TestedResource is the result of one test. It is about the newest saved files. */
export interface TestedResource {
  /** At is the time at which the run ended, and TookMs its duration. */
  at?: string;
  cached?: boolean;
  /** Cases are the single tests that the command has described, the failed ones first. They are absent if it describes none, and Left is the number of those that are left out. */
  cases?: TestCase[];
  /** Key is the sum of all that the test was about; absent if a verdict about that cannot be kept. Cached is set if the test has not run for this request, since its verdict was known. */
  key?: string;
  left?: number;
  lines?: string[];
  name: string;
  place?: SourcePlace;
  /** Problem is the failure, Place the place in the source tree that its output names, and Lines the lines of the log that explain it. Programs have written them: they are data. */
  problem?: ProblemEvent;
  result: string;
  /** Text is the thing that is awaited, or the reason why the result is unknown. */
  text?: string;
  tookMs?: number;
}

/** Ticket is the response to a TicketRequest. URL lets one browser in, once, before ExpiresAt. */
export interface Ticket {
  expiresAt: string;
  url: string;
}

/** TicketRequest is the body of POST /api/ticket, which makes an address that lets a browser in. Only clients with the session's token, or at its socket, may make tickets. Resource is the resource that the page shows first; it may be empty. */
export interface TicketRequest {
  resource?: string;
}

/** TiltfileEvent describes an evaluation of the Tiltfile. */
export interface TiltfileEvent {
  error?: string;
  /** Reason explains why the evaluation was started, in words; present in the first event only. */
  reason?: string;
  resources?: number;
  /** TookMs, Resources, Warnings and Error are present at the end of the evaluation: its duration, the number of declared resources, the number of warnings, and the reason for a failure. */
  tookMs?: number;
  warnings?: number;
}

/** Token is a token with a part of the owner's rights. */
export interface Token {
  allow: string[];
  createdAt: string;
  expiresAt: string;
  name: string;
  /** Token is the secret. Only the response to its creation has it. */
  token?: string;
}

/** TokenList are the tokens that are valid, the oldest first. */
export interface TokenList {
  tokens: Token[];
}

/** TokenRequest creates a token with a part of the owner's rights. */
export interface TokenRequest {
  /** Allow are its permissions. It also has status. */
  allow: string[];
  /** ForMs is its life, up to LongestToken. It ends with the session at the latest. */
  forMs: number;
  /** Name says in events, updates and logs who made a request: up to 63 letters, digits, dots, hyphens and underscores. No two tokens of a session have the same name. */
  name: string;
}

/** TokenRevocation ends a token. */
export interface TokenRevocation {
  name: string;
}

/** TriggerRequest is the body of POST /api/trigger. The field name is the one that scripts for Tilt use. */
export interface TriggerRequest {
  manifest_names: string[];
  /** NoCache requests updates from scratch: images are built without a cache, and all pods are replaced. */
  no_cache?: boolean;
}

/** UpdateEvent describes an update of a resource. */
export interface UpdateEvent {
  /** BuildOnly is set if it builds images and deploys nothing, while the resource waits for others. */
  buildOnly?: boolean;
  cancelled?: boolean;
  /** Containers holds the result for each container of an in-place update, with the time of each stage. */
  containers?: ContainerUpdate[];
  /** Error is the reason why the update failed, with the fix where one is known; absent when it did not fail. A cancelled update was superseded by a newer change or is no longer needed; it has neither failed nor succeeded. */
  error?: string;
  /** FellBack is the reason why a faster mode could not be used. */
  fellBack?: string;
  /** Files are the first of the changed files that the update includes, and Total is the number of such files. Paths below the Tiltfile's folder are relative to it. */
  files?: string[];
  /** LayersAhead are the transfers of layers to the cluster beside the steps. */
  layersAhead?: LayersAhead[];
  /** Mode is the way in which the update was done: synclet, container, exec, image, deploy, local or compose. Mode and all fields after it are present only at the end of the update. */
  mode?: string;
  /** Reason explains why the update was started, in words. */
  reason?: string;
  /** Serial numbers the updates of the resource, from 1. */
  serial: number;
  /** StartedAt is the time of the snapshot that the update is based on: it includes every change up to then. */
  startedAt: string;
  /** Steps are the steps of an update that is not in place; the last one of a failed update is the one that failed. */
  steps?: UpdateStep[];
  tookMs?: number;
  total?: number;
  warnings?: number;
}

/** UpdateStep is a step of an update that is not in place. */
export interface UpdateStep {
  /** Image is the image that the step is about; absent for the others. */
  image?: string;
  /** Kind is build, push, apply, start, run and so on. */
  kind: string;
  tookMs: number;
}

/** View is the body of GET /api/view: the whole session at one moment. */
export interface View {
  buttons: Button[];
  clusterError?: string;
  /** Clusters are the clusters of a session that works on several, its own first; absent for any other session. Context, Namespace and ClusterError belong to its own. */
  clusters?: Cluster[];
  commands: Command[];
  context?: string;
  engineError?: string;
  namespace?: string;
  /** Paused is set while the user has paused the session. */
  paused?: Paused;
  resources: Resource[];
  /** Revisions are the last revisions of the project in each of its clusters, its own one first, and the newest one of each first, as far as the session has read and written the ledgers. */
  revisions: Revision[];
  startedAt: string;
  subscribers: Subscriber[];
  tiltfile: string;
  tiltfileError?: string;
  version: string;
  /** WatchError is the reason why files cannot be watched properly; absent when they can. */
  watchError?: string;
}

/** Wait is one reason why a resource waited. */
export interface Wait {
  ms: number;
  /** On lists the resources that it waited for. */
  on?: string[];
  /** Open is set for a wait that had not ended when the session ended. */
  open?: boolean;
  /** Reason is one of the reasons of HoldEvent, or not-ready for a resource that was updated but not yet ready. */
  reason: string;
  /** Text is the reason in words. */
  text: string;
}

/** Waiting is the reason why a resource is not updated now, and the resources that it waits for. */
export interface Waiting {
  on?: string[];
  reason: string;
  text: string;
}

/** Waits is the body of GET /api/waits: how long saves took until they ran, since the session began. Resources are those with saves, in the order of the Tiltfile. */
export interface Waits {
  medianMs: number;
  resources: ResourceWaits[];
  saves: number;
  worstMs: number;
}

/** Waterfall shows where the time of the start of a session went: GET /api/waterfall. */
export interface Waterfall {
  /** Critical are the pieces that decided the end, one after the other: together they last for the whole time. */
  critical: WaterfallSpan[];
  /** Missed is the number of events that are missing: the beginning may be, too. */
  missed?: number;
  /** Rows are the resources in the order in which they began. */
  rows: WaterfallRow[];
  start: string;
  /** TookMs is the time from Start until the last resource was ready first, or until now. */
  tookMs: number;
}

/** WaterfallRow holds the spans of a resource. */
export interface WaterfallRow {
  critical?: boolean;
  /** Layers are the transfers of layers that went to the cluster beside the builds of its images. */
  layers?: WaterfallSpan[];
  resource: string;
  spans: WaterfallSpan[];
}

/** WaterfallSpan is a part of the time of a resource. */
export interface WaterfallSpan {
  failed?: boolean;
  /** FromMs and ToMs count from Start. */
  fromMs: number;
  /** Kind is evaluate, wait, update, pull, ready, other, layers, or the kind of a step of an update. */
  kind: string;
  /** On lists the resources that a wait waits for. */
  on?: string[];
  /** Resource is present for pieces of the critical path. */
  resource?: string;
  /** Text describes it in words. */
  text: string;
  toMs: number;
}

/** Why is the answer to why a resource is as it is: GET /api/why. */
export interface Why {
  reasons: Reason[];
}
