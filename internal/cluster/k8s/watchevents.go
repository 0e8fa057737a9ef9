package k8s

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// KubeEvent is an event that Kubernetes records about an object. A repeated event arrives again with a higher count.
// With Synced it carries no event: all events that existed when the watch began have been reported.
type KubeEvent struct {
	// UID identifies the event itself.
	UID string
	// Object is the object that the event concerns, and ObjectUID its UID. For nodes Kubernetes uses the name as UID.
	Object    KubeEventObject
	ObjectUID string
	// Type is Normal or Warning.
	Type    string
	Reason  string
	Message string
	// Count is the number of times that it happened, 1 or more.
	Count     int
	FirstSeen time.Time
	LastSeen  time.Time
	// Source is the component that reported it: "kubelet", "default-scheduler".
	Source string
	Synced bool
}

// KubeEventObject names the object that an event is about.
type KubeEventObject struct {
	APIVersion string
	Kind       string
	Namespace  string
	Name       string
	// FieldPath is the part of it: "spec.containers{web}".
	FieldPath string
}

// Warning reports whether the event's type is Warning.
func (e KubeEvent) Warning() bool { return e.Type == corev1.EventTypeWarning }

// WatchEvents reports the events that the cluster still keeps (about an hour), then each new or repeated one, until ctx
// is done; it returns the context's error. It does not report the expiry of events. The rules of WatchPods apply.
func (c *Client) WatchEvents(ctx context.Context, req WatchRequest, fn func(KubeEvent)) error {
	w := &watcher[KubeEvent]{
		req:     req,
		trouble: c.newTrouble(req, "", "events"),
		convert: from(KubeEventFromCore),
		same:    func(a, b KubeEvent) bool { return a.Count == b.Count && a.LastSeen.Equal(b.LastSeen) },
		// Events are numerous and reported once: their text is not kept.
		slim:   func(e KubeEvent) KubeEvent { return KubeEvent{Count: e.Count, LastSeen: e.LastSeen} },
		synced: func() KubeEvent { return KubeEvent{Synced: true} },
	}
	return w.run(ctx, func(ns string) *cache.ListWatch { return listWatch(c.core.events(ns)) }, fn)
}

// KubeEventFromCore converts an event to hone's type. It sets all times for events of both the older and the newer API.
func KubeEventFromCore(e *corev1.Event) KubeEvent {
	out := KubeEvent{
		UID: string(e.UID),
		Object: KubeEventObject{
			APIVersion: e.InvolvedObject.APIVersion, Kind: e.InvolvedObject.Kind,
			Namespace: e.InvolvedObject.Namespace, Name: e.InvolvedObject.Name, FieldPath: e.InvolvedObject.FieldPath,
		},
		ObjectUID: string(e.InvolvedObject.UID),
		Type:      e.Type,
		Reason:    e.Reason,
		Message:   e.Message,
		Count:     max(1, int(e.Count)),
		FirstSeen: e.FirstTimestamp.Time,
		LastSeen:  e.LastTimestamp.Time,
		Source:    firstOf(e.Source.Component, e.ReportingController),
	}
	if s := e.Series; s != nil {
		out.Count = max(out.Count, int(s.Count))
		out.LastSeen = later(out.LastSeen, s.LastObservedTime.Time)
	}
	if out.FirstSeen.IsZero() {
		out.FirstSeen = e.EventTime.Time
	}
	if out.FirstSeen.IsZero() {
		out.FirstSeen = e.CreationTimestamp.Time
	}
	out.LastSeen = later(out.LastSeen, out.FirstSeen)
	return out
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
