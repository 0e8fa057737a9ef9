package cli

import (
	"context"
	"errors"
	"testing"

	"github.com/hone-dev/hone/internal/engine"
	"github.com/hone-dev/hone/internal/report"
	"github.com/hone-dev/hone/internal/state"
	"github.com/hone-dev/hone/internal/state/statetest"
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
		{"all is ready", true, nil, nil, t.Context(), report.ResultOK, 0},
		{"all is ready, and interrupted while it stops", true, nil, context.Canceled, interrupted, report.ResultOK, 0},
		{"a resource", false, failure(state.EndResource), nil, t.Context(), report.ResultFailed, 1},
		{"no cluster", false, failure(state.EndOutside), nil, t.Context(), report.ResultFailed, 1},
		{"the time is up", false, failure(state.EndTimeout), nil, t.Context(), report.ResultTimeout, 124},
		{"the Tiltfile", false, failure(state.EndTiltfile), nil, t.Context(), report.ResultTiltfile, 5},
		{"the Tiltfile, and something did not stop", false, errors.Join(failure(state.EndTiltfile), errors.New("stuck")), nil, t.Context(), report.ResultTiltfile, 5},
		{"failed, and interrupted while it stops", false, failure(state.EndTimeout), context.Canceled, interrupted, report.ResultTimeout, 124},
		{"something did not stop", true, errors.New("stuck"), nil, t.Context(), report.ResultFailed, 1},
		{"interrupted", false, nil, context.Canceled, interrupted, report.ResultInterrupted, 130},
		{"stopped", false, nil, errStopped, t.Context(), report.ResultStopped, 1},
	} {
		v := running
		if tc.well {
			v = ended
		}
		o, err := outcomeOf(v, tc.err, tc.cause)
		if code := exitCode(tc.ctx, err); o.Result != tc.result || o.Code != tc.code || code != tc.code {
			t.Errorf("%s: %s with code %d, the command ends with %d, want %s with %d", tc.name, o.Result, o.Code, code, tc.result, tc.code)
		}
		if (o.Failure == "") != (tc.code == 0) {
			t.Errorf("%s: failure %q", tc.name, o.Failure)
		}
	}
}
