package ledger

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/user"
	"time"

	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/internal/cluster/storage"
)

// A lease lets one operation at a time deploy a project to a namespace. It is a document that its holder writes again at each beat. The
// clocks of machines differ, so no times are compared: a process that waits takes the lease over when the document has kept its version
// for the lease's term, by the clock of the process that waits. The holder gives up earlier: a term after the beginning of its last write
// that succeeded.
const (
	leaseTerm = storage.Patience
	leaseBeat = leaseTerm / 3
	leaseLook = leaseTerm / 30 // the pause of a process that waits
)

// Holder is the operation that holds a lease.
type Holder struct {
	// Who is the user, and Host the machine.
	Who  string `json:"who,omitempty"`
	Host string `json:"host,omitempty"`
	PID  int    `json:"pid,omitempty"`
	// Command is the command that it runs: "hone ci".
	Command string `json:"command,omitempty"`
	// Since is the time at which it took the lease, by the clock of its machine.
	Since time.Time `json:"since,omitzero"`

	id string // of the lease
}

// Here returns the holder for a command of this process.
func Here(command string) Holder {
	h := Holder{Who: "someone", Host: "somewhere", PID: os.Getpid(), Command: "hone " + command}
	if u, err := user.Current(); err == nil && u.Username != "" {
		h.Who = u.Username
	}
	if name, err := os.Hostname(); err == nil && name != "" {
		h.Host = name
	}
	return h
}

// String names the holder: "hone ci of alice@laptop (pid 123), since 12:03:05".
func (h Holder) String() string {
	if h.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("%s of %s@%s (pid %d), since %s", cmp.Or(h.Command, "hone"), h.Who, h.Host, h.PID, h.Since.Local().Format(time.TimeOnly))
}

// leaseDoc is the document of a lease.
type leaseDoc struct {
	Holder
	// ID is random. A holder recognises its own document by it if the answer to a write was lost.
	ID string `json:"id"`
	// Beat counts the writes, so that each one makes a new document.
	Beat int `json:"beat"`

	version storage.Version // None if nobody holds the lease
}

// same reports whether two documents come from one write.
func (d leaseDoc) same(other leaseDoc) bool { return d.ID == other.ID && d.Beat == other.Beat }

// Lease is the right to deploy a project to a namespace. Its holder must release it.
type Lease struct {
	ledger *Ledger
	name   string
	doc    leaseDoc  // the document that was written last; belongs to the goroutine that renews it until that has ended
	until  time.Time // the end of the term, for the same goroutine
	mark   *leaseMark

	lost  context.Context // done when the lease is lost
	lose  context.CancelCauseFunc
	stop  context.CancelFunc // ends the goroutine that renews the lease
	ended chan struct{}      // closed when it has ended
}

// Lease takes the lease of a namespace. While another operation holds it, Lease waits, and calls waiting once for each holder. After a
// wait, it reads the newest content of the ledger.
func (l *Ledger) Lease(ctx context.Context, namespace string, h Holder, waiting func(Holder)) (*Lease, error) {
	if err := l.admit(ctx); err != nil {
		return nil, err
	}
	h.Since = now()
	e := &Lease{ledger: l, name: l.key.lease(namespace), doc: leaseDoc{Holder: h, ID: rand.Text()}, ended: make(chan struct{})}
	e.mark = l.mark(e.doc.ID)
	waited, err := e.take(ctx, waiting)
	if err == nil && waited {
		err = insist(ctx, l.storage, l.Refresh)
	}
	if err != nil {
		e.abandon()
		return nil, fmt.Errorf("take the lease of %s: %w", l.title(), err)
	}
	e.lost, e.lose = context.WithCancelCause(context.Background())
	renewing, stop := context.WithCancel(context.Background())
	e.stop = stop
	go e.keep(renewing)
	return e, nil
}

// admit refuses a storage that loses updates.
func (l *Ledger) admit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, storage.Patience)
	defer cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fit(ctx)
}

// readLease returns the document of a lease.
func (l *Ledger) readLease(ctx context.Context, name string) (leaseDoc, error) {
	doc, err := l.storage.Load(ctx, name)
	if errors.Is(err, storage.ErrMissing) {
		return leaseDoc{}, nil
	}
	var is leaseDoc
	if err == nil && json.Unmarshal(doc.Data, &is) != nil {
		is = leaseDoc{} // its term ends like any other
	}
	is.version, is.id = doc.Version, is.ID
	return is, err
}

// take waits until the lease is free, or its term is over, and takes it.
func (e *Lease) take(ctx context.Context, waiting func(Holder)) (waited bool, err error) {
	_, local := e.ledger.storage.(storage.Local)
	var told string
	var seen sighting
	for answered, pause := time.Now(), newPause(); ; {
		is, err := e.ledger.readLease(ctx, e.name)
		if err == nil && (seen.outlasts(is) || e.mayReplace(is)) {
			if err = e.write(ctx, is.version); err == nil {
				e.ledger.unmark(is.ID)
				return waited, nil
			}
		}
		switch stale := errors.Is(err, storage.ErrStale); {
		case ctx.Err() != nil:
			return waited, context.Cause(ctx)
		case err == nil || stale:
			answered = time.Now()
		case local || time.Since(answered) > leaseTerm:
			return waited, err
		}
		if err != nil {
			pause.Sleep(ctx)
			continue
		}
		waited = true
		if told != is.ID {
			told = is.ID
			waiting(is.Holder)
		}
		retry.Sleep(ctx, leaseLook)
	}
}

// mayReplace reports whether the lease is free at once: nobody holds it, its holder is a process of this machine that is gone, or it is
// this lease, and the answer to its first write was lost.
func (e *Lease) mayReplace(is leaseDoc) bool {
	return is.version == storage.None || is.ID == e.doc.ID || e.ledger.isGone(is.ID)
}

// sighting is the version of a document that was seen last, and the time at which it was first seen.
type sighting struct {
	version storage.Version
	since   time.Time
}

// outlasts reports whether the document has kept its version for longer than the term of a lease.
func (s *sighting) outlasts(is leaseDoc) bool {
	if is.version != s.version {
		s.version, s.since = is.version, time.Now()
	}
	return time.Since(s.since) > leaseTerm
}

// write writes the document in place of a version. If only the answer is lost, that is no error.
func (e *Lease) write(ctx context.Context, was storage.Version) error {
	next, began := e.doc, time.Now()
	next.Beat++
	raw, err := json.Marshal(next)
	if err != nil {
		return err
	}
	save := e.ledger.storage.Save
	if local, ok := e.ledger.storage.(storage.Local); ok {
		save = local.SaveBrief // its holder does not survive a crash of the machine either
	}
	next.version, err = save(ctx, e.name, raw, was)
	if err != nil {
		is, unread := e.ledger.readLease(ctx, e.name)
		if unread != nil || !is.same(next) {
			return err
		}
		next.version = is.version
	}
	e.doc, e.until = next, began.Add(leaseTerm)
	return nil
}

// keep renews the lease until ctx ends or the lease is lost.
func (e *Lease) keep(ctx context.Context) {
	defer close(e.ended)
	for retry.Sleep(ctx, leaseBeat) {
		if err := e.renew(ctx); err != nil && ctx.Err() == nil {
			e.lose(err)
			return
		}
	}
}

// renew writes the next beat. It tries until the term is over.
func (e *Lease) renew(ctx context.Context) error {
	ctx, cancel := context.WithDeadlineCause(ctx, e.until, fmt.Errorf("the storage has not answered for %s", leaseTerm))
	defer cancel()
	for pause := newPause(); ; {
		err := e.write(ctx, e.doc.version)
		if err == nil {
			return nil
		}
		is, unread := e.ledger.readLease(ctx, e.name)
		switch {
		case unread != nil: // it may be out of reach for a while
		case is.version == storage.None:
			return &LostError{}
		case is.ID != e.doc.ID:
			return &LostError{To: &is.Holder}
		default:
			e.doc = is
		}
		if !pause.Sleep(ctx) {
			return &LostError{Err: errors.Join(context.Cause(ctx), err)}
		}
	}
}

// Lost is closed when the lease is lost: another process has taken it over or removed it, or its storage has not answered for its term.
func (e *Lease) Lost() <-chan struct{} { return e.lost.Done() }

// Err says why the lease was lost: a *LostError. It is nil while the lease is held.
func (e *Lease) Err() error { return context.Cause(e.lost) }

// Guard returns a context that ends when the lease is lost, with the cause.
func (e *Lease) Guard(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(e.lost, func() { cancel(e.Err()) })
	return ctx, func() { stop(); cancel(nil) }
}

// Release gives the lease back, unless it is lost.
func (e *Lease) Release() {
	e.stop()
	<-e.ended
	e.lose(context.Canceled) // releases the context; a lease that was lost keeps its cause
	e.abandon()
}

// abandon deletes the document if it is still the document of this lease. One that stays runs out.
func (e *Lease) abandon() {
	ctx, cancel := patience()
	defer cancel()
	_ = insist(ctx, e.ledger.storage, func() error { return e.ledger.dropLease(ctx, e.name, e.doc.ID) })
	e.mark.remove()
}

// dropLease deletes the document of a lease that has the given ID.
func (l *Ledger) dropLease(ctx context.Context, name, id string) error {
	is, err := l.readLease(ctx, name)
	if err != nil || is.ID != id {
		return err
	}
	return l.storage.Delete(ctx, name, is.version)
}

// Holder returns the holder of the lease of a namespace; nil if nobody holds it.
func (l *Ledger) Holder(ctx context.Context, namespace string) (*Holder, error) {
	is, err := l.readLease(ctx, l.key.lease(namespace))
	if err != nil || is.version == storage.None {
		return nil, err
	}
	return &is.Holder, nil
}

// Unlock removes the lease of a holder that Holder has returned. If another operation holds it by then, it stays.
func (l *Ledger) Unlock(ctx context.Context, namespace string, h Holder) error {
	err := insist(ctx, l.storage, func() error { return l.dropLease(ctx, l.key.lease(namespace), h.id) })
	if err == nil {
		l.unmark(h.id)
	}
	return err
}

// LostError says that a lease was lost while its holder worked.
type LostError struct {
	// To is the new holder, if it is known.
	To *Holder
	// Err is the error of a storage that does not answer.
	Err error
}

func (e *LostError) Error() string {
	switch {
	case e.To != nil:
		return fmt.Sprintf("the lease was lost to %s", e.To)
	case e.Err != nil:
		return fmt.Sprintf("the lease was lost: %v", e.Err)
	}
	return "the lease was lost: another process has removed it"
}

func (e *LostError) Unwrap() error { return e.Err }
