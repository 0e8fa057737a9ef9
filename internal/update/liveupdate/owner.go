package liveupdate

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// owners holds the known owners of paths in a container.
type owners struct {
	// uid is the number of the user that commands run as, -1 if it is unknown.
	uid int
	of  map[string]model.Owner
}

// unknownOwners leaves the owners to the program that unpacks.
var unknownOwners = owners{uid: -1}

// parse takes a line of the script's answer about owners.
func (o *owners) parse(line string) {
	if uid, ok := strings.CutPrefix(line, "uid "); ok {
		if n, err := strconv.ParseUint(uid, 10, 32); err == nil {
			o.uid = int(n)
		}
		return
	}
	head, name, ok := strings.Cut(line, " /") // the text before the path contains no " /"
	fields := strings.Fields(head)
	if !ok || len(fields) < 4 {
		return
	}
	if strings.HasPrefix(fields[0], "l") {
		name, _, _ = strings.Cut(name, " -> ")
	}
	if owner, err := model.ParseOwner(fields[2] + ":" + fields[3]); err == nil {
		o.of["/"+name] = owner
	}
}

// owner returns the owner for a copy: the one requested, otherwise the owner of the path that it replaces, otherwise the
// owner of the folder that it goes into.
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
