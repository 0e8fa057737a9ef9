package synclet

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/pkg/model"
)

// An update travels as one delivery. The goroutine that calls Pool.Update makes the delivery, owns its fields, and calls these methods:
//
//	begin    send the files with the commands and the restart behind them; wait until the files are in place
//	answer   once for each step: wait for its answer; if the conversation breaks off, call begin again
//	land     make both sides forget the sequence, if all answers have arrived
//
// The commands and the restart behind the files are the steps of a sequence, which has a random key. The synclet notes each step of a
// sequence that it has finished (package agent, journal.go; the supervisor notes restarts). A step that is sent again over the next
// conversation is therefore answered from the notes, and not carried out twice.
//
// An update whose answers were lost may also be continued by another delivery: the next update of the container. Pool.unanswered
// therefore holds the newest sequence of each container until it has landed, with the contents that it put in place. The next update
// gets the same key if it has the same commands and no file has changed meanwhile (sequenceOf). Pool.mu guards unanswered, because
// trips to several containers run at a time and Keep drops the sequences of containers that are gone.

// delivery is an update on its way to a container, over one conversation or several. It is for use by one goroutine.
type delivery struct {
	pool      *Pool
	container model.ContainerRef
	plan      liveupdate.Plan
	log       logstore.Logger
	report    liveupdate.Report
	begun     bool          // a conversation has put all files in place
	talk      *Conversation // the conversation that carries sent
	sent      sequence
	key       uint64 // of the sequence; zero if nothing follows the files
	lost      bool   // the conversation broke off before all answers had arrived
}

// begin sends the files that differ from the container's, followed by the commands and the restart, and waits until the files are
// in place. Called again, it resumes an update whose conversation has broken off.
func (t *delivery) begin(ctx context.Context) error {
	p, c := t.pool, t.container
	return p.persist(ctx, c, t.talk, t.log, ErrClosed, func(s *Conversation) (err error) {
		over := s.attend(c.Name, t.log)
		defer func() { over(err == nil) }()
		// The update continues a lost sequence only if no file differs, so the container's files have to be known first.
		paths, blank := remotes(t.plan), s.blank()
		if blank {
			paths = s.prime(p.sent(c.ID, s.hello.Sequence), paths)
		}
		if t.plan.Fresh || blank && (len(t.plan.Copies) > 0 || p.unfinished(c.ID)) {
			if err := s.Learn(ctx, paths); err != nil {
				return err
			}
		}
		r, f, err := s.apply(ctx, batch(t.plan), func(changed bool) Then { return t.then(s, changed) })
		if t.talk != nil {
			t.reconnected()
		}
		t.talk, t.sent, t.lost = s, f, errors.Is(err, ErrClosed)
		if f.contents != nil {
			p.sends(c.ID, t.key, f.contents)
		}
		t.count(r, err)
		if r.Files+r.Deletes > 0 && t.plan.RestartProcess {
			p.setStale(c.ID, true)
		}
		return err
	})
}

// reconnected tells the user why the update takes longer, and why a command may print the same output a second time.
func (t *delivery) reconnected() {
	why := ""
	if len(t.plan.Runs) > 0 {
		why = ": a command that was cut off starts again"
	}
	logstore.Infof(t.log, "Reconnected to %s after the connection was lost%s", t.container.Name, why)
}

// count takes in the report of one conversation. Until all files are in place, each report replaces the one before; from then on,
// reports add up.
func (t *delivery) count(r Report, err error) {
	if t.begun {
		t.report.Files += r.Files
		t.report.Deletes += r.Deletes
		t.report.Bytes += r.Bytes
		return
	}
	t.begun = err == nil
	t.report = liveupdate.Report{Files: r.Files, Deletes: r.Deletes, Same: r.Same, Bytes: r.Bytes, Sent: r.Sent, Applied: r.Answered}
	if t.report.Applied.IsZero() {
		t.report.Applied = time.Now()
	}
}

// then returns the steps that travel with the files. There are none if the synclet runs in a container next to the target: the
// commands are then run by exec, and the process is restarted after them.
func (t *delivery) then(s *Conversation, changed bool) Then {
	var out Then
	if s.besides {
		return out
	}
	for _, run := range t.plan.Runs {
		out.Runs = append(out.Runs, run.Cmd)
	}
	out.Restart = !t.plan.Restart && (t.pool.toRestart(s, t.plan, changed || t.pool.isStale(t.container.ID)) ||
		t.sent.restart != nil && !changed) // the same step again, whose answer was lost: it is not carried out twice
	out.Grace = liveupdate.RestartGrace
	t.key = 0
	if out.Restart || len(out.Runs) > 0 {
		t.key = t.pool.sequenceOf(t.container.ID, out.Runs, changed)
	}
	out.Sequence = t.key
	return out
}

// answer calls wait, which waits for one answer. If the conversation breaks off first, answer resumes the update and waits again,
// unless the synclet was killed: then the container is ending, or out of memory.
func (t *delivery) answer(ctx context.Context, wait func() error) error {
	err := t.attended(wait)
	for range tries - 1 {
		t.lost = errors.Is(err, ErrClosed)
		if !t.lost || errors.Is(err, ErrKilled) || ctx.Err() != nil || t.begin(ctx) != nil {
			return err
		}
		err = t.attended(wait)
	}
	t.lost = errors.Is(err, ErrClosed)
	return err
}

// attended waits for an answer, and tells the user if the synclet falls silent meanwhile.
func (t *delivery) attended(wait func() error) error {
	over := t.talk.attend(t.container.Name, t.log)
	err := wait()
	over(!errors.Is(err, ErrClosed))
	return err
}

// finish ends the update. Both sides forget the sequence, unless answers are missing: then the next update may continue it.
func (t *delivery) finish() {
	if t.key == 0 || t.lost {
		return
	}
	t.pool.finished(t.container.ID, t.key)
	_ = t.talk.send(&protocol.Done{Sequence: t.key})
}

// remembered limits the time within which another update can continue a sequence whose answers were lost.
const remembered = 10 * time.Minute

// unanswered is a sequence some of whose answers have not arrived.
type unanswered struct {
	key   uint64
	runs  []model.Cmd
	since time.Time
	// contents maps the update's paths to their contents once the files are in place; nil until the files have been sent.
	contents map[string]content
}

// sequenceOf returns the key of a sequence to a container. If answers of the previous sequence were lost, it had the same commands, and
// nothing has changed since, this is the same sequence and keeps its key.
func (p *Pool) sequenceOf(container string, runs []model.Cmd, changed bool) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	same := func(a, b model.Cmd) bool {
		return slices.Equal(a.Argv, b.Argv) && a.Dir == b.Dir && slices.Equal(a.Env, b.Env)
	}
	if a, ok := p.unanswered[container]; ok && !changed && time.Since(a.since) < remembered && slices.EqualFunc(a.runs, runs, same) {
		return a.key
	}
	key := newSequence()
	p.unanswered[container] = unanswered{key: key, runs: runs, since: time.Now()}
	return key
}

// newSequence returns a key for a sequence.
func newSequence() uint64 { return rand.Uint64() | 1 } // never zero

// sends notes the contents that a sequence brings.
func (p *Pool) sends(container string, key uint64, contents map[string]content) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a := p.unanswered[container]; a.key == key {
		a.contents = contents
		p.unanswered[container] = a
	}
}

// sent returns the contents that the sequence with that key has put into a container, if some of its answers have not arrived;
// otherwise nil.
func (p *Pool) sent(container string, key uint64) map[string]content {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a := p.unanswered[container]; key != 0 && a.key == key {
		return a.contents
	}
	return nil
}

// trust notes contents as the container's, without asking, and returns the paths that contents does not cover. Commands of the same
// sequence may have changed these files since; that is no reason to run them again.
func (s *Conversation) prime(contents map[string]content, paths []string) (others []string) {
	for _, path := range slices.Sorted(maps.Keys(contents)) { // folders before their content
		s.learn(path, contents[path], nil)
	}
	for _, path := range paths {
		if _, ok := contents[path]; !ok {
			others = append(others, path)
		}
	}
	return others
}

// unfinished reports whether some answers of a sequence to a container have not arrived.
func (p *Pool) unfinished(container string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.unanswered[container]
	return ok
}

// finished forgets a sequence.
func (p *Pool) finished(container string, key uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unanswered[container].key == key {
		delete(p.unanswered, container)
	}
}

// blank reports whether nothing is known about the container's files.
func (s *Conversation) blank() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.known.at) == 0
}

func batch(plan liveupdate.Plan) Batch {
	b := Batch{Deletes: plan.Deletes, Puts: make([]Put, len(plan.Copies))}
	for i, c := range plan.Copies {
		b.Puts[i] = Put{Local: c.Local, Remote: c.Remote, IsDir: c.IsDir, Owner: c.Owner, Size: c.Size}
	}
	return b
}

func remotes(plan liveupdate.Plan) []string {
	out := append([]string(nil), plan.Deletes...)
	for _, c := range plan.Copies {
		out = append(out, c.Remote)
	}
	return out
}
