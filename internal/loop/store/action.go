package store

import (
	"fmt"
	"reflect"
	"time"
)

// Action is a past fact: a plain struct value such as FilesChanged. Its type is its name.
type Action any

// ActionType identifies a type of action.
type ActionType struct{ t reflect.Type }

// ActionOf returns the type of actions of type A.
func ActionOf[A any]() ActionType { return ActionType{reflect.TypeFor[A]()} }

// TypeOf returns the type of an action.
func TypeOf(a Action) ActionType { return ActionType{reflect.TypeOf(a)} }

// String returns the bare name of the type: "FilesChanged".
func (a ActionType) String() string {
	if a.t == nil {
		return "nil"
	}
	return a.t.Name()
}

// FinalizerReleased is the generic action by which a subscriber releases an entry that is being torn down. It is dispatched
// through Runtime.Release.
type FinalizerReleased struct {
	Table     string
	ID        string
	Finalizer string
}

// SubscriberReported is dispatched by the supervisor when a subscriber starts, fails, is restarted or ends.
type SubscriberReported struct {
	Name  string
	State SubscriberState
	// Crashes counts how often it failed so far; Err is the newest failure.
	Crashes int
	Err     string
	// RetryAt is the time of the next start, for SubscriberBackingOff.
	RetryAt time.Time
}

// SubscriberState is the phase of a subscriber's life.
type SubscriberState string

// The states of a subscriber.
const (
	SubscriberRunning    SubscriberState = "running"
	SubscriberBackingOff SubscriberState = "backing off"
	SubscriberDone       SubscriberState = "done"
)

// envelope is a queued action with the time of its dispatch.
type envelope struct {
	action Action
	at     time.Time
}

func (e envelope) String() string { return fmt.Sprintf("%s at %s", TypeOf(e.action), e.at) }
