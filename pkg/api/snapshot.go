package api

import (
	"encoding/json"
	"time"
)

// SnapshotVersion is the version of the schema of snapshots. Within one version fields and tables are added, never changed
// or removed.
const SnapshotVersion = 1

// Snapshot is a session at one moment: what "hone snapshot create" and --output-snapshot-on-exit write, "hone snapshot view"
// shows, and GET /api/snapshot serves. Secrets that the session knows of are taken out of all of it.
type Snapshot struct {
	// SnapshotVersion is the version of the schema; what has none is no snapshot of hone's.
	SnapshotVersion int `json:"snapshotVersion"`
	// CreatedAt is the moment.
	CreatedAt time.Time `json:"createdAt"`
	// Version is that of the hone that ran the session.
	Version string `json:"version"`
	// View is what GET /api/view served then: what scripts are to read.
	View View `json:"view"`
	// Snapshot is the number of the store's snapshot.
	Snapshot uint64 `json:"snapshot"`
	// Tables are the entries of every table of the store, by the name of the table and in the order of their ids. What is in
	// them belongs to the hone that wrote it, and may differ in another.
	Tables map[string][]TableEntry `json:"tables"`
	// LogsLeftOut counts, by resource, the older lines that were kept but are not in Logs, and those that were kept no longer.
	LogsLeftOut map[string]uint64 `json:"logsLeftOut"`
	// Logs are the newest lines of each resource, in the order in which they were said: of each up to 10,000 lines, or 2 MiB
	// of text.
	Logs []LogLine `json:"logs"`
}

// TableEntry is an entry of a table of the store, with its metadata.
type TableEntry struct {
	// ID is the entry's id in its table.
	ID string `json:"id"`
	// Phase is running, or tearing-down for an entry that waits for its finalizers to let go.
	Phase string `json:"phase"`
	// Version counts the changes of the entry, from 1.
	Version uint64 `json:"version"`
	// Owner names the part of hone whose action created the entry.
	Owner string `json:"owner,omitempty"`
	// Finalizers are the parts of hone that hold the entry.
	Finalizers []string `json:"finalizers,omitempty"`
	// Labels are those of the entry.
	Labels map[string]string `json:"labels,omitempty"`
	// Created and Updated are when the entry came, and when it last changed.
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	// Entry is the value. "hone explain TABLE.entry" says what its fields mean.
	Entry json.RawMessage `json:"entry"`
}

// EngineDump is the body of GET /api/dump/engine, and what "hone dump engine" prints: the whole store.
type EngineDump struct {
	// Version is that of hone.
	Version string `json:"version"`
	// CreatedAt is when it was made.
	CreatedAt time.Time `json:"createdAt"`
	// Snapshot is the number of the store's snapshot.
	Snapshot uint64 `json:"snapshot"`
	// Loop and Controllers are the objects of the kinds Loop and Controller: how the store's loop and hone's own parts do.
	Loop        json.RawMessage   `json:"loop"`
	Controllers []json.RawMessage `json:"controllers"`
	// Tables are as those of a Snapshot.
	Tables map[string][]TableEntry `json:"tables"`
}

// LogDump is the body of GET /api/dump/logstore, and what "hone dump logstore" prints: all logs that are kept.
type LogDump struct {
	// CreatedAt is when it was made.
	CreatedAt time.Time `json:"createdAt"`
	// Resources say how much is kept of each, and where.
	Resources []LogInventory `json:"resources"`
	// Lines are all lines that are kept, in the order in which they were said.
	Lines []LogLine `json:"lines"`
}

// LogInventory says what is kept of what one resource has said.
type LogInventory struct {
	// Resource is its name; empty for what belongs to none.
	Resource string `json:"resource"`
	// Lines counts the lines that are kept, and Dropped those that there was no room for.
	Lines   uint64 `json:"lines"`
	Dropped uint64 `json:"dropped"`
	// MemoryBytes and DiskBytes are what they take; on disk they are compressed.
	MemoryBytes int64 `json:"memoryBytes"`
	DiskBytes   int64 `json:"diskBytes"`
	// Segments are the pieces in which they are kept, in the order of their lines.
	Segments []LogSegment `json:"segments"`
	// Spans are the pieces of work that said them, in the order of their first lines.
	Spans []LogSpan `json:"spans"`
}

// LogSegment is a piece in which lines of one resource are kept.
type LogSegment struct {
	// First and Last are the numbers of the first and the last line, as LogLine's seq.
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
	// Lines counts the lines.
	Lines int `json:"lines"`
	// Spilled says that it lies on disk.
	Spilled bool `json:"spilled"`
}

// LogSpan is a piece of work: a build, a container's run.
type LogSpan struct {
	// Span is its id, as LogLine's span.
	Span string `json:"span"`
	// First and Last are the numbers of its first and its last line that are kept. Lines of others may lie between them.
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
}
