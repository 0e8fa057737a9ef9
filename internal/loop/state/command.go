package state

import (
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// DeclaredCommand is an entry of table commands; its id is the command's name.
type DeclaredCommand struct {
	model.Command
	// Order is the place in the Tiltfile.
	Order int
	// DeclaredAt is the time at which the command was declared with its current work: earlier events do not make it run.
	DeclaredAt time.Time
	// State is the state of the newest run.
	State CommandState
	// Runs counts the runs. Cause is the time of the event that started the newest run.
	Runs  int
	Cause time.Time
	// Files are the changed files that requested the newest run; empty if something else did.
	Files []string
	Circle
	Caused Caused
	// PID is 0 while there is no process. Ready is set while the process runs and passes its probe.
	PID   int
	Ready bool
	// ExitCode and Err describe how the newest run ended; Err is empty for success.
	ExitCode  int
	Err       string
	StartedAt time.Time
	EndedAt   time.Time
	// Span is the log span of the newest run.
	Span string
	// Next is the command that replaces this one, if it was declared again while it was being torn down.
	Next *DeclaredCommand
}

// CommandState is the state of a declared command.
type CommandState string

// The states of a declared command.
const (
	CommandWaiting   CommandState = "waiting" // has not run yet
	CommandRunning   CommandState = "running"
	CommandSucceeded CommandState = "succeeded"
	CommandFailed    CommandState = "failed"
	CommandStopped   CommandState = "stopped" // by hone
)

// CommandStarted reports that a run of a declared command begins, because of an event at Cause.
type CommandStarted struct {
	Name  string
	Cause time.Time
	Span  string
	// Files are the changed files that request it, changed at Made; empty if something else does.
	Files []string
	Made  time.Time
}

// CommandReported reports the state of a run of a declared command.
type CommandReported struct {
	Name  string
	PID   int
	Ready bool
}

// CommandEnded reports that a run is over. Stopped runs have neither succeeded nor failed.
type CommandEnded struct {
	Name     string
	ExitCode int
	Err      string
	Stopped  bool
}

func init() {
	store.On(Commands, func(d *store.Draft[DeclaredCommand], a TiltfileLoaded) {
		if a.Err == "" {
			declareCommands(d, a.Result.Commands)
		}
	})
	store.OnDestroy(Commands, func(d *store.Draft[DeclaredCommand], gone store.Entry[DeclaredCommand]) {
		if next := gone.Value.Next; next != nil {
			d.PutOwned(gone.ID, tiltfileOwner, next.Labels, *next)
		}
	})
	store.On(Commands, func(d *store.Draft[DeclaredCommand], a CommandStarted) {
		d.Update(a.Name, func(c DeclaredCommand) DeclaredCommand {
			c.round(a)
			c.Caused = c.Caused.running()
			c.Files = a.Files
			c.State, c.Cause, c.Span, c.StartedAt, c.EndedAt = CommandRunning, a.Cause, a.Span, d.Now(), time.Time{}
			c.PID, c.Ready, c.ExitCode, c.Err = 0, false, 0, ""
			c.Runs++
			return c
		})
	})
	store.On(Commands, func(d *store.Draft[DeclaredCommand], a CommandReported) {
		d.Update(a.Name, func(c DeclaredCommand) DeclaredCommand {
			c.PID, c.Ready = a.PID, a.Ready
			return c
		})
	})
	store.On(Commands, func(d *store.Draft[DeclaredCommand], a CommandEnded) {
		d.Update(a.Name, func(c DeclaredCommand) DeclaredCommand { return c.ended(a, d.Now()) })
	})
}

func (c DeclaredCommand) ended(a CommandEnded, at time.Time) DeclaredCommand {
	c.PID, c.Ready, c.ExitCode, c.Err, c.EndedAt = 0, false, a.ExitCode, a.Err, at
	switch {
	case a.Stopped:
		c.State = CommandStopped
	case a.Err != "":
		c.State = CommandFailed
	default:
		c.State = CommandSucceeded
	}
	return c
}

// declareCommands makes the table hold the declared commands. A command whose work has changed starts over; a command that
// is being torn down comes back afterwards.
func declareCommands(d *store.Draft[DeclaredCommand], list []model.Command) {
	now := d.Now()
	for e := range d.Refs() {
		if c := e.Value; c.Next != nil {
			c.Next = nil
			d.Put(e.ID, c)
		}
	}
	for i, m := range list {
		if e := d.Ref(m.Name); e != nil && e.Phase == store.TearingDown {
			was, next := e.Value, newCommand(m, i, now)
			was.Next = &next
			d.Put(m.Name, was)
		}
	}
	declareEach(d, list, func(m model.Command) (string, map[string]string) { return m.Name, m.Labels },
		func(was DeclaredCommand, order int, m model.Command) DeclaredCommand {
			if was.Next != nil {
				return was
			}
			return was.redeclared(m, order, now)
		})
}

func newCommand(m model.Command, order int, now time.Time) DeclaredCommand {
	return DeclaredCommand{Command: m, Order: order, DeclaredAt: now, State: CommandWaiting}
}

// redeclared applies a declaration. A command whose work has changed starts over.
func (c DeclaredCommand) redeclared(m model.Command, order int, now time.Time) DeclaredCommand {
	if c.Name == "" {
		return newCommand(m, order, now)
	}
	if !c.SameWork(m) {
		c.DeclaredAt = now
	}
	c.Command, c.Order = m, order
	return c
}

// CommandsInOrder returns the declared commands in the order of the Tiltfile, without those that are being torn down.
func CommandsInOrder(v store.View) []DeclaredCommand {
	var out []DeclaredCommand
	for e := range Commands.In(v).Refs() {
		if e.Phase == store.Running {
			out = append(out, e.Value)
		}
	}
	slices.SortStableFunc(out, func(a, b DeclaredCommand) int { return a.Order - b.Order })
	return out
}
