//go:build linux

package agent

// outcome is how a request has ended that others may have to come after.
type outcome struct {
	settled chan struct{}
	ok      bool // valid once settled is closed
	killed  bool // it must not begin any more; guarded by the server's mu
}

// mostOutcomes is how many outcomes are kept: a client names requests that it has sent just before.
const mostOutcomes = 1000

// expect notes that a request has been received.
func (s *server) expect(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.outcomes) >= mostOutcomes {
		for id, o := range s.outcomes {
			select {
			case <-o.settled:
				delete(s.outcomes, id)
			default:
			}
		}
	}
	s.outcomes[id] = &outcome{settled: make(chan struct{})}
}

// settle notes how a request has ended.
func (s *server) settle(id uint64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.outcomes[id]; o != nil {
		select {
		case <-o.settled: // two requests of the same id
		default:
			o.ok = ok
			close(o.settled)
		}
	}
}

// after calls do once the request of that id has ended, and at once for the id zero. ok tells whether it has succeeded; one that was
// never received has not. At the end of the conversation do is not called any more.
func (s *server) after(id uint64, do func(ok bool)) {
	if id == 0 {
		do(true)
		return
	}
	s.mu.Lock()
	o := s.outcomes[id]
	s.mu.Unlock()
	if o == nil {
		do(false)
		return
	}
	select {
	case <-o.settled:
		do(o.ok)
		return
	default:
	}
	s.all.Go(func() {
		select {
		case <-o.settled:
			do(o.ok)
		case <-s.done:
		}
	})
}
