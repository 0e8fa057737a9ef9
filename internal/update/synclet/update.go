package synclet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hone-dev/hone/internal/update/agent/patch"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// How an update is sent. apply runs on its caller's goroutine. Several goroutines may call it, and take turns:
//
//	take turn → meet: wait for earlier updates of the same paths → differences: read and compare → stage: Begin … Commit, steps
//	→ give the turn back → wait for Applied → learn or doubt the paths
//
// Conversation.turn covers reading and sending, but not the wait for the answer: transfer gives the turn back as soon as everything
// is written (sent), so that the next update travels behind this one. The paths of an update that has not been answered are in
// Conversation.inFlight, from depart until apply returns: until then an update with a path in common waits in meet. apply
// changes the knowledge about these paths at the end: it learns them after success, and doubts them after an error.
//
// The local files are read by the goroutines of differences. A small update is read before anything is sent. Of a large one that is
// new to the container (streamFrom), the first files are sent while the others are still being read. If the synclet refuses an
// update because a file to copy from has changed (misjudged), apply sends everything once more without such copies. It no longer
// holds the turn then: wmu keeps its frames together, and inFlight keeps other updates of its paths away.
//
// The goroutine that reads the conversation calls the functions registered with expect; they close a channel for which apply waits.

// Batch is one update, which is carried out as a whole. Deletes are clean absolute paths, removed before anything is put in place.
// Each one stands for itself alone: a folder is removed only if it is empty.
type Batch struct {
	Deletes []string
	Puts    []Put
}

// Report is the result of an update.
type Report struct {
	// Files and Bytes were sent; Same files existed already.
	Files, Deletes, Same int
	Bytes                int64
	// Sent is the time at which the last byte had been handed to the stream; zero if there was nothing to send.
	Sent time.Time
	// Answered is the time at which the synclet's answer arrived; zero if there was nothing to send.
	Answered time.Time
	// Took is the time that the synclet worked after it had received everything.
	Took time.Duration
}

// FaultError means that paths could not be written.
type FaultError struct {
	Faults []protocol.Fault
	// UID is the user that the synclet runs as.
	UID uint64
}

// Error names the first paths with their reasons.
func (e *FaultError) Error() string {
	var b strings.Builder
	for i, f := range e.Faults {
		if i == 3 {
			fmt.Fprintf(&b, "; and %d more", len(e.Faults)-i)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s: %s", f.Path, f.Text)
	}
	return b.String()
}

// Is reports whether any path failed for the given reason of the operating system.
func (e *FaultError) Is(target error) bool {
	n, ok := target.(syscall.Errno)
	for _, f := range e.Faults {
		if ok && f.Errno == uint64(n) {
			return true
		}
	}
	return false
}

var _ error = (*FaultError)(nil)

// Apply brings the container's files in line with the local ones, as they are when Apply reads them. Files that the
// container is known to have are not sent. With an error of type *FaultError all other paths are in place, or, if every
// fault is Staged, none. With any other error the outcome is unknown, and the next Apply of the same paths sends them
// again.
func (s *Conversation) Apply(ctx context.Context, b Batch) (Report, error) {
	r, _, err := s.apply(ctx, b, func(bool) Then { return Then{} })
	return r, err
}

// apply is Apply with steps behind the files. It calls then as soon as it knows whether any file will be sent. When apply returns
// without an error, the steps have been sent, and may still run.
//
// Another update may begin as soon as this one has been sent, and travel behind it, unless it changes a path of this one.
func (s *Conversation) apply(ctx context.Context, b Batch, then func(changed bool) Then) (r Report, f sequence, err error) {
	if err := s.take(ctx); err != nil {
		return r, f, err
	}
	give := sync.OnceFunc(func() { <-s.sending })
	defer give()
	if err := s.settled(ctx, b); err != nil {
		return r, f, err
	}
	deletes := s.present(b.Deletes, &r)
	differing := s.differences(ctx, b.Puts)
	defer differing.end()
	size := sizeOf(b.Puts)
	streams := s.unknown(b.Puts) >= streamFrom
	if streams {
		streams, err = differing.any(ctx)
	} else {
		err = differing.wait(ctx)
	}
	if err != nil {
		return r, f, err
	}
	if !streams {
		size = sizesOf(differing.files())
	}
	if len(deletes)+size.files == 0 {
		r.Same += differing.same()
		follows := then(false)
		f, messages, err := s.prepare(follows, 0)
		if err == nil && len(messages) > 0 {
			err = s.send(messages...)
		}
		if follows.Sequence != 0 {
			f.contents = s.contents(b, differing)
		}
		return r, f, err
	}
	paths := append(differing.paths(streams), deletes...)
	defer s.begins(paths)()
	r.Files, r.Deletes, r.Bytes = size.files, len(deletes), size.bytes
	follows := then(true)
	applied, f, err := s.transfer(ctx, deletes, differing.each(ctx), size, follows, &r, give)
	if err == nil && misjudged(applied, differing.files()) {
		for _, l := range differing.files() {
			l.whole()
		}
		applied, f, err = s.transfer(ctx, deletes, differing.each(ctx), sizesOf(differing.files()), follows, &r, func() {})
	}
	if follows.Sequence != 0 {
		f.contents = s.contents(b, differing)
	}
	if err != nil {
		s.doubt(paths...)
		return r, f, err
	}
	files := differing.files()
	size = sizesOf(files)
	r.Files, r.Bytes, r.Same, r.Took = size.files, size.bytes, r.Same+differing.same(), time.Duration(applied.Nanos)
	for _, d := range deletes {
		s.learn(d, content{}, nil)
	}
	for _, l := range files {
		s.learn(l.put.Path, l.content, l.chunks)
	}
	if len(applied.Faults) > 0 {
		s.doubt(paths...)
		return r, f, &FaultError{applied.Faults, s.hello.UID}
	}
	return r, f, nil
}

// contents returns the content of each path of an update once it is carried out, nil if not all files were read.
func (s *Conversation) contents(b Batch, d *differences) map[string]content {
	if !d.complete() {
		return nil
	}
	out := make(map[string]content, len(b.Deletes)+len(b.Puts))
	for _, path := range b.Deletes {
		out[path] = content{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, p := range b.Puts {
		if l := d.found[i]; l != nil {
			out[p.Remote] = l.content
		} else if k, ok := s.known.at[p.Remote]; ok {
			out[p.Remote] = k.content
		}
	}
	return out
}

// misjudged reports whether an update has failed because a file in the container, from which parts of the new content were to be
// copied, is not as expected: something in the container has changed it. Nothing has been put in place then.
func misjudged(applied *protocol.Applied, files []*local) bool {
	based := map[string]bool{}
	for _, l := range files {
		if l.based() {
			based[l.put.Path] = true
		}
	}
	wrong := false
	for _, f := range applied.Faults {
		if !f.Staged {
			return false
		}
		wrong = wrong || based[f.Path]
	}
	return wrong
}

// transfer sends an update and the steps behind it, calls sent, and waits for the answer to the update. An error before Commit is
// sent leaves the container as it was.
func (s *Conversation) transfer(
	ctx context.Context, deletes []string, files iter.Seq2[*local, error], size announced, then Then, r *Report, sent func(),
) (applied *protocol.Applied, f sequence, err error) {
	answered := make(chan struct{})
	var at time.Time
	id, err := s.expect(func(m protocol.Message) bool {
		if a, ok := m.(*protocol.Applied); ok {
			applied, at = a, time.Now()
			close(answered)
		}
		return true
	})
	if err != nil {
		return nil, f, err
	}
	defer s.forget(id)
	f, messages, err := s.prepare(then, id)
	if err != nil {
		return nil, f, err
	}
	defer s.line.begin()()
	began := time.Now()
	if err := s.stage(ctx, id, deletes, files, size, messages); err != nil {
		return nil, f, s.reason(err)
	}
	r.Sent = time.Now()
	for l, err := range files {
		if err == nil {
			s.copies.keep(l) // while it travels
		}
	}
	sent()
	if err := s.answer(ctx, answered); err != nil {
		return nil, f, err
	}
	r.Answered = at
	s.line.arrived(at.Sub(began) - time.Duration(applied.Nanos))
	return applied, f, nil
}

// stage sends everything up to Commit, and then follows. The frames of a small update travel together.
func (s *Conversation) stage(
	ctx context.Context, id uint64, deletes []string, files iter.Seq2[*local, error], size announced, follows []protocol.Message,
) error {
	s.wmu.Lock()
	defer s.wmu.Unlock()
	s.w.Append(&protocol.Begin{ID: id, Files: uint64(size.files), Bytes: uint64(size.bytes)})
	for _, d := range deletes {
		s.w.Append(&protocol.Delete{Path: d})
	}
	for l, err := range files {
		if err == nil {
			err = s.stageFile(l)
		}
		if err == nil && s.w.Buffered() > protocol.MaxData {
			err = s.flushBulk()
		}
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			s.w.Append(&protocol.Abort{ID: id})
			return errors.Join(err, s.flush())
		}
	}
	s.w.Append(&protocol.Commit{ID: id})
	for _, m := range follows {
		s.w.Append(m)
	}
	return s.flush()
}

// stageFile sends a file. A big one is not held in memory: if it changes meanwhile, its sum no longer matches and the synclet
// refuses it; the change triggers another update.
func (s *Conversation) stageFile(l *local) error {
	var f io.ReaderAt
	if l.big {
		file, err := os.Open(l.path)
		if err != nil {
			return err
		}
		defer file.Close()
		f = file
		if l.like != nil {
			l.like.content = file
		}
	}
	if l.put.Base = ""; l.based() {
		l.put.Base = l.base
	}
	if l.put.Data = nil; !l.big && len(l.parts) == 1 && len(l.data) <= protocol.MaxData && l.parts[0].kind == freshPart {
		l.put.Data = l.data
		s.w.Append(l.put)
		return nil
	}
	s.w.Append(l.put)
	for _, p := range l.parts {
		var err error
		switch p.kind {
		case samePart:
			s.w.Append(&protocol.Copy{Offset: p.from, Size: p.size})
		case patchedPart:
			err = s.stagePatch(l.like, p)
		case holePart:
			err = s.stageHole(p.size)
		case freshPart:
			err = s.stagePart(l.reader(f, p), p.size)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// stagePatch sends the differences between the next part of a file's content and the similar part of the container's file.
func (s *Conversation) stagePatch(k *similarRange, p part) error {
	var edits []byte
	for at := uint64(0); at < p.size; {
		n := min(p.size-at, protocol.MaxData)
		content, old, err := k.read(p.at+at, p.from+at, n)
		if err != nil {
			return err
		}
		edits = patch.Edits(edits[:0], old, content)
		s.w.Append(&protocol.Patch{Offset: p.from + at, Size: n, Edits: edits})
		at += n
		if s.w.Buffered() > protocol.MaxData {
			if err := s.flushBulk(); err != nil {
				return err
			}
		}
	}
	return nil
}

// holePiece is the most zeros, in bytes, that one message announces: the synclet takes a while to compute their checksum.
const holePiece = 64 << 20

// stageHole announces that the next part of a file's content is zeros.
func (s *Conversation) stageHole(left uint64) error {
	for left > 0 {
		n := min(left, holePiece)
		s.w.Append(&protocol.Copy{Offset: protocol.Hole, Size: n})
		if left -= n; left > 0 {
			if err := s.flushBulk(); err != nil {
				return err
			}
		}
	}
	return nil
}

// stagePart sends the next part of a file's content.
func (s *Conversation) stagePart(r io.Reader, left uint64) error {
	buf := make([]byte, min(left, protocol.MaxData))
	for left > 0 {
		n, err := io.ReadFull(r, buf[:min(left, uint64(len(buf)))])
		if n > 0 {
			s.w.Append(&protocol.Data{Data: buf[:n]})
			left -= uint64(n)
		}
		if err != nil {
			return nil //nolint:nilerr // the file has become shorter
		}
		if s.w.Buffered() > protocol.MaxData {
			if err := s.flushBulk(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Learn asks the synclet for the content of paths, so that Apply sends only the differences. It learns the content of files and
// links, and only the existence of folders.
func (s *Conversation) Learn(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	places := make([]protocol.Place, len(paths))
	found := make(map[string]*known, len(paths))
	for i, p := range paths {
		places[i] = placeOf(p)
		found[p] = nil
	}
	entries, room := 0, mostChunks
	err := s.list(ctx, places, deltaFrom, func(e *protocol.Entry) error {
		if entries++; entries > len(paths) {
			return fmt.Errorf("%w: it was asked for %d paths, and reports more", errForeign, len(paths))
		}
		if _, asked := found[e.Path]; !asked {
			return nil
		}
		k := &known{content: entryContent(e)}
		if room -= len(e.Chunks); room >= 0 {
			k.chunks = entryChunks(e)
		}
		found[e.Path] = k
		return nil
	})
	if err != nil {
		return err
	}
	for p, k := range found {
		if k != nil {
			s.learn(p, k.content, k.chunks)
		} else {
			s.learn(p, content{}, nil)
		}
	}
	return nil
}

// mostChunks is the most bytes of chunk lists that one Learn accepts: the lists of about 15 GB of files.
const mostChunks = 16 << 20

// list asks for the entries in places, and calls take for each, folders before their content. Unreadable entries are left out.
// Files of at least chunks bytes come with their chunks; zero asks for none. take must not keep the entry's Chunks; its error ends
// the conversation.
func (s *Conversation) list(ctx context.Context, places []protocol.Place, chunks uint64, take func(*protocol.Entry) error) error {
	answered := make(chan struct{})
	id, err := s.expect(func(m protocol.Message) bool {
		switch m := m.(type) {
		case *protocol.Entry:
			err := take(m)
			if err != nil {
				s.cut(err)
			}
			return err != nil
		case *protocol.Listed:
			close(answered)
		}
		return true
	})
	if err != nil {
		return err
	}
	if err := s.send(&protocol.List{ID: id, Places: places, Chunks: chunks}); err != nil {
		s.forget(id)
		return err
	}
	if err := s.answer(ctx, answered); err != nil {
		s.forget(id)
		return err
	}
	return nil
}
