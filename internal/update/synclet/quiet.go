package synclet

import (
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/update/liveupdate"
)

// pingAfter is the silence after which a synclet that has something to do is pinged: a command may print nothing for a long time.
const pingAfter = liveupdate.QuietAfter / 2

// attendance watches for the signs of life of a synclet that has something to do.
type attendance struct {
	s         *Conversation
	container string
	log       logstore.Logger
	began     time.Duration // on the stream's clock

	mu     sync.Mutex
	timer  *time.Timer
	silent time.Duration // since when it has been, if the user was told; guarded by mu, as everything below
	told   bool
	ended  bool
}

// attend tells the user if the synclet of a container falls silent while it has something to do, and when it answers again. over
// ends the watch; answered tells whether the synclet has finished its work.
func (s *Conversation) attend(container string, log logstore.Logger) (over func(answered bool)) {
	a := &attendance{s: s, container: container, log: log, began: s.stream.now()}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timer = time.AfterFunc(pingAfter, func() {
		if a.look() {
			s.ask()
		}
	})
	return a.over
}

// last is the time of the last sign of life.
func (a *attendance) last() time.Duration { return max(a.began, a.s.stream.last()) }

// look notes how long the synclet has been silent, and reports whether to ping it.
func (a *attendance) look() (ping bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return false
	}
	quiet := a.s.stream.now() - a.last()
	switch {
	case a.told && quiet < liveupdate.QuietAfter:
		a.again()
	case a.told:
	case quiet >= liveupdate.QuietAfter:
		a.told, a.silent = true, a.last()
		logstore.Warnf(a.log, "Container %s has not answered for %s: it may be frozen or out of CPU time, or the connection may be down. "+
			"hone waits for %s, and then connects again", a.container, quiet.Round(time.Second), askAfter+answerWithin)
	case quiet >= pingAfter:
		a.timer.Reset(liveupdate.QuietAfter - quiet)
		return true
	default:
		a.timer.Reset(pingAfter - quiet)
		return false
	}
	a.timer.Reset(pingAfter)
	return false
}

// again tells the user that the synclet answers again.
func (a *attendance) again() {
	logstore.Infof(a.log, "Container %s answers again, after %s", a.container, (a.last() - a.silent).Round(time.Second))
	a.told = false
}

func (a *attendance) over(answered bool) {
	a.timer.Stop()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	if a.told && answered {
		a.again()
	}
}
