//go:build linux

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/hone-dev/hone/internal/test/harness"
	"github.com/hone-dev/hone/internal/test/proxy"
)

// awayFor is the duration of a line's outage. A save is made in the middle.
const awayFor = 20 * time.Second

// goodEnough: back within 2 s of the line.
var goodEnough = []target{{share: 0.5, limit: 2 * time.Second}}

// returns measures how long it takes, once a line is back, until a file that was saved meanwhile is in the container.
func (l *live) returns(ctx context.Context, app []*container, w way, wire *proxy.Wire) error {
	for _, c := range []struct {
		name  string
		away  time.Duration
		leave func()
		join  func() error
	}{
		{farRefused, awayFor, wire.Cut, wire.Join},
		{farSilent, awayFor, wire.Stall, func() error { wire.Flow(); return nil }},
		// The old connections stay silent for ever, and new ones are possible at once.
		{farAddress, 0, wire.Lose, func() error { return nil }},
	} {
		err := l.measure(ctx, app, w.name+": "+c.name, goodEnough, func() (out liveCase, err error) {
			out.reopens = true
			for i := range l.times(5) {
				if err := harness.Sleep(ctx, 5*time.Second); err != nil {
					return out, err
				}
				text := string(l.text(1024))
				f := file{"files/1k", "files/1k", []byte(text)}
				c.leave()
				if err := harness.Sleep(ctx, c.away/2); err != nil {
					return out, err
				}
				if err := l.save(i, f); err != nil {
					return out, err
				}
				if err := harness.Sleep(ctx, c.away/2); err != nil {
					return out, err
				}
				began := time.Now()
				if err := c.join(); err != nil {
					return out, err
				}
				if err := awaitIn([]string{filepath.Join(app[0].root, "files")}, nil, []string{"1k"}, text, time.Minute); err != nil {
					return out, fmt.Errorf("%s: %w", c.name, err)
				}
				out.took = append(out.took, time.Since(began))
			}
			return out, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
