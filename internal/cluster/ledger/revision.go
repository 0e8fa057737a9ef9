package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// A revision begins when an operation changes the objects or commands of a project: a run of a command, or, in a session, an evaluation of
// the Tiltfile. Later changes by the same operation belong to it, such as a new image of a service. The objects of the newest revision are
// the notes about the applied objects; they move to a document of their own when the next revision begins.

// keptRevisions bounds the history.
const keptRevisions = 10

// Origin says where a revision comes from.
type Origin = api.RevisionOrigin

// Revision is one state of a project that was applied. It is stored as the session's API shows it.
type Revision = api.Revision

// Declared is an object of a revision.
type Declared struct {
	Record Record `json:"record"`
	// Object is the declaration that was applied, as JSON; nil if it is unknown.
	Object json.RawMessage `json:"object,omitempty"`
}

// Objects are the objects of a revision, by resource.
type Objects = map[model.ManifestName][]Declared

// now returns the time as it is stored.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// current returns the newest revision; nil if there is none.
func (c *content) current() *Revision {
	if len(c.revisions) == 0 {
		return nil
	}
	return &c.revisions[len(c.revisions)-1]
}

// revise makes the newest revision one of this operation. had reports whether the ledger had objects before.
func (c *content) revise(origin func() Origin, had bool) {
	o := origin()
	number := 1
	switch is := c.current(); {
	case is != nil && is.Same(o):
		return
	case is != nil:
		number = is.Number + 1
	case had: // an earlier version of hone has applied them
		c.revisions = append(c.revisions, Revision{Number: number, Phase: api.RevisionSucceeded})
		number++
	}
	c.revisions = append(c.revisions, Revision{Number: number, RevisionOrigin: o, Phase: api.RevisionApplying, Began: now()})
}

// History returns the revisions, the newest one last. The caller owns the result.
func (l *Ledger) History() ([]Revision, error) {
	c, err := l.content()
	return slices.Clone(c.revisions), err
}

// Declared returns the objects of a revision. For an unknown one, it returns a problem that names the known ones.
func (l *Ledger) Declared(number int) (Objects, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ctx, cancel := patience()
	defer cancel()
	c, err := l.current(ctx)
	if err != nil {
		return nil, err
	}
	if is := c.current(); is != nil && is.Number == number {
		return l.declared(c), nil
	}
	var known []string
	for _, r := range c.revisions {
		known = append(known, fmt.Sprint(r.Number))
		if r.Number == number {
			return l.thaw(ctx, number)
		}
	}
	if known == nil {
		return nil, problem.New("this project has no revisions yet", "deploy it first: hone deploy")
	}
	return nil, problem.New(fmt.Sprintf("there is no revision %d", number), "choose one of "+strings.Join(known, ", ")+": hone history shows them")
}

// declared returns the recorded objects with their notes.
func (l *Ledger) declared(c content) Objects {
	out := Objects{}
	for name, list := range c.objects {
		for _, r := range list {
			raw, _ := l.notes.get(Applied, r.ObjectID)
			out[name] = append(out[name], Declared{Record: r, Object: raw})
		}
	}
	return out
}

// freeze stores the objects of the revision that was current until now, if another one follows, and drops revisions beyond the history.
// l.mu is held.
func (l *Ledger) freeze(ctx context.Context, before content, after *content) error {
	if !before.endsWith(*after) {
		return nil
	}
	number := 1
	if was := before.current(); was != nil {
		number = was.Number
	}
	l.notes.forgetCached() // others may have changed them
	raw, err := json.Marshal(l.declared(before))
	if err != nil {
		return err
	}
	name := l.key.revision(number)
	doc, err := l.packAlways(raw, name)
	if err != nil {
		return err
	}
	if err := replace(ctx, l.storage, name, doc); err != nil {
		return fmt.Errorf("store revision %d: %w", number, err)
	}
	for len(after.revisions) > keptRevisions {
		if err := remove(ctx, l.storage, l.key.revision(after.revisions[0].Number)); err != nil {
			return fmt.Errorf("drop revision %d: %w", after.revisions[0].Number, err)
		}
		after.revisions = slices.Delete(after.revisions, 0, 1)
	}
	return nil
}

// endsWith reports whether another revision follows the one of c in after. Objects that an earlier version of hone has applied are one.
func (c *content) endsWith(after content) bool {
	was, is := c.current(), after.current()
	switch {
	case is == nil:
		return false
	case was == nil:
		return len(c.objects) > 0
	}
	return was.Number != is.Number
}

// thaw reads the objects of an earlier revision.
func (l *Ledger) thaw(ctx context.Context, number int) (Objects, error) {
	name := l.key.revision(number)
	title := fmt.Sprintf("revision %d of this project", number)
	doc, err := l.storage.Load(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", title, err)
	}
	raw, _, err := l.vault.unpack(doc.Data, name, title)
	if err != nil {
		return nil, err
	}
	var out Objects
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("read %s: %w", title, err)
	}
	return out, nil
}

// rekey encrypts everything beside the head with the key that encrypts now.
func (l *Ledger) rekey(ctx context.Context, c content) error {
	for _, r := range c.revisions {
		name := l.key.revision(r.Number)
		doc, err := l.storage.Load(ctx, name)
		if errors.Is(err, storage.ErrMissing) { // the newest one has none
			continue
		}
		var raw []byte
		if err == nil {
			raw, _, err = l.vault.unpack(doc.Data, name, fmt.Sprintf("revision %d of this project", r.Number))
		}
		if err == nil {
			doc.Data, err = l.packAlways(raw, name)
		}
		if err == nil {
			err = replace(ctx, l.storage, name, doc.Data)
		}
		if err != nil {
			return fmt.Errorf("encrypt revision %d: %w", r.Number, err)
		}
	}
	for _, list := range c.objects {
		for _, r := range list {
			for _, k := range noteKinds {
				if raw, at := l.notes.get(k, r.ObjectID); raw != nil {
					if err := l.notes.put(k, r.ObjectID, raw, at); err != nil {
						return fmt.Errorf("encrypt what was applied to %s: %w", r.ObjectID, err)
					}
				}
			}
		}
	}
	return l.notes.save(ctx)
}

// packAlways returns a document with declarations: in a folder of this machine, it is encrypted even without a key of the user, because
// a backup of the folder may be readable for others.
func (l *Ledger) packAlways(raw []byte, name string) ([]byte, error) {
	if _, local := l.storage.(storage.Local); !local || l.vault.shared() {
		return l.pack(raw, name, compressFrom)
	}
	key, err := l.vault.key()
	if err != nil {
		return nil, err
	}
	return pack(raw, key, name, compressFrom)
}

// replace saves a document, whatever version it has.
func replace(ctx context.Context, s storage.Storage, name string, data []byte) error {
	was := storage.None
	return insist(ctx, s, func() error {
		_, err := s.Save(ctx, name, data, was)
		if errors.Is(err, storage.ErrStale) {
			doc, loading := s.Load(ctx, name)
			if was = doc.Version; !errors.Is(loading, storage.ErrMissing) {
				err = errors.Join(err, loading)
			}
		}
		return err
	})
}

// remove deletes a document, whatever version it has.
func remove(ctx context.Context, s storage.Storage, name string) error {
	return insist(ctx, s, func() error {
		doc, err := s.Load(ctx, name)
		if errors.Is(err, storage.ErrMissing) {
			return nil
		}
		if err != nil {
			return err
		}
		return s.Delete(ctx, name, doc.Version)
	})
}

// insist repeats a write that may be repeated: after a lost race, and after an error of a storage that is not on this machine.
func insist(ctx context.Context, s storage.Storage, write func() error) error {
	_, local := s.(storage.Local)
	for pause := newPause(); ; {
		err := write()
		final := err == nil || local && !errors.Is(err, storage.ErrStale)
		if final || !pause.Sleep(ctx) {
			return err
		}
	}
}

// newPause returns the pauses between the attempts to reach a storage.
func newPause() retry.Backoff {
	return retry.Backoff{First: storage.Patience / 1000, Most: storage.Patience / 30}
}

// Outcome is the outcome of an update.
type Outcome struct{ Failed, Cancelled bool }

// count counts the objects that a change has made, deleted and forgotten.
func (c *content) count(before content) {
	is := c.current()
	uids := map[string]bool{}
	for _, list := range before.objects {
		for _, r := range list {
			uids[r.UID] = true
		}
	}
	for _, list := range c.objects {
		for _, r := range list {
			if r.UID != "" && !uids[r.UID] {
				is.Created++
			}
		}
	}
	for id := range before.gone(*c) {
		if c.left[id] {
			is.Forgotten++
		} else {
			is.Deleted++
		}
	}
}

// Update notes that an update of a resource begins to apply. The result notes how it has ended. Both inform only: they are written
// together with the records, and when no update of this process is left.
func (l *Ledger) Update(resource model.ManifestName) (end func(Outcome)) {
	began := l.origin()
	l.waitMu.Lock()
	l.updates[began.Evaluation]++
	l.waitMu.Unlock()
	return func(o Outcome) {
		if !l.ended(resource, began, o) {
			return
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.flush()
		ctx, cancel := patience()
		defer cancel()
		_ = l.notes.save(ctx) // they only explain, and the next update tries again
	}
}

// ended notes the end of an update, and reports whether it was the last one.
func (l *Ledger) ended(resource model.ManifestName, began Origin, o Outcome) bool {
	l.waitMu.Lock()
	defer l.waitMu.Unlock()
	if l.updates[began.Evaluation]--; l.updates[began.Evaluation] == 0 {
		delete(l.updates, began.Evaluation)
	}
	l.failed[resource] = o.Failed
	l.append(func(c *content) { l.conclude(c, began, o) })
	return len(l.updates) == 0
}

// conclude notes the outcome of an update in the revision of the operation that it began with, and in all that nothing else would
// conclude: an update that has written nothing before the next evaluation writes into the revision of that one. l.mu is held.
func (l *Ledger) conclude(c *content, began Origin, o Outcome) {
	for i := range c.revisions {
		is := &c.revisions[i]
		if is.Run == began.Run && (is.Same(began) || is.Phase == api.RevisionApplying) {
			l.settle(is, o)
		}
	}
}

// settle notes how the updates of a revision have ended, the last one with an outcome. l.mu is held.
func (l *Ledger) settle(is *Revision, o Outcome) {
	if is.Number == l.changing {
		is.Changed = len(l.changed)
	}
	l.waitMu.Lock()
	defer l.waitMu.Unlock()
	maps.DeleteFunc(l.failed, func(_ model.ManifestName, failed bool) bool { return !failed })
	var names []string
	for _, name := range slices.Sorted(maps.Keys(l.failed)) {
		names = append(names, string(name))
	}
	is.Failures = strings.Join(names, " ")
	switch {
	case l.updates[is.Evaluation] > 0:
		is.Phase = api.RevisionApplying
		return
	case o.Cancelled:
		is.Phase = api.RevisionCancelled
	case is.Failures != "":
		is.Phase = api.RevisionFailed
	default:
		is.Phase = api.RevisionSucceeded
	}
	is.Ended = now()
}
