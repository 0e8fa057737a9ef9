package liveupdate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/hone-dev/hone/pkg/model"
)

// survey is a script that makes way for copies and reports the facts that are needed before they are unpacked. It reads
// a word and a path per line, up to an empty line:
//
//	to      the destination of a sync, which the lines up to the next one are about
//	in      a folder below it that copies go into: a file or a dangling link there gives way
//	folder  a copy that is a folder: a file or a link there gives way
//	file    a copy that is a file or a link: an empty folder there gives way
//	by      a folder above the destination
//
// Nothing gives way that is reached through a link. The script prints where destinations and links to folders lead ("at", "is"), the
// folders that do not give way ("full"), the user that it runs as ("uid") and, if that is root, the owners of all paths. Its answer ends
// with a line with a single dot. If a program is missing, it prints less.
const survey = `r=/
through() { d=${p%/*}; while [ ${#d} -gt ${#r} ]; do [ ! -L "$d" ] || return 0; d=${d%/*}; done; return 1; }
yield() { [ -e "$p" ] || [ -L "$p" ] || return 0; through || rm -f -- "$p"; }
lead() { printf 'at %s\nis %s\n' "$p" "$(cd -P -- "$p" 2>/dev/null && pwd -P)"; }
while IFS= read -r l && [ -n "$l" ]; do
  p=${l#* }
  case $l in
  to\ *) r=$p; lead ;;
  in\ *) if [ ! -d "$p" ]; then yield; elif [ -L "$p" ]; then lead; fi ;;
  folder\ *) if [ ! -d "$p" ] || [ -L "$p" ]; then yield; fi ;;
  file\ *) if [ -d "$p" ] && [ ! -L "$p" ]; then through || rmdir -- "$p" 2>/dev/null || printf 'full %s\n' "$p"; fi ;;
  esac
  set -- "$@" "$p"
done
u=$(id -u 2>/dev/null); echo "uid $u"
[ "$u" != 0 ] || ls -ldn -- "$@" 2>/dev/null
echo .`

// surveyed is the answer of a container.
type surveyed struct {
	owners
	// leads are the real paths of destinations and of links to folders below them; an empty one is unknown.
	leads map[string]string
	full  map[string]bool
}

// unsurveyed stands for the answer of a container that lacks the programs for a survey. Its links are unknown, and tar and engines
// follow links to folders.
var unsurveyed = surveyed{owners: unknownOwners}

// questions returns the lines for the script: the copies with all folders above them, by destination.
func questions(syncs []model.Sync, copies []Copy) string {
	words := map[string]map[string]string{} // by destination and path
	note := func(to, p, word string) {
		if words[to] == nil {
			words[to] = map[string]string{}
		}
		if old := words[to][p]; (old == "" || old == "in") && !strings.Contains(p, "\n") {
			words[to][p] = word
		}
	}
	for _, c := range copies {
		to := destination(syncs, c.Remote)
		switch {
		case !c.IsDir:
			note(to, c.Remote, "file")
		case c.Remote != to:
			note(to, c.Remote, "folder")
		}
		for p := path.Dir(c.Remote); words[to][p] == ""; p = path.Dir(p) {
			if inside(to, p) && p != to {
				note(to, p, "in")
			} else {
				note(to, p, "by")
			}
		}
	}
	var b strings.Builder
	for _, to := range sorted(words) {
		b.WriteString("to " + to + "\n")
		for _, p := range sorted(words[to]) {
			if p != to || words[to][p] == "file" {
				b.WriteString(words[to][p] + " " + p + "\n")
			}
		}
	}
	return b.String() + "\n"
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// parseSurvey parses the answer of the script.
func parseSurvey(answer string) surveyed {
	s := surveyed{owners: owners{uid: -1, of: map[string]model.Owner{}}, leads: map[string]string{}, full: map[string]bool{}}
	at := ""
	for line := range strings.Lines(answer) {
		line = strings.TrimSuffix(line, "\n")
		switch word, rest, _ := strings.Cut(line, " "); word {
		case "at":
			at = rest
		case "is":
			s.leads[at] = rest
		case "full":
			s.full[rest] = true
		default:
			s.parse(line)
		}
	}
	return s
}

// refusal returns why the copies must not be unpacked: tar would follow a link out of the destination, or could not replace a folder.
func (s surveyed) refusal(syncs []model.Sync, copies []Copy) error {
	for _, c := range copies {
		if s.full[c.Remote] {
			return Occupied(c.Remote)
		}
		to := destination(syncs, c.Remote)
		for dir := path.Dir(c.Remote); dir != to && inside(to, dir); dir = path.Dir(dir) {
			if s.leads == nil {
				return &FallBackError{Reason: fmt.Sprintf("%s may lie behind a symbolic link, and the container has no shell that could tell", c.Remote)}
			}
			real, link := s.leads[dir]
			if link && (real == "" || s.leads[to] == "" || !inside(s.leads[to], real)) {
				return Escapes(c.Remote)
			}
		}
	}
	return nil
}

// Escapes is the error of a path that a link leads out of the destination of its sync: no way writes there.
func Escapes(remote string) error {
	return &FallBackError{Reason: fmt.Sprintf("%s lies behind a symbolic link of the container that leads out of the synced folder", remote)}
}

// Occupied is the error of a file for a path at which the container has a folder with files of its own.
func Occupied(remote string) error {
	return &FallBackError{Reason: fmt.Sprintf("%s is no folder any more, but the container has files of its own in it", remote)}
}

// dialogue is the input and the output of a script that begins with survey and continues with the archive.
type dialogue struct {
	syncs  []model.Sync
	copies []Copy
	in     *io.PipeReader
	w      *io.PipeWriter
	result chan error

	mu       sync.Mutex
	said     bytes.Buffer // guarded by mu
	answered chan struct{}
	ended    chan struct{}
}

// converse runs a script whose first part is survey and whose second part is tar.
func converse(syncs []model.Sync, copies []Copy, run func(in io.Reader, out io.Writer) error) error {
	d := &dialogue{syncs: syncs, copies: copies, result: make(chan error, 1), answered: make(chan struct{}), ended: make(chan struct{})}
	d.in, d.w = io.Pipe()
	go func() {
		err := d.feed()
		_ = d.w.CloseWithError(err) // a nil error is an ordinary end of file
		d.result <- err
	}()
	err := run(d.in, d)
	close(d.ended)
	_ = d.in.CloseWithError(errDelivered) // unblocks feed if the script has not read everything
	if made := <-d.result; made != nil && !errors.Is(made, errDelivered) {
		return made
	}
	return err
}

// feed writes the questions, waits for the answer, and writes the archive.
func (d *dialogue) feed() error {
	if _, err := io.WriteString(d.w, questions(d.syncs, d.copies)); err != nil {
		return err
	}
	select {
	case <-d.answered:
	case <-d.ended:
		return errDelivered
	}
	d.mu.Lock()
	known := parseSurvey(d.said.String())
	d.mu.Unlock()
	if err := known.refusal(d.syncs, d.copies); err != nil {
		return err
	}
	copies, err := known.give(d.copies)
	if err != nil {
		return err
	}
	return Archive(d.w, copies)
}

// Write takes the script's output.
func (d *dialogue) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case <-d.answered:
	default:
		d.said.Write(p)
		if said := d.said.Bytes(); bytes.Equal(said, []byte(".\n")) || bytes.HasSuffix(said, []byte("\n.\n")) {
			close(d.answered)
		}
	}
	return len(p), nil
}

// ask runs only survey. In a container without the programs for it, the owners stay unknown.
func ask(
	ctx context.Context, syncs []model.Sync, copies []Copy, run func(ctx context.Context, argv []string, in io.Reader, out io.Writer) error,
) surveyed {
	var said bytes.Buffer
	if err := run(ctx, []string{"sh", "-c", survey, "sh"}, strings.NewReader(questions(syncs, copies)), &said); err != nil {
		return unsurveyed
	}
	return parseSurvey(said.String())
}
