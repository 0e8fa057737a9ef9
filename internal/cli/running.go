package cli

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

// glance is how long each session may take to answer where all of them are listed.
const glance = 3 * time.Second

// runningSessions asks all sessions at once how they do.
func runningSessions(ctx context.Context, r *sessions.Registry) ([]api.RunningSession, error) {
	living, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, glance)
	defer cancel()
	all := make([]api.RunningSession, len(living))
	var asking sync.WaitGroup
	for i, s := range living {
		all[i] = api.RunningSession{Name: s.Name, PID: s.PID, Command: s.Command, Tiltfile: s.Tiltfile, Context: s.Context,
			StartedAt: s.StartedAt, URL: s.URL, Socket: s.Socket, Kubeconfig: r.Kubeconfig(s), Log: s.Log}
		asking.Go(func() { all[i].Resources, all[i].TiltfileError, all[i].Error = count(ctx, s) })
	}
	asking.Wait()
	return all, nil
}

// count asks one session how its resources do, and what is wrong with its Tiltfile.
func count(ctx context.Context, s sessions.Info) (n *api.ResourceCounts, tiltfile, failure string) {
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
		switch {
		case r.UpdateStatus == "error" || r.RuntimeStatus == "error":
			n.Failing++
		case r.UpdateStatus == "ok" && (r.RuntimeStatus == "ok" || r.RuntimeStatus == "not_applicable"):
			n.OK++
		}
	}
	return n, tiltfile, ""
}
