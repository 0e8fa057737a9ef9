package loglist

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/hone-dev/hone/internal/base/logline"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// keptPatterns bounds the messages of a resource that are known. A program with more of them writes data, not messages.
	keptPatterns = 20_000
	// keptErrors bounds the first lines of errors that are kept.
	keptErrors = 200
)

// Patterns knows the line in which each message of a resource's runtime log was seen first, and so which messages are new since
// an update. It is safe for use by several goroutines.
type Patterns struct {
	logs   Logs
	filter logstore.Filter
	cancel context.CancelFunc
	news   chan struct{}
	bad    *atomic.Uint64 // the lister's count of errors

	mu    sync.Mutex
	first map[uint64]uint64 // the number of the first line, by pattern
	// errors are the first lines of messages at error level, in their order.
	errors []uint64
	seen   uint64 // every line up to this number was looked at
}

// Patterns starts to learn the messages of a resource.
func (l *Lister) Patterns(resource model.ManifestName) *Patterns {
	ctx, cancel := context.WithCancel(l.ctx)
	p := &Patterns{logs: l.logs, cancel: cancel, news: l.news, bad: &l.errors, first: map[uint64]uint64{},
		filter: logstore.Filter{Resources: []model.ManifestName{resource}, Sources: []logstore.Source{logstore.SourceRuntime}}}
	l.work.Go(func() { p.run(ctx) })
	return p
}

// Close ends the learning.
func (p *Patterns) Close() { p.cancel() }

func (p *Patterns) run(ctx context.Context) {
	changed, cancel := p.logs.Subscribe()
	defer cancel()
	for ctx.Err() == nil {
		newest := p.logs.Newest()
		if p.seen < newest {
			p.learn(ctx, min(newest, p.seen+lastStep))
			continue
		}
		select {
		case <-ctx.Done():
		case <-changed:
			retry.Sleep(ctx, followPause)
		}
	}
}

// learn looks at the lines up to a number.
func (p *Patterns) learn(ctx context.Context, to uint64) {
	type message struct {
		pattern, seq uint64
		bad          bool
	}
	var found []message
	known := map[uint64]bool{}
	_ = p.logs.Scan(ctx, p.filter, p.seen, to+1, false, func(line logstore.LineRef) bool {
		pattern := logline.Pattern(string(line.Text))
		if !known[pattern] {
			known[pattern] = true
			found = append(found, message{pattern, line.Seq, line.Level >= logstore.LevelError})
		}
		return true
	})
	if ctx.Err() != nil {
		return
	}
	p.mu.Lock()
	grew := false
	for _, m := range found {
		if _, ok := p.first[m.pattern]; ok || len(p.first) >= keptPatterns {
			continue
		}
		p.first[m.pattern] = m.seq
		grew = true
		if m.bad {
			p.bad.Add(1)
			p.errors = append(p.errors[max(0, len(p.errors)+1-keptErrors):], m.seq)
		}
	}
	p.seen = to
	p.mu.Unlock()
	if grew {
		select {
		case p.news <- struct{}{}:
		default:
		}
	}
}

// New reports whether the message of a line was never seen before the line numbered since.
func (p *Patterns) New(line logstore.Line, since uint64) bool {
	if line.Seq < since || line.Source != logstore.SourceRuntime {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	first, ok := p.first[logline.Pattern(line.Text)]
	return ok && first >= since
}

// NewError returns the first line of an error whose message was never seen before the line numbered since, and the number of such
// messages.
func (p *Patterns) NewError(since uint64) (line logstore.Line, n int) {
	p.mu.Lock()
	var seq uint64
	for _, s := range p.errors {
		if s >= since {
			if n == 0 {
				seq = s
			}
			n++
		}
	}
	p.mu.Unlock()
	if n == 0 {
		return logstore.Line{}, 0
	}
	lines := p.logs.ReadAfter(p.filter, seq-1, 1)
	if len(lines) == 0 || lines[0].Seq != seq {
		return logstore.Line{}, 0
	}
	return lines[0], n
}
