//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/test/harness"
	"github.com/hone-dev/hone/internal/test/witness"
	"github.com/hone-dev/hone/pkg/api"
)

const (
	// settleSaves is the number of saves that are followed by a request, and settleRuns the number of those that are followed by a command.
	settleSaves, settleRuns = 60, 20
	// mostBehind and mostIdle are promised: the answer comes soon after the bytes, and at once if there is nothing to wait for.
	mostBehind, mostIdle = 20 * time.Millisecond, 10 * time.Millisecond
)

// settling measures the answer to the question whether the last save is live.
type settling struct {
	*saves
	up      *harness.Session
	client  *client.Client
	witness *witness.Witness
	// want is the content of the newest save until the witness has seen it; sighted takes the time.
	want    atomic.Pointer[string]
	sighted chan time.Time
}

// measureSettle measures the time from a save to the answer that it is live, and compares it with the time until its bytes are in the
// container, which a witness sees.
func measureSettle(ctx context.Context, b *bench) error {
	return b.withSaves(ctx, b.cluster, func(s *saves) (err error) {
		up, err := s.project.Up()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, up.Stop()) }()
		if err := up.Ready(ctx, 1); err != nil {
			return err
		}
		m := settling{saves: s, up: up, sighted: make(chan time.Time, 1)}
		if m.client, err = client.Find(ctx, up.Registry, client.Selector{Host: "localhost", Port: up.Port}); err != nil {
			return err
		}
		found, err := s.cluster.Containers(ctx, s.project.Namespace, "app")
		if err != nil || len(found) != 1 {
			return errors.Join(err, fmt.Errorf("%d containers", len(found)))
		}
		root, err := witness.Root(found[0].ID)
		if err != nil {
			return err
		}
		if m.witness, err = witness.Open(root, []string{"files"}, m.see); err != nil {
			return err
		}
		defer m.witness.Close()
		if err := m.measure(ctx); err != nil {
			return fmt.Errorf("%w\n%s", err, up.Out)
		}
		return nil
	})
}

// see passes on the first sighting of the newest save.
func (m *settling) see(s witness.Sighting) {
	want := m.want.Load()
	if want != nil && string(s.Content) == *want && m.want.CompareAndSwap(want, nil) {
		m.sighted <- s.At
	}
}

func (m *settling) measure(ctx context.Context) error {
	request := func() error { return m.live(ctx) }
	command := func() error {
		_, err := m.project.Run(ctx, "settle", "--window", "0", "--port", fmt.Sprint(m.up.Port))
		return err
	}
	version, err := repeat(settleRuns, func() error { _, err := m.project.Run(ctx, "version"); return err })
	if err != nil {
		return err
	}
	m.bench.table.section("save → hone settle says that it is live: p50 / p90 / max (how many)",
		"baseline: from the return of the write until a witness sees the bytes in the container, for the same saves",
		fmt.Sprintf("promised for a request: the answer ≤ %s behind the bytes, and ≤ %s if nothing waits", short(mostBehind), short(mostIdle)),
		fmt.Sprintf("a command is also a start of a process: hone version takes %s", version))
	behind, err := m.afterSaves(ctx, "a request after a save", settleSaves, request)
	if err != nil {
		return fmt.Errorf("request: %w", err)
	}
	m.bench.table.print(row{"  of that, behind the bytes", behind.String(), "", kept(behind.median(), mostBehind)})
	idle, err := repeat(settleSaves, request)
	if err != nil {
		return err
	}
	m.bench.table.print(row{"a request if nothing waits", idle.String(), "", kept(idle.median(), mostIdle)})
	if _, err := m.afterSaves(ctx, "the command after a save", settleRuns, command); err != nil {
		return fmt.Errorf("command: %w", err)
	}
	if idle, err = repeat(settleRuns, command); err != nil {
		return err
	}
	m.bench.table.print(row{"the command if nothing waits", idle.String(), ratio(idle.median(), version.median(), "version"), ""})
	return nil
}

// live asks whether everything is live, and fails if it is not.
func (m *settling) live(ctx context.Context) error {
	var none api.Milliseconds
	rep, err := m.client.SettleReport(ctx, client.Settling{Request: api.SettleRequest{WindowMs: &none}, Timeout: saveTimeout})
	if err == nil && rep.Result != api.SettleLive {
		err = fmt.Errorf("%s: %s", rep.Result, rep.Text)
	}
	return err
}

// afterSaves saves and asks at once, again and again. It returns the times from the bytes to the answer.
func (m *settling) afterSaves(ctx context.Context, what string, n int, ask func() error) (behind times, err error) {
	var answers, bytes times
	for range n {
		if err := harness.Sleep(ctx, pause); err != nil {
			return nil, err
		}
		text := m.content()
		m.want.Store(&text)
		if err := m.project.Write(filepath.Join("files", "one"), text); err != nil {
			return nil, err
		}
		saved := time.Now()
		if err := ask(); err != nil {
			return nil, err
		}
		answered := time.Now()
		select {
		case at := <-m.sighted:
			answers, bytes = append(answers, answered.Sub(saved)), append(bytes, max(0, at.Sub(saved)))
			behind = append(behind, answered.Sub(at))
		case <-time.After(pause):
			return nil, fmt.Errorf("it said that save %d is live before the container had it", m.n)
		}
	}
	m.bench.table.print(row{what, answers.String(), ratio(answers.median(), bytes.median(), "bytes ("+short(bytes.median())+")"), ""})
	return behind, nil
}

// kept tells whether a promise is kept.
func kept(took, most time.Duration) string {
	if took > most {
		return "MISSED " + short(most)
	}
	return "kept: " + short(most)
}
