package api

import "time"

// Waterfall shows where the time of the start of a session went: GET /api/waterfall.
type Waterfall struct {
	Start time.Time `json:"start"`
	// TookMs is the time from Start until the last resource was ready first, or until now.
	TookMs Milliseconds `json:"tookMs"`
	// Rows are the resources in the order in which they began.
	Rows []WaterfallRow `json:"rows"`
	// Critical are the pieces that decided the end, one after the other: together they last for the whole time.
	Critical []WaterfallSpan `json:"critical"`
	// Missed is the number of events that are missing: the beginning may be, too.
	Missed uint64 `json:"missed,omitempty"`
}

// WaterfallRow holds the spans of a resource.
type WaterfallRow struct {
	Resource string          `json:"resource"`
	Critical bool            `json:"critical,omitempty"`
	Spans    []WaterfallSpan `json:"spans"`
	// Layers are the transfers of layers that went to the cluster beside the builds of its images.
	Layers []WaterfallSpan `json:"layers,omitempty"`
}

// WaterfallSpan is a part of the time of a resource.
type WaterfallSpan struct {
	// Resource is present for pieces of the critical path.
	Resource string `json:"resource,omitempty"`
	// Kind is evaluate, wait, update, pull, ready, other, layers, or the kind of a step of an update.
	Kind string `json:"kind"`
	// Text describes it in words.
	Text string `json:"text"`
	// On lists the resources that a wait waits for.
	On []string `json:"on,omitempty"`
	// FromMs and ToMs count from Start.
	FromMs Milliseconds `json:"fromMs"`
	ToMs   Milliseconds `json:"toMs"`
	Failed bool         `json:"failed,omitempty"`
}
