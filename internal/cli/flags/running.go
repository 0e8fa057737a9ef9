package flags

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/loop/events"
	"github.com/hone-dev/hone/pkg/api"
)

// AskLimit is the time that each session may take to answer when all sessions are listed.
const AskLimit = 3 * time.Second

// RunningSessions requests the state of all sessions at once.
func RunningSessions(ctx context.Context, r *sessions.Registry) ([]api.RunningSession, error) {
	living, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, AskLimit)
	defer cancel()
	all := make([]api.RunningSession, len(living))
	var asking sync.WaitGroup
	for i, s := range living {
		all[i] = api.RunningSession{Name: s.Name, PID: s.PID, Command: s.Command, Tiltfile: s.Tiltfile, Context: s.Context,
			StartedAt: s.StartedAt, URL: s.URL, Socket: s.Socket, Kubeconfig: r.Kubeconfig(s), Log: s.Log}
		asking.Go(func() { all[i].Resources, all[i].TiltfileError, all[i].Error = CountResources(ctx, s) })
	}
	asking.Wait()
	return all, nil
}

// CountResources requests from one session the number of its resources by state, and the error of its Tiltfile. failure is
// why it did not answer.
func CountResources(ctx context.Context, s sessions.Info) (n *api.ResourceCounts, tiltfile, failure string) {
	if s.Socket == "" {
		return nil, "", "starting"
	}
	v, err := client.Over(s).View(ctx)
	if err != nil {
		return nil, "", "does not answer"
	}
	if v.TiltfileError != "" {
		tiltfile = strings.TrimPrefix(events.OneLine(v.TiltfileError), filepath.Dir(s.Tiltfile)+string(filepath.Separator))
	}
	n = &api.ResourceCounts{Total: len(v.Resources)}
	for _, r := range v.Resources {
		switch r.Status {
		case "failed":
			n.Failing++
		case "ok", "warning":
			n.OK++
		}
	}
	return n, tiltfile, ""
}
