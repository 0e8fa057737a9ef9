package tables

import (
	"iter"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hone-dev/hone/internal/api/projection"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
)

// Numbers provides the statistics of a store.
type Numbers interface {
	Loop() store.LoopStats
	Subscribers() []store.SubscriberStats
}

// Controller is a subscriber of the store, and its health.
type Controller struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            ControllerStatus `json:"status"`
}

// ControllerStatus is the status of a subscriber.
type ControllerStatus struct {
	// State is running, "backing off" after a crash, or done.
	State string `json:"state"`
	// WakeUps counts how often the subscriber was woken because a table that it reads has changed.
	WakeUps uint64 `json:"wakeUps"`
	// Reads counts the snapshots that it has read.
	Reads uint64 `json:"reads"`
	// Writes counts the actions that it has dispatched.
	Writes uint64 `json:"writes"`
	// Crashes counts how often it failed and was started again.
	Crashes uint64 `json:"crashes"`
	// Busy is the time that it worked between wake-ups, excluding the work of its own goroutines.
	Busy metav1.Duration `json:"busy"`
	// LastError is why it last failed; it stays after a recovery.
	LastError string `json:"lastError,omitempty"`
	// LastErrorAt is the time of LastError.
	LastErrorAt metav1.Time `json:"lastErrorAt,omitzero"`
	// RetryAt is the time when it will be started again, while it backs off.
	RetryAt metav1.Time `json:"retryAt,omitzero"`
}

// DeepCopyObject implements runtime.Object.
func (c *Controller) DeepCopyObject() runtime.Object {
	o := *c
	o.ObjectMeta = *c.ObjectMeta.DeepCopy()
	return &o
}

// Loop is the object that describes the store's loop. There is only one.
type Loop struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            LoopStatus `json:"status"`
}

// LoopStatus is the status of the loop.
type LoopStatus struct {
	// Batches counts the batches of actions. Each batch produces a snapshot.
	Batches uint64 `json:"batches"`
	// Actions counts the actions in all batches.
	Actions uint64 `json:"actions"`
	// Queued is the number of waiting actions.
	Queued int `json:"queued"`
	// Busy is the time spent reducing.
	Busy metav1.Duration `json:"busy"`
	// Average, Last and Slowest are the durations of batches.
	Average metav1.Duration `json:"average"`
	Last    metav1.Duration `json:"last"`
	Slowest metav1.Duration `json:"slowest"`
	// Took is a histogram of the durations of batches.
	Took []Bucket `json:"took"`
}

// Bucket counts batches.
type Bucket struct {
	// UpTo is the upper bound of the bucket; the lower bound is the UpTo of the previous bucket. It is empty for the last
	// bucket.
	UpTo string `json:"upTo,omitempty"`
	// Batches is the number of batches in the bucket.
	Batches uint64 `json:"batches"`
}

// DeepCopyObject implements runtime.Object.
func (l *Loop) DeepCopyObject() runtime.Object {
	o := *l
	o.ObjectMeta = *l.ObjectMeta.DeepCopy()
	return &o
}

var (
	_ projection.Object = (*Controller)(nil)
	_ projection.Object = (*Loop)(nil)
)

// Machine returns the kinds that describe the status of the store. Their values are current as of the first read of a
// snapshot.
func Machine(n Numbers) []projection.Kind { return []projection.Kind{controllers(n), loop(n)} }

func controllers(n Numbers) projection.Kind {
	status := func(o projection.Object) *ControllerStatus { return &o.(*Controller).Status }
	return projection.Kind{
		Group: Group, Version: Version, Name: "Controller", Plural: "controllers",
		Doc: "The internal components of hone: how often they were woken, what they read and wrote, how busy they were and how they failed.",
		Items: func(v store.View) iter.Seq[projection.Item] {
			return func(yield func(projection.Item) bool) {
				for _, s := range n.Subscribers() {
					sub := state.Subscribers.In(v).Value(s.Name)
					type key struct {
						store.SubscriberStats
						state.Subscriber
					}
					if !yield(projection.Item{Name: s.Name, Key: projection.Key{Of: key{s, sub}}, Maker: projection.MakeFunc(func() projection.Object { return controller(s, sub) })}) {
						return
					}
				}
			}
		},
		Columns: []projection.Column{
			{Name: "State", Doc: "running, backing off, or done.", Value: func(o projection.Object) any { return status(o).State }},
			{Name: "Wake-ups", Doc: "How often a table that it reads has changed.", Value: func(o projection.Object) any { return int64(status(o).WakeUps) }},
			{Name: "Reads", Doc: "The snapshots that it has read.", Value: func(o projection.Object) any { return int64(status(o).Reads) }},
			{Name: "Writes", Doc: "The actions that it has dispatched.", Value: func(o projection.Object) any { return int64(status(o).Writes) }},
			{Name: "Crashes", Doc: "How often it failed.", Value: func(o projection.Object) any { return int64(status(o).Crashes) }},
			{Name: "Busy", Doc: "The time that it worked.", Value: func(o projection.Object) any { return status(o).Busy.Round(time.Microsecond).String() }},
			{Name: "Last Error", Doc: "Why it last failed.", Value: func(o projection.Object) any { return status(o).LastError }},
		},
		New: func() projection.Object { return &Controller{} },
	}
}

func controller(s store.SubscriberStats, sub state.Subscriber) *Controller {
	c := &Controller{Status: ControllerStatus{State: string(sub.State), WakeUps: s.Wakes, Reads: s.Reads, Writes: s.Writes, Crashes: s.Crashes,
		Busy: metav1.Duration{Duration: s.Busy}, LastError: s.LastError, LastErrorAt: metav1.NewTime(s.LastErrorAt), RetryAt: metav1.NewTime(sub.RetryAt)}}
	c.Name = s.Name
	return c
}

func loop(n Numbers) projection.Kind {
	status := func(o projection.Object) *LoopStatus { return &o.(*Loop).Status }
	return projection.Kind{
		Group: Group, Version: Version, Name: "Loop", Plural: "loop",
		Doc: "The loop that makes all changes to the session's state: batches, actions and their durations.",
		Items: func(store.View) iter.Seq[projection.Item] {
			return func(yield func(projection.Item) bool) {
				s := n.Loop()
				yield(projection.Item{Name: state.Only, Key: projection.Key{Of: s}, Maker: projection.MakeFunc(func() projection.Object { return loopObject(s) })})
			}
		},
		Columns: []projection.Column{
			{Name: "Batches", Doc: "The batches of actions.", Value: func(o projection.Object) any { return int64(status(o).Batches) }},
			{Name: "Actions", Doc: "The actions in them.", Value: func(o projection.Object) any { return int64(status(o).Actions) }},
			{Name: "Queued", Doc: "The actions that are waiting.", Value: func(o projection.Object) any { return int64(status(o).Queued) }},
			{Name: "Busy", Doc: "The time spent reducing.", Value: func(o projection.Object) any { return status(o).Busy.Duration.String() }},
			{Name: "Average", Doc: "How long a batch takes.", Value: func(o projection.Object) any { return status(o).Average.Duration.String() }},
			{Name: "Slowest", Doc: "The longest batch.", Value: func(o projection.Object) any { return status(o).Slowest.Duration.String() }},
			{Name: "Last", Doc: "The newest batch.", Wide: true, Value: func(o projection.Object) any { return status(o).Last.Duration.String() }},
		},
		New: func() projection.Object { return &Loop{} },
	}
}

func loopObject(s store.LoopStats) *Loop {
	l := &Loop{Status: LoopStatus{Batches: s.Batches, Actions: s.Actions, Queued: s.Queued, Busy: metav1.Duration{Duration: s.Busy},
		Last: metav1.Duration{Duration: s.Last}, Slowest: metav1.Duration{Duration: s.Slowest}}}
	l.Name = state.Only
	if s.Batches > 0 {
		l.Status.Average.Duration = s.Busy / time.Duration(s.Batches)
	}
	for i, n := range s.Within {
		b := Bucket{Batches: n}
		if i < len(store.BatchBounds) {
			b.UpTo = store.BatchBounds[i].String()
		}
		l.Status.Took = append(l.Status.Took, b)
	}
	return l
}
