//go:build unix

package process

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// session records the reports of a server.
type session struct {
	started  []Started
	exited   []Exited
	messages []string
}

func (s *session) events() Events {
	return Events{
		Started: func(e Started) { s.started = append(s.started, e) },
		Exited:  func(e Exited) { s.exited = append(s.exited, e) },
		Message: func(m string) { s.messages = append(s.messages, m) },
	}
}

func TestServeEndsByItself(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		want         ExitError
	}{
		{"well", "exit 0", ExitError{}},
		{"badly", "exit 3", ExitError{Code: 3}},
		{"killed", "kill -TERM $$", ExitError{Code: 143, Signal: "SIGTERM"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s session
			err := Serve(t.Context(), Command{Cmd: sh(tt.script)}, s.events())
			var exit *ExitError
			if !errors.As(err, &exit) || *exit != tt.want {
				t.Errorf("got %v, want %v", err, &tt.want)
			}
			if len(s.started) != 1 || s.started[0].PID <= 0 {
				t.Errorf("started %v", s.started)
			}
			if len(s.exited) != 1 || s.exited[0] != Exited(tt.want) {
				t.Errorf("exited %v", s.exited)
			}
		})
	}
}

func TestServeStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	alive, held := aliveFile(t)
	var s session
	err := Serve(ctx, Command{
		Cmd:    sh(`trap 'exit 0' TERM; sh -c 'echo ready; exec sleep 1000' & wait`),
		Stdin:  held,
		Stdout: &until{text: "ready\n", then: cancel},
	}, s.events())
	held.Close()
	if err != nil {
		t.Error(err)
	}
	alive.wantGone(t)
	if len(s.exited) != 1 || len(s.messages) != 0 {
		t.Errorf("exited %v, messages %v", s.exited, s.messages)
	}
}

func TestServeSaysThatItWaits(t *testing.T) {
	saved := patience
	patience = []time.Duration{20 * time.Millisecond, 60 * time.Millisecond, time.Hour}
	t.Cleanup(func() { patience = saved })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var s session
	err := Serve(ctx, Command{
		Cmd:    sh(`trap '' TERM; echo ready; while :; do sleep 1; done`),
		Stdout: &until{text: "ready\n", then: cancel},
		Grace:  150 * time.Millisecond,
	}, s.events())
	if err != nil {
		t.Error(err)
	}
	if len(s.messages) != 2 || !strings.Contains(s.messages[0], "asked 20ms ago, will be killed in 130ms") {
		t.Errorf("messages %q", s.messages)
	}
	if len(s.exited) != 1 || s.exited[0].Signal != "SIGKILL" {
		t.Errorf("exited %v", s.exited)
	}
}

func TestServeNotStarted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var s session
	if err := Serve(ctx, Command{Cmd: sh("exit 0")}, s.events()); err != nil || s.started != nil {
		t.Errorf("cancelled before: %v, %v", err, s.started)
	}
	if err := Serve(t.Context(), Command{Cmd: sh("exit 0"), Stdin: nil, ExtraEnv: []string{"PATH=/none"}}, s.events()); err == nil || s.exited != nil {
		t.Errorf("not found: %v, %v", err, s.exited)
	}
}
