package liveupdate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// listOwners is a script that prints the user that it runs as and, if that is root, the owners of the paths that it
// reads, one per line up to an empty line. Its answer ends with a line with a single dot. If a program is missing, it
// prints less.
const listOwners = `while IFS= read -r p && [ -n "$p" ]; do set -- "$@" "$p"; done
u=$(id -u 2>/dev/null); echo "uid $u"
[ "$u" != 0 ] || ls -ldn -- "$@" 2>/dev/null
echo .`

// owners holds the known owners of paths in a container.
type owners struct {
	// uid is the number of the user that commands run as, -1 if it is not known.
	uid int
	of  map[string]model.Owner
}

// unknownOwners leaves the owners to the program that unpacks.
var unknownOwners = owners{uid: -1}

// parseOwners parses the output of listOwners.
func parseOwners(answer string) owners {
	o := owners{uid: -1, of: map[string]model.Owner{}}
	for line := range strings.Lines(answer) {
		line = strings.TrimSuffix(line, "\n")
		if uid, ok := strings.CutPrefix(line, "uid "); ok {
			if n, err := strconv.ParseUint(uid, 10, 32); err == nil {
				o.uid = int(n)
			}
			continue
		}
		head, name, ok := strings.Cut(line, " /") // the text before the path contains no " /"
		fields := strings.Fields(head)
		if !ok || len(fields) < 4 {
			continue
		}
		if strings.HasPrefix(fields[0], "l") {
			name, _, _ = strings.Cut(name, " -> ")
		}
		if owner, err := model.ParseOwner(fields[2] + ":" + fields[3]); err == nil {
			o.of["/"+name] = owner
		}
	}
	return o
}

// owner returns the owner for a copy: the one requested, otherwise that of the path it replaces, otherwise that of the
// folder it goes into.
func (o owners) owner(c Copy) model.Owner {
	if c.Owner.Set {
		return c.Owner
	}
	for p := c.Remote; ; p = path.Dir(p) {
		if owner, ok := o.of[p]; ok {
			return owner
		}
		if p == path.Dir(p) {
			return model.Owner{}
		}
	}
}

// give returns the copies with their owners, and before them the folders that have to be created for them. It fails if a
// copy must belong to an owner to whom the container's user cannot give it.
func (o owners) give(copies []Copy) ([]Copy, error) {
	out := make([]Copy, 0, len(copies))
	made := map[string]bool{}
	for _, c := range copies {
		if c.Owner.Set && o.uid > 0 && uint32(o.uid) != c.Owner.UID {
			return nil, CannotGive(c.Remote, fmt.Errorf("%s must belong to %s, but the container's user is %d", c.Remote, c.Owner, o.uid))
		}
		c.Owner = o.owner(c)
		if o.uid == 0 {
			out = o.folders(out, made, path.Dir(c.Remote), c.Owner)
		}
		out = append(out, c)
	}
	return out, nil
}

// folders appends the folders that do not exist, outermost first.
func (o owners) folders(out []Copy, made map[string]bool, dir string, owner model.Owner) []Copy {
	if _, there := o.of[dir]; there || made[dir] || dir == path.Dir(dir) {
		return out
	}
	out = o.folders(out, made, path.Dir(dir), owner)
	made[dir] = true
	return append(out, Copy{Remote: dir, IsDir: true, Owner: owner})
}

// CannotGive returns the problem of a copy that must belong to an owner other than the container's user.
func CannotGive(remote string, cause error) error {
	return problem.Wrap(cause, fmt.Sprintf("%s cannot be given to the owner that sync(…, owner=…) requests", remote),
		"Run the container as root while you develop (securityContext: runAsUser: 0, with the capability CHOWN), or leave owner "+
			"out: then the files belong to the container's user.")
}

// askedOwners returns the paths whose owners determine those of the copies: the copies themselves and all folders above.
func askedOwners(copies []Copy) []string {
	set := map[string]bool{"/": true}
	list := []string{"/"}
	for _, c := range copies {
		for p := c.Remote; !set[p]; p = path.Dir(p) {
			set[p] = true
			if !strings.Contains(p, "\n") {
				list = append(list, p)
			}
		}
	}
	slices.Sort(list)
	return list
}

// dialogue is the input and the output of a script that begins with listOwners and continues with the archive.
type dialogue struct {
	copies []Copy
	in     *io.PipeReader
	w      *io.PipeWriter
	result chan error

	mu       sync.Mutex
	said     bytes.Buffer // guarded by mu
	answered chan struct{}
	ended    chan struct{}
}

// converse runs a script whose first part is listOwners and whose second part is tar.
func converse(copies []Copy, run func(in io.Reader, out io.Writer) error) error {
	d := &dialogue{copies: copies, result: make(chan error, 1), answered: make(chan struct{}), ended: make(chan struct{})}
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

// feed writes the list of paths, waits for the answer, and writes the archive.
func (d *dialogue) feed() error {
	if _, err := io.WriteString(d.w, strings.Join(askedOwners(d.copies), "\n")+"\n\n"); err != nil {
		return err
	}
	select {
	case <-d.answered:
	case <-d.ended:
		return errDelivered
	}
	d.mu.Lock()
	known := parseOwners(d.said.String())
	d.mu.Unlock()
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

// askOwners runs only listOwners. In a container without the programs for it, the owners stay unknown.
func askOwners(ctx context.Context, copies []Copy, run func(ctx context.Context, argv []string, in io.Reader, out io.Writer) error) owners {
	var said bytes.Buffer
	in := strings.NewReader(strings.Join(askedOwners(copies), "\n") + "\n\n")
	if err := run(ctx, []string{"sh", "-c", listOwners, "sh"}, in, &said); err != nil {
		return unknownOwners
	}
	return parseOwners(said.String())
}
