package api

import "time"

// LogLine is a line of GET /api/logs?format=json, which has one such object per line of its answer.
//
// The parameters of GET /api/logs are: resource (may be given more than once, or as a list with commas; one that there has
// never been is an error, once the Tiltfile was evaluated), level (debug,
// info, warn, error: that and above), source (all, build, runtime), span, since (a duration or a time), tail (how many of
// the newest lines), after (the number of a line, to go on from), follow (true goes on for as long as the session lasts)
// and format (text or json).
type LogLine struct {
	// Seq is the line's number, which rises over all resources together. It is what the parameter "after" takes.
	Seq  uint64    `json:"seq,omitempty"`
	Time time.Time `json:"time,omitzero"`
	// Resource is empty for what belongs to none.
	Resource string `json:"resource,omitempty"`
	// Span names the piece of work that said it: a build, a container's run.
	Span string `json:"span,omitempty"`
	// Source is build, runtime, or empty for neither; Level is debug, info, warn or error.
	Source string `json:"source,omitempty"`
	Level  string `json:"level,omitempty"`
	// Prefix is "[container] " where the resource's lines come from several containers.
	Prefix string `json:"prefix,omitempty"`
	Text   string `json:"text"`
	// ProgressID is not empty for a line that replaces the previous one with the same id and span; ProgressDone marks the
	// last of them.
	ProgressID   string `json:"progressID,omitempty"`
	ProgressDone bool   `json:"progressDone,omitempty"`
	// Skipped, in an object without anything else, is how many lines were dropped before they could be read.
	Skipped uint64 `json:"skipped,omitempty"`
}
