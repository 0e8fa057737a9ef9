package synclet

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

const (
	// mostHeld is the most content of an update, in bytes, that is kept in memory. Anything beyond it is read again when it is
	// sent.
	mostHeld = 32 << 20
	// readers is the number of goroutines that read a large update, and readRun the number of files that one of them reads in a
	// row.
	readers, readRun = 4, 64
	// streamFrom is the number of files, not known to be in the container, from which on the first ones are sent while the others
	// are still being read.
	streamFrom = 1000
)

// announced is the size of an update as Begin announces it. While files are still being read, it is an estimate that counts all of
// them.
type announced struct {
	files int
	bytes int64
}

// sizesOf returns the size of an update of files.
func sizesOf(files []*local) (a announced) {
	a.files = len(files)
	for _, l := range files {
		a.bytes += int64(l.put.Size)
	}
	return a
}

// sizeOf returns the size of an update that sends every file, as far as the sizes are known.
func sizeOf(puts []Put) (a announced) {
	a.files = len(puts)
	for _, p := range puts {
		a.bytes += p.Size
	}
	return a
}

// present returns the paths to delete, without those that the container is known not to have.
func (s *Conversation) present(deletes []string, r *Report) (out []string) {
	for _, d := range deletes {
		if s.absent(d) {
			r.Same++
		} else {
			out = append(out, d)
		}
	}
	return out
}

// unknown returns the number of files that are not known to be in the container.
func (s *Conversation) unknown(puts []Put) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range puts {
		if k, ok := s.known.at[p.Remote]; !ok || !k.content.there {
			n++
		}
	}
	return n
}

// differences are the local files of an update that the container does not have. Several goroutines look for them if there are many
// files; end waits for these goroutines. The other methods are for one goroutine.
type differences struct {
	conversation *Conversation
	puts         []Put
	found        []*local // by put; nil for a file that need not be sent
	runs         []run
	next         atomic.Int64 // of runs
	held, equal  atomic.Int64
	cancel       context.CancelFunc
	all          sync.WaitGroup
}

// run is a part of the files that one goroutine reads; err is valid once done is closed.
type run struct {
	done chan struct{}
	err  error
}

// differences begins to look for the files of an update that have to be sent. The caller calls end.
func (s *Conversation) differences(ctx context.Context, puts []Put) *differences {
	d := &differences{conversation: s, puts: puts, found: make([]*local, len(puts)), runs: make([]run, (len(puts)+readRun-1)/readRun)}
	ctx, d.cancel = context.WithCancel(ctx)
	for i := range d.runs {
		d.runs[i].done = make(chan struct{})
	}
	if len(d.runs) == 1 {
		d.read(ctx)
		return d
	}
	for range min(readers, runtime.GOMAXPROCS(0), len(d.runs)) {
		d.all.Go(func() { d.read(ctx) })
	}
	return d
}

// end ends the use of the files.
func (d *differences) end() {
	d.cancel()
	d.all.Wait()
	for _, l := range d.found {
		if l != nil {
			l.done()
		}
	}
}

// read reads one run after the other.
func (d *differences) read(ctx context.Context) {
	for {
		i := int(d.next.Add(1)) - 1
		if i >= len(d.runs) {
			return
		}
		d.runs[i].err = d.readRun(ctx, i*readRun)
		close(d.runs[i].done)
	}
}

func (d *differences) readRun(ctx context.Context, first int) error {
	for i := first; i < min(first+readRun, len(d.puts)); i++ {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		l, err := d.one(d.puts[i])
		if err != nil {
			return fmt.Errorf("read %s: %w", d.puts[i].Local, err)
		}
		d.found[i] = l
	}
	return nil
}

// one returns a file if it has to be sent.
func (d *differences) one(p Put) (*local, error) {
	known, done := d.conversation.base(p.Remote)
	l, err := look(p, known)
	if err == nil && l != nil && !d.conversation.same(l) {
		l.done = done
		if d.held.Add(int64(len(l.data))) > mostHeld && l.put.Kind == protocol.KindFile {
			d.held.Add(-int64(len(l.data)))
			l.data, l.big = nil, true
		}
		return l, nil
	}
	done()
	if err == nil && l != nil { // nil is a path that is gone: its removal is another change
		d.equal.Add(1)
		d.conversation.copies.keep(l)
	}
	return nil, err
}

// each yields the files that have to be sent, as soon as they are found, in the order of the update, or an error.
func (d *differences) each(ctx context.Context) iter.Seq2[*local, error] {
	return func(yield func(*local, error) bool) {
		for i := range d.runs {
			select {
			case <-d.runs[i].done:
			case <-ctx.Done():
				yield(nil, context.Cause(ctx))
				return
			}
			if err := d.runs[i].err; err != nil {
				yield(nil, err)
				return
			}
			for _, l := range d.found[i*readRun : min((i+1)*readRun, len(d.found))] {
				if l != nil && !yield(l, nil) {
					return
				}
			}
		}
	}
}

// any waits until a file is found that has to be sent; it returns false if there is none.
func (d *differences) any(ctx context.Context) (bool, error) {
	for _, err := range d.each(ctx) {
		return err == nil, err
	}
	return false, nil
}

// wait waits until all files have been compared.
func (d *differences) wait(ctx context.Context) error {
	for _, err := range d.each(ctx) {
		if err != nil {
			return err
		}
	}
	return nil
}

// complete reports whether all files have been compared.
func (d *differences) complete() bool {
	for _, r := range d.runs {
		select {
		case <-r.done:
			if r.err != nil {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// files returns the files that have to be sent, once all have been compared.
func (d *differences) files() (out []*local) {
	for _, l := range d.found {
		if l != nil {
			out = append(out, l)
		}
	}
	return out
}

// same returns the number of files that the container already has, once all have been compared.
func (d *differences) same() int { return int(d.equal.Load()) }

// paths returns the paths in the container that the update changes or, with all, also the paths of files that have not been
// compared.
func (d *differences) paths(all bool) (out []string) {
	for i, p := range d.puts {
		if all || d.found[i] != nil {
			out = append(out, p.Remote)
		}
	}
	return out
}
