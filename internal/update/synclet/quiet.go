package synclet

import (
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
)

// quietAfter is how long nothing may come from a synclet that has something to do until the user is told. It reports more often that it
// is busy.
const quietAfter = 3 * time.Second

// attend tells the user if the synclet of a container falls silent while it has something to do, and when it answers again. over ends
// that; answered tells whether the synclet has done what it had to do.
func (s *Conversation) attend(container string, log logstore.Logger) (over func(answered bool)) {
	began := s.stream.now()
	quiet := func() time.Duration { return s.stream.now() - max(began, s.stream.last()) }
	var mu sync.Mutex
	var since time.Duration // when it fell silent; zero until the user was told
	ended := false
	var timer *time.Timer
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(quietAfter, func() {
		mu.Lock()
		defer mu.Unlock()
		switch silent := quiet(); {
		case ended:
		case silent < quietAfter:
			timer.Reset(quietAfter - silent)
		default:
			since = s.stream.now() - silent
			logstore.Warnf(log, "Container %s has not answered for %s: it may be frozen or out of CPU time, or the connection may be down. "+
				"hone waits for %s, and then connects again", container, silent.Round(time.Second), askAfter+answerWithin)
		}
	})
	return func(answered bool) {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		ended = true
		if since > 0 && answered {
			logstore.Infof(log, "Container %s answers again, after %s", container, (s.stream.now() - since).Round(time.Second))
		}
	}
}
