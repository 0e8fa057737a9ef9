package portforwardcontroller

import (
	"context"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/portforward"
)

// narrator reports in the resource's log why connections through a forward fail, and when they work again.
type narrator struct {
	log   logstore.Logger
	port  string // where the forward listens
	after time.Duration
	news  chan portforward.Status
}

// take passes on the newest status.
func (n *narrator) take(ctx context.Context, st portforward.Status) {
	select {
	case n.news <- st:
	case <-ctx.Done():
	}
}

// run writes until ctx is done. A failure is reported once it has lasted, each cause once, until the pod has answered.
func (n *narrator) run(ctx context.Context) {
	wait := time.NewTimer(time.Hour)
	wait.Stop()
	defer wait.Stop()
	var failing, told string // the current cause, and the last reported one
	waiting := false
	var to portforward.Target
	for {
		select {
		case <-ctx.Done():
			return
		case st := <-n.news:
			switch {
			case st.State == portforward.StateError:
				if failing, to = st.Cause, *st.Target; failing != told && !waiting {
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
			if failing != told {
				logstore.Errorf(n.log, "port forward %s → pod %s fails: %s", n.port, to, failing)
				told = failing
			}
		}
	}
}
