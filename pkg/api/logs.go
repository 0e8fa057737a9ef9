package api

import "time"

// LogLine is a line of GET /api/logs?format=json. The response has one such object per line.
//
// The parameters of GET /api/logs are: resource (may be repeated, or be a comma-separated list; once the Tiltfile was
// evaluated, the name of a resource that never existed is an error), query (as typed into the filter of the screen),
// level (debug, info, warn or error: the minimum level; by default info, unless the query says; the details of updates are at debug),
// source (all, build or runtime), span, since (a duration, a time, or save: the newest save of the resources), tail (the
// number of newest lines), after (the number of the line after which to continue), pod and container (a part of the name), text (a text
// that a line must contain, or match if it is written as /regex/), follow (true keeps sending until the session ends) and format (text or
// json). Letter case does not matter.
//
// A query is words that must all match. A word is a part of the text, "some words" a part with blanks, /…/ a regular expression. level:warn,
// source:build, container:main, pod:x2v1 and since:5m select as the parameters do, and status>=500 compares a field of a JSON or logfmt
// line. An exclamation mark before a word excludes what it matches.
type LogLine struct {
	// Seq is the number of the line. Numbers increase across all resources. The parameter "after" takes such a number.
	Seq  uint64    `json:"seq,omitempty"`
	Time time.Time `json:"time,omitzero"`
	// Resource is the resource that the line belongs to; empty for lines that belong to none.
	Resource string `json:"resource,omitempty"`
	// Span is the id of the piece of work that wrote the line, such as a build or one run of a container.
	Span string `json:"span,omitempty"`
	// Source is build, runtime, or empty for neither; Level is debug, info, warn or error.
	Source string `json:"source,omitempty"`
	Level  string `json:"level,omitempty"`
	// Continues is set for a line that belongs to the same entry as the line before it in its stream, such as a line of a stack
	// trace.
	Continues bool `json:"continues,omitempty"`
	// Prefix is "[container] ", "[pod] " or "[pod container] " where a resource's lines come from several containers or pods.
	Prefix string `json:"prefix,omitempty"`
	// Pod and Container name where the line comes from. Both are empty for a line that no container wrote.
	Pod       string `json:"pod,omitempty"`
	Container string `json:"container,omitempty"`
	Text      string `json:"text"`
	// ProgressID is set for a line that replaces the previous line with the same id and span. ProgressDone marks the last
	// line of such a series.
	ProgressID   string `json:"progressID,omitempty"`
	ProgressDone bool   `json:"progressDone,omitempty"`
	// Skipped is the number of lines that were dropped before they could be read. An object with this field has no other
	// fields.
	Skipped uint64 `json:"skipped,omitempty"`
}
