package command

import (
	"io"
	"strings"
	"sync"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/stream"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/pkg/model"
)

// Printer prints messages of commands without a session's log: without secrets, and without control characters that a
// terminal would interpret. Its methods may be called from any goroutine.
type Printer struct {
	out, err io.Writer

	mu      sync.Mutex // guards all below
	secrets []model.Secret
	scrub   logstore.Scrubber
}

// NewPrinter returns a Printer that prints warnings and errors to err, and the rest to out.
func NewPrinter(out, err io.Writer) *Printer { return &Printer{out: out, err: err} }

var _ logstore.Logger = (*Printer)(nil)

// Write implements logstore.Logger.
func (p *Printer) Write(level logstore.Level, said string) {
	w := p.out
	if level >= logstore.LevelWarn {
		w = p.err
	}
	p.print(w, strings.TrimRight(said, "\n"))
}

// Progress implements logstore.Logger: only completed steps are printed.
func (p *Printer) Progress(_, said string, done bool) {
	if done {
		p.Write(logstore.LevelInfo, said)
	}
}

// Fail prints an error as the error printer would.
func (p *Printer) Fail(said string) { p.print(p.err, "Error: "+said) }

func (p *Printer) print(w io.Writer, said string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = io.WriteString(w, foreign(w, p.scrub.Text(said))+"\n")
}

// Learn adds values that must not be printed.
func (p *Printer) Learn(more []model.Secret) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.secrets = append(p.secrets, more...)
	p.scrub = logstore.NewScrubber(p.secrets)
}

// Scrubbed returns texts without the values that must not be printed.
func (p *Printer) Scrubbed(texts []string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = p.scrub.Text(t)
	}
	return out
}

// foreign returns text from outside for a writer: with its colours if the writer shows them, and without any other control
// character.
func foreign(w io.Writer, said string) string {
	colored := stream.Colored(w)
	lines := strings.Split(said, "\n")
	for i, line := range lines {
		if colored {
			lines[i] = text.ANSI(text.ParseTabs(line))
		} else {
			lines[i] = text.CleanTabs(line)
		}
	}
	return strings.Join(lines, "\n")
}
