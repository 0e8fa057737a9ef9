package tunnel

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/process"
)

// What ssh exits with: its own failure, and the shell's for a command that is not there.
const (
	exitSSH     = 255
	exitUnknown = 127
)

// unreached returns the problem of a link whose ssh has ended before the relay greeted.
func (l *link) unreached(ctx context.Context, version string) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	box := l.to.Box()
	var exit *process.ExitError
	switch said := l.said.String(); {
	case ctx.Err() != nil:
		return problem.Wrap(l.said.err(), fmt.Sprintf("%s does not answer within %s", box, greetLimit), l.to.mend())
	case !errors.As(l.end, &exit):
		return problem.Wrap(l.end, "cannot run ssh", "install the client of OpenSSH, and add its folder to PATH")
	case exit.Code == exitSSH:
		return problem.Wrap(l.said.err(), "ssh does not reach "+box, l.to.mend())
	case exit.Code == exitUnknown || strings.Contains(said, "not recognized"):
		return problem.Wrap(l.said.err(), fmt.Sprintf("%s has no hone in the PATH of ssh's commands", box),
			fmt.Sprintf("install hone v%s there, in a folder of the PATH that this prints:\n%s", version, l.to.line(`echo $PATH`)))
	case strings.Contains(said, "unknown command"):
		return problem.Wrap(l.said.err(), fmt.Sprintf("the hone on %s is too old to be attached to from here", box), fmt.Sprintf("install hone v%s there", version))
	}
	return problem.Wrap(errors.Join(l.end, l.said.err()), "cannot run hone on "+box, "try it: "+l.to.line("hone", "sessions"))
}

// foreign returns the problem of a relay of another protocol.
func (l *link) foreign(there, version string) error {
	return problem.New(fmt.Sprintf("%s has hone v%s, whose relay this hone v%s does not understand", l.to.Box(), there, version), "install the same version on both machines")
}

// lost returns the problem of a link that was lost.
func (l *link) lost(err error) error {
	select {
	case <-l.ended:
		if said := l.said.err(); said != nil {
			err = said
		}
	default:
	}
	return problem.Wrap(err, "the connection to "+l.to.Box()+" is lost", l.to.mend())
}

// mend tells how to find out why ssh does not work.
func (a Address) mend() string {
	return "this must work without a question, as with a key in ssh-agent: " + a.line("true")
}

// line returns a command line for people to paste.
func (a Address) line(command ...string) string {
	argv := []string{"ssh"}
	if a.Port != "" {
		argv = append(argv, "-p", a.Port)
	}
	box := Address{User: a.User, Host: a.Host}.Box()
	quoted := strings.Join(command, " ")
	if strings.ContainsAny(quoted, "$") {
		quoted = "'" + quoted + "'"
	}
	return strings.Join(append(argv, box, quoted), " ")
}

// maxSaid is the number of bytes that are kept of the messages of ssh.
const maxSaid = 4 << 10

// tail keeps the newest text that is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(len(t.text)-maxSaid, 0):]
	return len(b), nil
}

// String returns the text.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.text))
}

// err returns the last line as an error; nil without text.
func (t *tail) err() error {
	lines := strings.Split(t.String(), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return errors.New(last)
	}
	return nil
}
