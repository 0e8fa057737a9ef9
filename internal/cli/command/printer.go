package command

import (
	"io"
	"strings"
	"sync"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/patience"
	"github.com/hone-dev/hone/internal/hud/stream"
	"github.com/hone-dev/hone/internal/hud/text"
)

// Printer prints messages of commands without a session's log: without secrets, and without control characters that a
// terminal would interpret. Its methods may be called from any goroutine.
type Printer struct {
	secrets  *Secrets
	out, err io.Writer
	mu       sync.Mutex // held while a message is printed
	waits    *patience.Waits
}

// Printer returns a printer that prints warnings and errors to err, and the rest to out. All printers of a command share its secrets.
func (g *Global) Printer(out, err io.Writer) *Printer {
	p := &Printer{secrets: &g.Secrets, out: out, err: err}
	p.waits = patience.New(func(text string) { p.Write(logstore.LevelInfo, text) })
	return p
}

// Await says that the command waits for something, such as "the cluster", unless over is called soon; see patience.Waits.
func (p *Printer) Await(what string) (over func()) { return p.waits.Await(what) }

// Waiting is Await with a printer of standard error.
func (g *Global) Waiting(what string) (done func()) {
	return g.Printer(g.Stderr, g.Stderr).Await(what)
}

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
	_, _ = io.WriteString(w, foreign(w, p.secrets.Text(said))+"\n")
	p.waits.Said()
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
