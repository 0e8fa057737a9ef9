package up

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/loop/state"
)

// lockLimit bounds the wait for the updates of another session.
const lockLimit = 5 * time.Minute

// turn is an operation that changes the objects of a project in a namespace.
type turn struct {
	tiltfile, context, namespace string
	// by names the operation to the sessions that wait: "hone ci (pid 12)".
	by string
	// to gets the messages about the sessions.
	to io.Writer
}

// take makes the sessions of hone up that deploy the same project to the same namespace wait until the operation has ended, after the
// updates that they have begun. It returns the sessions that wait, and releases them by end. A session that does not answer does not keep
// the operation from its work.
func (t turn) take(ctx context.Context) (waiting []sessions.Info, end func()) {
	var ends []func()
	end = func() {
		for _, e := range ends {
			e()
		}
	}
	living, err := flags.Registry().Of(ctx, t.tiltfile, t.context)
	if err != nil {
		fmt.Fprintf(t.to, "Cannot determine whether a session runs this project: %v\n", err)
		return nil, end
	}
	for _, s := range living {
		if s.Command != string(state.CommandUp) || s.Socket == "" || os.Getenv(flags.SessionVariable) == s.Name {
			continue
		}
		other := client.Over(s)
		view, err := other.View(ctx)
		if err == nil && view.Namespace != t.namespace {
			continue
		}
		if err == nil {
			var ended func()
			ended, err = other.DeployLock(ctx, t.by, lockLimit, func(on []string) {
				fmt.Fprintf(t.to, "Waiting for %s, which updates %s…\n", sessionTitle(s), strings.Join(on, ", "))
			})
			if err == nil {
				waiting, ends = append(waiting, s), append(ends, ended)
				fmt.Fprintf(t.to, "%s also deploys this project: its updates wait until this is done.\n", capitalized(sessionTitle(s)))
			}
		}
		if err != nil && ctx.Err() == nil {
			fmt.Fprintf(t.to, "%s also deploys this project, and does not wait: %v\n", capitalized(sessionTitle(s)), err)
		}
	}
	return waiting, end
}

func capitalized(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
