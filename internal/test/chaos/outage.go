//go:build linux

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/hone-dev/hone/internal/test/harness"
	"github.com/hone-dev/hone/internal/test/proxy"
)

// outages are faults between hone and the API server.
var outages = []scenario{
	{"api-reset", "connections to the API server are reset again and again", 5 * time.Minute, outage(proxy.Faults{}, resets)},
	{"api-delay", "the API server takes up to 1.5 s for each request", 5 * time.Minute, outage(proxy.Faults{MaxDelay: 1500 * time.Millisecond}, nil)},
	{"api-429", "the API server refuses a third of all requests for now", 5 * time.Minute, outage(proxy.Faults{TooMany: 0.33}, nil)},
	{"api-500", "the API server fails before, after and amid requests", 5 * time.Minute,
		outage(proxy.Faults{Broken: 0.1, Lost: 0.1, Torn: 0.1}, nil)},
	{"api-watches", "the API server ends every watch within a second", 5 * time.Minute, outage(proxy.Faults{MaxWatch: time.Second}, nil)},
	{"api-silent", "the API server says nothing for 30 s while files are saved", 5 * time.Minute, outage(proxy.Faults{}, silence)},
}

// outage edits files while the API server has faults, in a session that began before and in one that begins under them.
// Once the faults are over, everything must recover on its own.
func outage(faults proxy.Faults, meanwhile func(context.Context, *world) error) func(context.Context, *world) error {
	return func(ctx context.Context, w *world) error {
		if err := w.throughGateway(); err != nil {
			return err
		}
		if err := w.begin(ctx); err != nil {
			return err
		}
		w.gateway.Set(faults)
		if err := w.edits(ctx); err != nil {
			return err
		}
		if meanwhile != nil {
			if err := meanwhile(ctx, w); err != nil {
				return err
			}
		}
		if err := harness.Sleep(ctx, w.between(time.Second, 4*time.Second)); err != nil {
			return err
		}
		w.gateway.Set(proxy.Faults{})
		w.note("under faults %+v", w.gateway.Counts())
		if err := w.right(ctx); err != nil {
			return err
		}
		if err := w.stop(ctx); err != nil {
			return err
		}
		// A session that begins during the outage.
		w.gateway.Set(faults)
		if err := w.saveAll(); err != nil {
			return err
		}
		if err := w.start(); err != nil {
			return err
		}
		if err := harness.Sleep(ctx, w.between(3*time.Second, 6*time.Second)); err != nil {
			return err
		}
		w.gateway.Set(proxy.Faults{})
		return w.conclude(ctx)
	}
}

// edits saves files of random kinds a few times, at random moments.
func (w *world) edits(ctx context.Context) error {
	for range 4 {
		save := []func() error{w.saveAll, w.saveConfig, func() error { return w.saveFiles(20) }, func() error { return w.saveImage(0) }}[w.random.IntN(4)]
		if err := save(); err != nil {
			return err
		}
		if err := harness.Sleep(ctx, w.between(200*time.Millisecond, 2*time.Second)); err != nil {
			return err
		}
	}
	return nil
}

// resets ends all connections repeatedly, while files are saved.
func resets(ctx context.Context, w *world) error {
	const n = 15
	for range n {
		if err := w.saveFiles(2); err != nil {
			return err
		}
		if err := harness.Sleep(ctx, w.between(50*time.Millisecond, 1500*time.Millisecond)); err != nil {
			return err
		}
		w.gateway.Wire.Reset()
	}
	w.note("%d resets", n)
	return nil
}

// silence stalls all traffic for half a minute, while files are saved.
func silence(ctx context.Context, w *world) error {
	w.gateway.Wire.Stall()
	over := time.Now().Add(30 * time.Second)
	n := 0
	for ; time.Now().Before(over); n++ {
		if err := w.saveFiles(3); err != nil {
			return err
		}
		if n == 3 {
			if err := w.saveConfig(); err != nil {
				return err
			}
		}
		if err := harness.Sleep(ctx, w.between(500*time.Millisecond, 3*time.Second)); err != nil {
			return err
		}
	}
	w.gateway.Wire.Reset() // a server that comes back does not know its connections
	w.note("%d saves in silence", n)
	if n == 0 {
		return fmt.Errorf("nothing was saved")
	}
	return nil
}
