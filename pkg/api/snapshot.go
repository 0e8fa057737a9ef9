package api

import (
	"encoding/json"
	"time"
)

// SnapshotVersion is the version of the schema of snapshots. Within one version fields and tables are added, never changed
// or removed.
const SnapshotVersion = 1

// Snapshot is the state of a session at one moment. "hone snapshot create" and --output-snapshot-on-exit write it, "hone
// snapshot view" shows it, and GET /api/snapshot serves it. All secrets that the session knows are removed.
type Snapshot struct {
	// SnapshotVersion is the version of the schema. A document without it is not a snapshot of hone.
	SnapshotVersion int `json:"snapshotVersion"`
	// CreatedAt is the time at which the snapshot was created.
	CreatedAt time.Time `json:"createdAt"`
	// Version is the version of hone that ran the session.
	Version string `json:"version"`
	// View is the response of GET /api/view at that moment. Scripts should read this field.
	View View `json:"view"`
	// Snapshot is the number of the store's snapshot.
	Snapshot uint64 `json:"snapshot"`
	// Tables are the entries of every table of the store, by table name, sorted by id. Their content is internal and may
	// differ between versions of hone.
	Tables map[string][]TableEntry `json:"tables"`
	// LogsLeftOut is, by resource, the number of older lines that are not in Logs, whether the session still had them or had
	// already dropped them.
	LogsLeftOut map[string]uint64 `json:"logsLeftOut"`
	// Logs are the newest lines of each resource, in the order in which they were written: up to 10,000 lines or 2 MiB of
	// text per resource.
	Logs []LogLine `json:"logs"`
	// Events are the newest events of the session. Snapshots of older versions of hone have none.
	Events []Event `json:"events,omitempty"`
}

// SnapshotChange is a part of the response to GET /api/snapshot/follow: a Snapshot comes first, and then any number of changes, until the
// session ends.
type SnapshotChange struct {
	// Snapshot is the number of the store's snapshot, and At its time.
	Snapshot uint64    `json:"snapshot"`
	At       time.Time `json:"at"`
	// Tables are the entries that are new or have changed, and Gone the ids of those that are no longer there, by table name.
	Tables map[string][]TableEntry `json:"tables,omitempty"`
	Gone   map[string][]string     `json:"gone,omitempty"`
	// Logs are new lines, in the order in which they were written.
	Logs []LogLine `json:"logs,omitempty"`
	// LoopMicros is the duration of the newest batch of the store, in microseconds.
	LoopMicros int64 `json:"loopMicros,omitempty"`
	// Over is set in the last change: the session has ended.
	Over bool `json:"over,omitempty"`
}

// TableEntry is an entry of a table of the store, with its metadata.
type TableEntry struct {
	// ID is the entry's id in its table.
	ID string `json:"id"`
	// Phase is running, or tearing-down for an entry that waits for its finalizers to be removed.
	Phase string `json:"phase"`
	// Version increases by one with each change of the entry, from 1.
	Version uint64 `json:"version"`
	// Owner is the component of hone whose action created the entry.
	Owner string `json:"owner,omitempty"`
	// Finalizers are the components of hone that still hold the entry.
	Finalizers []string `json:"finalizers,omitempty"`
	// Labels are the labels of the entry.
	Labels map[string]string `json:"labels,omitempty"`
	// Created is the time at which the entry was created, and Updated is the time of its last change.
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	// Entry is the value. "hone explain TABLE.entry" describes its fields.
	Entry json.RawMessage `json:"entry"`
}

// EngineDump is the body of GET /api/dump/engine and the output of "hone dump engine": the whole store.
type EngineDump struct {
	// Version is the version of hone.
	Version string `json:"version"`
	// CreatedAt is the time at which the dump was created.
	CreatedAt time.Time `json:"createdAt"`
	// Snapshot is the number of the store's snapshot.
	Snapshot uint64 `json:"snapshot"`
	// Loop and Controllers are the objects of the kinds Loop and Controller: the status of the store's loop and of hone's
	// internal components.
	Loop        json.RawMessage   `json:"loop"`
	Controllers []json.RawMessage `json:"controllers"`
	// Tables have the same form as the tables of a Snapshot.
	Tables map[string][]TableEntry `json:"tables"`
}

// LogDump is the body of GET /api/dump/logstore and the output of "hone dump logstore": all logs that are kept.
type LogDump struct {
	// CreatedAt is the time at which the dump was created.
	CreatedAt time.Time `json:"createdAt"`
	// Resources describe the kept log text of each resource, and its storage.
	Resources []LogInventory `json:"resources"`
	// Lines are all lines that are kept, in the order in which they were written.
	Lines []LogLine `json:"lines"`
}

// LogInventory describes the log lines that are kept of one resource.
type LogInventory struct {
	// Resource is the name of the resource; empty for lines that belong to none.
	Resource string `json:"resource"`
	// Lines is the number of lines that are kept, and Dropped is the number of lines that were dropped for lack of room.
	Lines   uint64 `json:"lines"`
	Dropped uint64 `json:"dropped"`
	// MemoryBytes and DiskBytes are the space that the lines take. They are compressed on disk.
	MemoryBytes int64 `json:"memoryBytes"`
	DiskBytes   int64 `json:"diskBytes"`
	// Segments are the segments that hold the lines, in the order of their lines.
	Segments []LogSegment `json:"segments"`
	// Spans are the pieces of work that wrote the lines, in the order of their first lines.
	Spans []LogSpan `json:"spans"`
}

// LogSegment is a segment that holds lines of one resource.
type LogSegment struct {
	// First and Last are the numbers of the first and the last line, as in LogLine.Seq.
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
	// Lines is the number of lines.
	Lines int `json:"lines"`
	// Spilled is true for a segment on disk.
	Spilled bool `json:"spilled"`
}

// LogSpan is a piece of work, such as a build or one run of a container.
type LogSpan struct {
	// Span is the id of the span, as in LogLine.Span.
	Span string `json:"span"`
	// First and Last are the numbers of the first and the last line of the span that are kept. Lines of other spans may lie
	// between them.
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
}
