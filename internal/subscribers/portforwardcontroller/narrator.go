package portforwardcontroller

import (
	"context"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/portforward"
	"github.com/hone-dev/hone/internal/loop/state"
)

// narrator reports the state of a forward. It writes to the resource's log why connections fail, and when they work again.
type narrator struct {
	log    logstore.Logger
	port   string // where the forward listens
	after  time.Duration
	news   chan portforward.Status
	report func(st portforward.Status, is state.ForwardState)
}

// take passes on the newest status.
func (n *narrator) take(ctx context.Context, st portforward.Status) {
	select {
	case n.news <- st:
	case <-ctx.Done():
	}
}

// run reports until ctx is done. Until a failure has lasted, the forward only waits. The log has each cause once, until the pod
// has answered.
func (n *narrator) run(ctx context.Context) {
	wait := time.NewTimer(time.Hour)
	wait.Stop()
	defer wait.Stop()
	var failing, told string // the current cause, and the last reported one
	waiting := false
	var now portforward.Status
	for {
		select {
		case <-ctx.Done():
			return
		case st := <-n.news:
			lasts := now.State == portforward.StateError && !waiting // also with another cause
			now = st
			if is := states[st.State]; is != state.ForwardFailed || lasts {
				n.report(st, is)
			} else {
				n.report(st, state.ForwardWaiting)
			}
			switch {
			case st.State == portforward.StateError:
				failing = st.Cause
				if news := !lasts || failing != told; news && !waiting {
					wait.Reset(n.after)
					waiting = true
				}
			case st.Answered:
				if told != "" {
					logstore.Infof(n.log, "port forward %s → pod %s works again", n.port, st.Target)
				}
				failing, told = "", ""
				waiting = false
				wait.Stop()
			default: // another pod, or none: its state is unknown
				failing = ""
				waiting = false
				wait.Stop()
			}
		case <-wait.C:
			waiting = false
			n.report(now, states[now.State])
			if failing != told {
				logstore.Errorf(n.log, "port forward %s → pod %s fails: %s", n.port, *now.Target, failing)
				told = failing
			}
		}
	}
}
