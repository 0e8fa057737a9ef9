package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/pkg/model"
)

// copyPatience bounds the time in which a whole ledger is copied.
const copyPatience = 10 * storage.Patience

// lostSecrets is the problem of commands whose values this machine cannot read.
func lostSecrets(names []model.ManifestName) error {
	var all []string
	for _, name := range names {
		all = append(all, string(name))
	}
	slices.Sort(all)
	return problem.New(fmt.Sprintf("the arguments and variables of the commands of %s were encrypted with a key that this machine does not have: they would be lost",
		words.List(all, "resource")),
		fmt.Sprintf("set %s to the key, or work on the machine that recorded them; to lose them: --without-secrets. The commands then take\ntheir values from the Tiltfile and the environment", KeyVariable)).See("state")
}

// MoveTo moves the ledger to another place, which must not have one: it copies everything, reads the copy, and then removes the original.
// Whatever fails on the way, one of the two places has everything, and MoveTo can be called again. withoutSecrets allows that values are
// lost which this machine cannot read.
//
// A write of another process during the move ends it, and the ledger stays where it was.
func (l *Ledger) MoveTo(ctx context.Context, to *Ledger, withoutSecrets bool) error {
	ctx, cancel := context.WithTimeout(ctx, copyPatience)
	defer cancel()
	a, err := l.archive(ctx)
	if err != nil {
		return err
	}
	if a.version == storage.None {
		return l.finishMove(ctx, to)
	}
	if len(a.content.lost) > 0 && !withoutSecrets {
		return lostSecrets(a.content.lost)
	}
	copied, err := to.receive(ctx, a)
	if err != nil {
		return err
	}
	if err := l.withdraw(ctx, a.version); err != nil {
		if errors.Is(err, storage.ErrStale) {
			return errors.Join(problem.Wrap(err, "another process has changed the ledger during the move: it stays in "+l.Place(), "try again when nothing else works on the project"),
				to.withdraw(ctx, copied))
		}
		return fmt.Errorf("remove %s, which is complete in %s: %w", l.title(), to.Place(), err)
	}
	return nil
}

// receive makes an archive the content of a ledger that does not exist yet, reads it, and returns its version. If it has that content
// already, an earlier attempt was interrupted.
func (l *Ledger) receive(ctx context.Context, a archive) (storage.Version, error) {
	if err := l.fill(ctx, a); err != nil && !errors.Is(err, errTaken) {
		return storage.None, err
	}
	copied, err := l.archive(ctx)
	switch {
	case err != nil:
		return storage.None, fmt.Errorf("read the copy: %w", err)
	case !copied.equal(a):
		return storage.None, l.refuse()
	}
	return copied.version, nil
}

// finishMove ends a move that was interrupted after the removal of the head.
func (l *Ledger) finishMove(ctx context.Context, to *Ledger) error {
	there, err := to.archive(ctx)
	switch {
	case err != nil:
		return err
	case there.version == storage.None:
		return problem.New("there is no ledger in "+l.Place(), "hone has applied nothing for this project: see hone state show").See("state")
	}
	return l.sweep(ctx)
}

// refuse is the problem of a place that has a ledger.
func (l *Ledger) refuse() error {
	return problem.New("this project has a ledger in "+l.Place()+" already, with other content",
		"choose another place; or look at that ledger with hone state show --ledger, and move it away with hone state move").See("state")
}

// Holders returns the holders of all leases of the ledger whose processes are not known to be gone.
func (l *Ledger) Holders(ctx context.Context) (out []Holder, err error) {
	names, err := l.storage.List(ctx, l.key.leases())
	for _, name := range names {
		is, failed := l.readLease(ctx, name)
		if err = errors.Join(err, failed); err == nil && is.version != storage.None && !l.isGone(is.ID) {
			out = append(out, is.Holder)
		}
	}
	return out, err
}
