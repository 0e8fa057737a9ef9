//go:build linux

package agent

// outcome is the result of a request that others may have to wait for.
type outcome struct {
	settled chan struct{}
	ok      bool // valid once settled is closed
	killed  bool // it must not begin; guarded by the server's mu
}

// mostOutcomes is the number of outcomes from which on settled ones are forgotten: a client names only requests that it has sent
// just before.
const mostOutcomes = 1000

// expect notes that a request has been received, so that others can wait for it.
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

// settle notes whether a request has succeeded.
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

// after calls do once the request with that id has ended, and at once if the id is zero. ok tells whether the request has
// succeeded; a request that was never received counts as failed. After the end of the conversation, do is not called.
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
