package screen

import (
	"context"

	"github.com/hone-dev/hone/internal/base/logstore"
)

// request is a search for the next line after from, or the last line before it, that matches a filter.
type request struct {
	filter logstore.Filter
	from   uint64
	back   bool
	found  string
}

// answer is the line that was found, 0 for none.
type answer struct {
	found string
	seq   uint64
}

// searcher runs one search at a time; a newer search cancels the previous one.
type searcher struct {
	logs     Logs
	requests chan request // one slot: the newest
	answers  chan answer
}

func newSearcher(logs Logs) *searcher {
	return &searcher{logs: logs, requests: make(chan request, 1), answers: make(chan answer)}
}

// ask replaces the pending request. It is called by a single goroutine.
func (s *searcher) ask(r request) {
	select {
	case <-s.requests:
	default:
	}
	s.requests <- r
}

// run answers requests until ctx is done.
func (s *searcher) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-s.requests:
			a := s.find(ctx, r)
			select {
			case s.answers <- a:
			case <-ctx.Done():
				return
			}
		}
	}
}

func (s *searcher) find(ctx context.Context, r request) answer {
	lines, err := s.logs.Search(ctx, r.filter, r.from, 1, r.back)
	if err != nil || len(lines) == 0 {
		return answer{found: r.found}
	}
	return answer{r.found, lines[0].Seq}
}
