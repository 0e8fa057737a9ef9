package k8s

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// silent never answers.
func silent(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

func TestPulse(t *testing.T) {
	tests := []struct {
		name string
		act  func(p *pulse)
		ping func(context.Context) error
		dead bool
	}{
		{"answers", func(*pulse) {}, func(context.Context) error { return nil }, false},
		{"silent", func(*pulse) {}, silent, true},
		{"broken", func(*pulse) {}, func(context.Context) error { return errors.New("broken") }, true},
		{"silent after what it took", func(p *pulse) { p.wrote() }, func() func(context.Context) error {
			answers := 1
			return func(ctx context.Context) error {
				if answers--; answers >= 0 {
					return nil
				}
				return silent(ctx)
			}
		}(), true},
		{"may not have taken its data", func(p *pulse) { p.wrote() }, silent, false},
		{"reader is slow", func(p *pulse) { p.hold() }, silent, false},
		{"data arrives", func(p *pulse) {
			for range 69 {
				time.Sleep(time.Second) // virtual
				p.heard()
			}
		}, silent, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPulse(1)
				ctx, cancel := context.WithTimeout(t.Context(), 70*time.Second)
				defer cancel()
				start := time.Now()
				go tt.act(p)
				err := p.check(ctx, tt.ping)
				if (err != nil) != tt.dead {
					t.Errorf("got %v", err)
				}
				if tt.dead && time.Since(start) > 2*pingInterval+pingTimeout {
					t.Errorf("noticed after %v", time.Since(start))
				}
			})
		})
	}
}

func TestPulsePatienceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPulse(1)
		p.wrote()
		start := time.Now()
		if err := p.check(t.Context(), silent); err == nil {
			t.Error("no verdict")
		}
		if d := time.Since(start); d < pingPatience || d > pingPatience+2*(pingInterval+pingTimeout) {
			t.Errorf("after %v", d)
		}
	})
}

func TestPulseDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPulse(3)
		pings := 0
		ping := func(ctx context.Context) error {
			if pings++; pings < 3 {
				return nil
			}
			return silent(ctx)
		}
		p.wrote()
		p.doubt()
		p.doubt()
		start := time.Now()
		if err := p.check(t.Context(), ping); err == nil || time.Since(start) != proofTimeout {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
	})
}
