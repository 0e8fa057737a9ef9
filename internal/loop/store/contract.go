package store

import (
	"context"
	"slices"
	"time"
)

// Subscriber owns a side effect: it makes something outside of the store match the store, and reports as actions whatever happens
// there.
type Subscriber interface {
	// Contract returns the tables that the subscriber reads and the actions that it emits. It is called once, before anything
	// starts, and must not depend on I/O.
	Contract() Contract
	// Run works until ctx is done, which is not an error. A nil return before that means that nothing is left to do; an
	// error or a panic makes the supervisor start it again after a pause. Everything that Run started has ended when it
	// returns.
	Run(ctx context.Context, rt *Runtime) error
}

// Contract declares everything that a subscriber reads, emits and calls.
type Contract struct {
	// Name is unique and appears in logs, on screen and in the graph.
	Name string
	// Doc is one sentence.
	Doc string
	// Inputs are the tables that it reads. It is woken when one of them changes.
	Inputs []Input
	// Outputs are the actions that it emits.
	Outputs []Output
	// Externals are the outside systems that it talks to: "kubernetes", "filesystem", "docker", "process" …
	Externals []string
	// Calls are the subscribers that it calls directly, not through the store.
	Calls []Call
	// Stage orders stopping: lower stages stop first, and wait for each other.
	Stage Stage
	// Grace is the time that the subscriber may take to stop; zero means the usual 5 s.
	Grace time.Duration
	// Feedback is the reason why the subscriber may read a table that its own actions change, directly or through other
	// tables. A cycle without a reason is refused.
	Feedback string
}

// Stage determines when a subscriber is stopped.
type Stage int

// The stages in the order in which they stop.
const (
	StageInput      Stage = iota // where the user and scripts come in
	StageController              // change the world
	StageWatch                   // observe the world
	StageView                    // show the world
)

// Input is a table that a subscriber reads.
type Input struct {
	Table string
	// Strong inputs keep torn-down entries alive until the subscriber releases them; the table must have finalizers.
	Strong bool
	// Releases is for a subscriber that needs to know which others hold an entry that is being torn down: it is also woken
	// when a holder releases an entry that others still hold. For all other subscribers that is no change.
	Releases bool
}

// Call is a direct call of another subscriber, for things that a table cannot hold, such as a connection.
type Call struct {
	// To is the other subscriber's name, Doc the reason in one sentence.
	To, Doc string
}

// Output is an action that a subscriber emits.
type Output struct {
	Action ActionType
	// Shared outputs may be emitted by several subscribers; all of them must declare the output as shared.
	Shared bool
}

// named is any table.
type named interface{ Name() string }

// Reads declares weak inputs.
func Reads(tables ...named) []Input {
	in := make([]Input, len(tables))
	for i, t := range tables {
		in[i] = Input{Table: t.Name()}
	}
	return in
}

// Holds declares a strong input.
func Holds(table named) []Input { return []Input{{Table: table.Name(), Strong: true}} }

// WithReleases declares the inputs with Releases.
func WithReleases(inputs []Input) []Input {
	for i := range inputs {
		inputs[i].Releases = true
	}
	return inputs
}

// Emits declares exclusive outputs by example values of the actions.
func Emits(actions ...Action) []Output {
	out := make([]Output, len(actions))
	for i, a := range actions {
		out[i] = Output{Action: TypeOf(a)}
	}
	return out
}

// Shares declares shared outputs by example values of the actions.
func Shares(actions ...Action) []Output {
	out := Emits(actions...)
	for i := range out {
		out[i].Shared = true
	}
	return out
}

// Runtime is a subscriber's access to the store. It enforces the contract: reading an undeclared table or dispatching an
// undeclared action panics with *UndeclaredError, which the supervisor treats as a crash of the subscriber.
type Runtime struct {
	store    *Store
	contract Contract
	box      *mailbox
	allowed  []bool
	success  func()
	stats    *subscriberStats
	releases []bool
}

// NewRuntime returns a subscriber's access to a store. It enforces the contract, and entries of the tables that the subscriber holds
// get its finalizer. It does not compare the contract with the others' ones, as NewSupervisor does. It must be called before the
// store's loop runs.
func NewRuntime(s *Store, sub Subscriber) *Runtime {
	c := sub.Contract()
	rt := &Runtime{store: s, contract: c, allowed: make([]bool, len(s.schema.tables)), success: func() {}, stats: &subscriberStats{}}
	rt.releases = make([]bool, len(s.schema.tables))
	for _, in := range c.Inputs {
		_, i := s.schema.table(in.Table)
		if i < 0 {
			continue
		}
		rt.allowed[i], rt.releases[i] = true, rt.releases[i] || in.Releases
		if in.Strong {
			s.finalizers[i] = append(s.finalizers[i], c.Name)
		}
	}
	rt.box = rt.newBox()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runtimes = append(s.runtimes[:len(s.runtimes):len(s.runtimes)], rt)
	return rt
}

func (rt *Runtime) newBox() *mailbox {
	return &mailbox{tables: rt.allowed, releases: rt.releases, slot: make(chan struct{}, 1), stats: rt.stats}
}

// Branch returns the access of another goroutine of the subscriber, which is woken on its own: first at once. The subscriber calls detach
// when that goroutine has ended. Both share one contract, and count as one.
func (rt *Runtime) Branch() (branch *Runtime, detach func()) {
	b := *rt
	b.box = rt.newBox()
	return &b, b.Attach()
}

// Attach has the store wake the subscriber from now on, first at once. The returned function ends that.
func (rt *Runtime) Attach() (detach func()) {
	rt.store.attach(rt.box)
	rt.box.wake()
	return func() { rt.store.detach(rt.box) }
}

// Wake returns a channel that delivers a value when a declared table has changed since the last value was received, and
// once at the start. A call of Wake ends the subscriber's busy time, because a wait follows.
func (rt *Runtime) Wake() <-chan struct{} {
	rt.stats.waits()
	return rt.box.slot
}

// Idle marks, as a call of Wake does, that the subscriber is about to wait. It is for subscribers that keep Wake's channel.
func (rt *Runtime) Idle() { rt.stats.waits() }

// View returns the newest snapshot, restricted to the declared tables.
func (rt *Runtime) View() View {
	rt.stats.looked()
	return View{Snapshot: rt.store.Snapshot(), reader: rt.contract.Name, allowed: rt.allowed}
}

// Aside is View for goroutines that work while the subscriber itself waits, such as the handlers of requests: their reads do not
// count as the subscriber's busy time.
func (rt *Runtime) Aside() View {
	rt.stats.reads.Add(1)
	return View{Snapshot: rt.store.Snapshot(), reader: rt.contract.Name, allowed: rt.allowed}
}

// Dispatch queues declared actions for the loop. It returns their time stamp, as Store.Dispatch does.
func (rt *Runtime) Dispatch(actions ...Action) time.Time {
	for _, a := range actions {
		kind := TypeOf(a)
		if !slices.ContainsFunc(rt.contract.Outputs, func(o Output) bool { return o.Action == kind }) {
			panic(&UndeclaredError{Subscriber: rt.contract.Name, What: "emit action " + kind.String()})
		}
	}
	rt.stats.writes.Add(uint64(len(actions)))
	return rt.store.Dispatch(actions...)
}

// Release releases a torn-down entry of a table that is a strong input.
func (rt *Runtime) Release(table named, id string) {
	if !slices.ContainsFunc(rt.contract.Inputs, func(in Input) bool { return in.Table == table.Name() && in.Strong }) {
		panic(&UndeclaredError{Subscriber: rt.contract.Name, What: "release an entry of table " + table.Name()})
	}
	rt.stats.writes.Add(1)
	rt.store.Dispatch(FinalizerReleased{Table: table.Name(), ID: id, Finalizer: rt.contract.Name})
}

// Loop returns the store's statistics of the loop.
func (rt *Runtime) Loop() LoopStats { return rt.store.Loop() }

// Subscribers returns the store's statistics of all subscribers.
func (rt *Runtime) Subscribers() []SubscriberStats { return rt.store.Subscribers() }

// Succeeded tells the supervisor that the subscriber works, which resets the pause before its next restart.
func (rt *Runtime) Succeeded() { rt.success() }
