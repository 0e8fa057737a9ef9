package cli

import (
	"io"
	"strings"
	"sync"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/stream"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/pkg/model"
)

// narration prints what an evaluation says while no session keeps its log: fit for a terminal, and without secrets. Its
// methods may be called from any goroutine.
type narration struct {
	out, err io.Writer

	mu      sync.Mutex // guards all below
	secrets []model.Secret
	scrub   logstore.Scrubber
}

// newNarration returns one that prints warnings and errors to err, and the rest to out.
func newNarration(out, err io.Writer) *narration { return &narration{out: out, err: err} }

var _ logstore.Logger = (*narration)(nil)

// Write implements logstore.Logger.
func (n *narration) Write(level logstore.Level, said string) {
	w := n.out
	if level >= logstore.LevelWarn {
		w = n.err
	}
	n.print(w, strings.TrimRight(said, "\n"))
}

// Progress implements logstore.Logger: only what is done is printed.
func (n *narration) Progress(_, said string, done bool) {
	if done {
		n.Write(logstore.LevelInfo, said)
	}
}

// fail prints an error as the error printer would.
func (n *narration) fail(said string) { n.print(n.err, "Error: "+said) }

func (n *narration) print(w io.Writer, said string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, _ = io.WriteString(w, foreign(w, n.scrub.Text(said))+"\n")
}

// learn adds values that must not be printed.
func (n *narration) learn(more []model.Secret) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.secrets = append(n.secrets, more...)
	n.scrub = logstore.NewScrubber(n.secrets)
}

// scrubbed returns texts without the values that must not be printed.
func (n *narration) scrubbed(texts []string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = n.scrub.Text(t)
	}
	return out
}

// foreign is text of others for a writer: with its colours where those show, and without any other control character.
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
