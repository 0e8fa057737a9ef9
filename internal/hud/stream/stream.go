package stream

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// batch is the maximum number of lines written at once.
const batch = 1000

// Options configure the stream. Logs and Out must be set.
type Options struct {
	Logs *logstore.Store
	Out  io.Writer
	// Resources are the resources to print; nil means all, including lines that belong to none.
	Resources []model.ManifestName
	// Source limits the output to lines of one source; empty prints everything. The first line of an update, with its reason,
	// is always printed for context.
	Source logstore.Source
	// MinLevel omits lines below this level, except the first lines of updates.
	MinLevel logstore.Level
	// Details prints lines at debug level, too.
	Details bool
	// Last limits the output at the start to this number of the newest lines; zero prints all.
	Last int
	// After is the number of the line after which the output begins; zero begins with the oldest line.
	After uint64
	// Color overrides the choice by the kind of Out and by the environment.
	Color ColorMode
}

// ColorMode selects whether colours are used.
type ColorMode int

// The modes. ColorAuto leaves it to Colored.
const (
	ColorAuto ColorMode = iota
	ColorAlways
	ColorNever
)

// Subscriber is the stream.
type Subscriber struct {
	options Options

	mu      sync.Mutex // guards the fields below
	cursor  *logstore.Cursor
	printer printer
	noticed noticed
	// pending is output that could not be written yet.
	pending bytes.Buffer
}

// New returns a stream that begins with the oldest line that is kept.
func New(o Options) *Subscriber {
	o.Out = text.Beneath(o.Out) // the lines printed here are clean already
	return &Subscriber{
		options: o,
		cursor:  o.cursor(),
		printer: printer{source: o.Source, minLevel: o.minLevel(), color: o.colored(), progress: map[progressKey]progress{}},
		noticed: newNoticed(),
	}
}

// minLevel returns the lowest level that is printed.
func (o Options) minLevel() logstore.Level {
	if o.Details {
		return logstore.LevelDebug
	}
	return max(o.MinLevel, logstore.LevelInfo)
}

// cursor returns the position where the output begins.
func (o Options) cursor() *logstore.Cursor {
	f := logstore.Filter{Resources: o.Resources}
	if o.After > 0 {
		return o.Logs.CursorAt(f, o.After)
	}
	if o.Last > 0 {
		if newest := o.Logs.Tail(f, o.Last); len(newest) > 0 {
			return o.Logs.CursorAt(f, newest[0].Seq-1)
		}
	}
	return o.Logs.Cursor(f)
}

func (o Options) colored() bool {
	switch o.Color {
	case ColorAlways:
		return true
	case ColorNever:
		return false
	case ColorAuto:
	}
	return Colored(o.Out)
}

// Colored reports whether to use colours on a writer: it is a terminal with colours, or the environment has CLICOLOR_FORCE.
// NO_COLOR disables them in any case.
func Colored(out io.Writer) bool {
	if os.Getenv("NO_COLOR") != "" {
		return false
	}
	if force := os.Getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	file, ok := text.Beneath(out).(*os.File)
	return ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd()))
}

var _ store.Subscriber = (*Subscriber)(nil)

// Contract implements store.Subscriber.
func (s *Subscriber) Contract() store.Contract {
	return store.Contract{
		Name:      "Stream",
		Doc:       "Prints log lines as they arrive, and problems of the session that are not logged.",
		Inputs:    store.Reads(state.Sessions, state.Tiltfiles, state.Resources, state.Clusters, state.Services, state.Watches, state.Subscribers),
		Externals: []string{"terminal"},
		Stage:     store.StageView,
	}
}

// Run implements store.Subscriber. When ctx is done, it prints the remaining lines. The error is the reason why nothing can
// be printed; after a restart, it continues where it stopped.
func (s *Subscriber) Run(ctx context.Context, rt *store.Runtime) error {
	changed, cancel := s.options.Logs.Subscribe()
	defer cancel()
	for {
		if err := s.Drain(); err != nil {
			return err
		}
		rt.Succeeded()
		select {
		case <-changed:
		case <-rt.Wake():
			s.tell(rt.View())
		case <-ctx.Done():
			return s.Drain()
		}
	}
}

// tell adds new notices from the tables to the pending output.
func (s *Subscriber) tell(v store.View) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.noticed.news(v) {
		s.notice(n)
	}
}

// Drain prints all lines that have not been printed. It is for lines that arrive after Run has returned, such as those that
// closing the log store completes. It may be called at any time.
func (s *Subscriber) Drain() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if err := s.write(); err != nil {
			return err
		}
		lines := s.cursor.Next(batch)
		if n := s.cursor.Skipped(); n > 0 {
			s.printer.skipped(&s.pending, n)
		}
		if len(lines) == 0 {
			return s.write()
		}
		for _, l := range lines {
			s.printer.line(&s.pending, l)
		}
	}
}

// write writes the pending output, and keeps the part that was not written.
func (s *Subscriber) write() error {
	if s.pending.Len() == 0 {
		return nil
	}
	n, err := s.options.Out.Write(s.pending.Bytes())
	s.pending.Next(max(0, min(n, s.pending.Len())))
	if err != nil {
		return fmt.Errorf("print log lines: %w", err)
	}
	s.pending.Reset()
	return nil
}

// progressKey names a progress; ids are only unique within a span.
type progressKey struct{ span, id string }

// progress is the time at which a progress was printed last, and the pause after it.
type progress struct {
	at    time.Time
	pause time.Duration
}
