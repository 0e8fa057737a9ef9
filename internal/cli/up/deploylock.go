package up

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/loop/state"
)

// lockLimit bounds the wait for the updates of another session.
const lockLimit = 5 * time.Minute

// takeDeployLocks makes the sessions of hone up that deploy the same project to the same namespace wait until this session of hone ci has
// ended, after the updates that they have begun. The result releases the locks. A session that does not answer does not keep this one from
// its work.
func takeDeployLocks(ctx context.Context, o options, p sessionParts) (end func()) {
	var ends []func()
	end = func() {
		for _, e := range ends {
			e()
		}
	}
	is := p.Claim.Info()
	living, err := flags.Registry().Of(ctx, is.Tiltfile, is.Context)
	if err != nil {
		fmt.Fprintf(o.global.Stderr, "Cannot determine whether a session runs this project: %v\n", err)
		return end
	}
	for _, s := range living {
		if s.Command != string(state.CommandUp) || s.Socket == "" || os.Getenv(flags.SessionVariable) == s.Name {
			continue
		}
		other := client.Over(s)
		view, err := other.View(ctx)
		if err == nil && view.Namespace != p.Namespace {
			continue
		}
		if err == nil {
			var ended func()
			ended, err = other.DeployLock(ctx, fmt.Sprintf("hone %s (pid %d)", o.command, is.PID), lockLimit, func(on []string) {
				fmt.Fprintf(o.global.Stderr, "Waiting for %s, which updates %s…\n", sessionTitle(s), strings.Join(on, ", "))
			})
			if err == nil {
				ends = append(ends, ended)
				fmt.Fprintf(o.global.Stderr, "%s also deploys this project: its updates wait until this is done.\n", capitalized(sessionTitle(s)))
			}
		}
		if err != nil && ctx.Err() == nil {
			fmt.Fprintf(o.global.Stderr, "%s also deploys this project, and does not wait: %v\n", capitalized(sessionTitle(s)), err)
		}
	}
	return end
}

func capitalized(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
