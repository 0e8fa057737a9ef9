package up

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cli/cireport"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/engine"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/model"
)

// TestOutcome checks result and exit code of each way in which a session of ci ends.
func TestOutcome(t *testing.T) {
	began := statetest.New(state.SessionStarted{Session: state.Session{Command: state.CommandCI}})
	running := began.View()
	ended := began.Then(state.SessionEnded{}).View()
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	failure := func(cause state.EndCause) error { return &engine.Failure{Text: "web: oops", Cause: cause} }
	for _, tc := range []struct {
		name   string
		well   bool
		err    error
		cause  error
		ctx    context.Context
		result string
		code   int
	}{
		{"all is ready", true, nil, nil, t.Context(), cireport.ResultOK, 0},
		{"all is ready, and interrupted while it stops", true, nil, context.Canceled, interrupted, cireport.ResultOK, 0},
		{"a resource", false, failure(state.EndResource), nil, t.Context(), cireport.ResultFailed, 1},
		{"no cluster", false, failure(state.EndOutside), nil, t.Context(), cireport.ResultFailed, 1},
		{"the time is up", false, failure(state.EndTimeout), nil, t.Context(), cireport.ResultTimeout, 124},
		{"the Tiltfile", false, failure(state.EndTiltfile), nil, t.Context(), cireport.ResultTiltfile, 5},
		{"the Tiltfile, before the session", false, command.WithCode(errors.New("no such function"), command.ExitTiltfile), nil, t.Context(), cireport.ResultTiltfile, 5},
		{"the Tiltfile, and something did not stop", false, errors.Join(failure(state.EndTiltfile), errors.New("stuck")), nil, t.Context(), cireport.ResultTiltfile, 5},
		{"failed, and interrupted while it stops", false, failure(state.EndTimeout), context.Canceled, interrupted, cireport.ResultTimeout, 124},
		{"something did not stop", true, errors.New("stuck"), nil, t.Context(), cireport.ResultFailed, 1},
		{"interrupted", false, nil, context.Canceled, interrupted, cireport.ResultInterrupted, 130},
		{"stopped", false, nil, errStopped, t.Context(), cireport.ResultStopped, 1},
	} {
		v := running
		if tc.well {
			v = ended
		}
		o, err := outcomeOf(v, tc.err, tc.cause)
		if code := command.ExitCode(tc.ctx, err); o.Result != tc.result || o.Code != tc.code || code != tc.code {
			t.Errorf("%s: %s with code %d, the command ends with %d, want %s with %d", tc.name, o.Result, o.Code, code, tc.result, tc.code)
		}
		if (o.Failure == "") != (tc.code == 0) {
			t.Errorf("%s: failure %q", tc.name, o.Failure)
		}
	}
}

// TestLastLines checks the lines of the failed container's log in the final error.
func TestLastLines(t *testing.T) {
	const span = "pod:default/web-1/main:c1"
	logs := statetest.Logs(t)
	logs.SetSecrets([]model.Secret{{Name: "db", Key: "password", Value: "hunter22"}})
	say := func(resource, span, text string) {
		logs.Append(logstore.Entry{Resource: model.ManifestName(resource), Span: span, Source: logstore.SourceRuntime, Level: logstore.LevelInfo, Text: text})
	}
	for i := range 30 {
		say("web", span, fmt.Sprintf("line %d", i))
	}
	say("web", "events:web", "[event: …]")
	say("web", "pod:default/web-1/main:c2", "of another run")
	say("web", span, "\x1b[31mno database\x1b[2J with hunter22\x1b[0m")
	say("web", span, strings.Repeat("x", 400))
	many := "web: oops\n  the last lines of its log:"
	for i := 17; i < 30; i++ {
		many += fmt.Sprintf("\n  │ line %d", i)
	}
	many += "\n  │ no database with [redacted secret db:password]\n  │ " + strings.Repeat("x", lastWidth-1) + "…"
	for _, tc := range []struct {
		name string
		end  state.SessionEnded
		want string
	}{
		{"a container", state.SessionEnded{Failure: "web: oops", Cause: state.EndResource, Resource: "web", Span: span}, many},
		{"a container that said nothing", state.SessionEnded{Failure: "web: oops", Cause: state.EndResource, Resource: "web", Span: span + "3"}, "web: oops"},
		{"no container", state.SessionEnded{Failure: "web: oops", Cause: state.EndResource, Resource: "web"}, "web: oops"},
	} {
		v := statetest.New(state.SessionStarted{}, tc.end).View()
		f := &engine.Failure{Text: tc.end.Failure, Cause: tc.end.Cause}
		withLastLines(fmt.Errorf("run: %w", f), conclusion{now: v, logs: logs})
		if diff := cmp.Diff(tc.want, f.Text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
	withLastLines(nil, conclusion{now: statetest.New().Then(state.SessionStarted{}).View(), logs: logs})
}
