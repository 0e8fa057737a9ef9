//go:build linux

package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/hone-dev/hone/internal/test/harness"
	"github.com/hone-dev/hone/internal/test/proxy"
	"github.com/hone-dev/hone/pkg/api"
)

// killings kill hone at random moments of its work.
var killings = []scenario{
	{"kill-build", "kill -9 while an image is built", 5 * time.Minute, killed(3, (*world).amidBuild)},
	{"kill-push", "kill -9 while an image goes to the registry", 5 * time.Minute, killed(2, (*world).amidPush)},
	{"kill-apply", "kill -9 while objects are applied", 5 * time.Minute, killed(3, (*world).amidApply)},
	{"kill-live-update", "kill -9 while files go into a container", 5 * time.Minute, killed(4, (*world).amidLiveUpdate)},
	{"kill-start", "kill -9 while a session begins", 5 * time.Minute, killed(3, (*world).amidStart)},
	{"kill-down", "kill -9 of hone down", 5 * time.Minute, killDown},
	{"kill-guard", "kill -9 of hone and its guard at the same time", 5 * time.Minute, killGuard},
}

// killed brings hone to a moment of its work several times, and kills it there. Each time, a session that begins right
// afterwards must repair everything.
func killed(rounds int, bring func(*world, context.Context) error) func(context.Context, *world) error {
	return func(ctx context.Context, w *world) error {
		if err := w.throughGateway(); err != nil {
			return err
		}
		for i := range rounds {
			if err := w.begin(ctx); err != nil {
				return fmt.Errorf("round %d: %w", i+1, err)
			}
			if err := bring(w, ctx); err != nil {
				return fmt.Errorf("round %d: %w", i+1, err)
			}
			w.up.Kill()
			w.gateway.Set(proxy.Faults{})
			if err := w.ended(ctx); err != nil {
				return fmt.Errorf("round %d: %w", i+1, err)
			}
			if err := w.saveImage(0); err != nil {
				return err
			}
			if err := w.recovers(ctx); err != nil {
				return fmt.Errorf("round %d: %w", i+1, err)
			}
		}
		return w.down(ctx)
	}
}

// wait lets a random time pass.
func (w *world) wait(ctx context.Context, what string, low, high time.Duration) error {
	d := w.between(low, high)
	w.note("%s after %s", what, d.Round(time.Millisecond))
	return harness.Sleep(ctx, d)
}

// building waits until an image of web is being built.
func (w *world) building(ctx context.Context) error {
	return harness.Await(ctx, patience, "a build to begin", func() error {
		v, err := w.up.View()
		if err != nil {
			return err
		}
		for _, r := range v.Resources {
			if r.Name == "web" && r.CurrentBuild != nil {
				return nil
			}
		}
		return errors.New("none has begun")
	})
}

func (w *world) amidBuild(ctx context.Context) error {
	if err := w.saveImage(5); err != nil {
		return err
	}
	if err := w.building(ctx); err != nil {
		return err
	}
	return w.wait(ctx, "build", 0, 5*time.Second)
}

// pushed is the number of bytes of the image of amidPush that no registry has.
const pushed = 32 << 20

func (w *world) amidPush(ctx context.Context) error {
	noise := make([]byte, pushed)
	_, _ = rand.Read(noise)
	if err := os.WriteFile(filepath.Join(w.project.Dir, "conf", "noise"), noise, 0o644); err != nil {
		return err
	}
	before := strings.Count(w.up.Out.String(), "Pushing")
	err := harness.Await(ctx, patience, "a push to begin", func() error {
		if strings.Count(w.up.Out.String(), "Pushing") == before {
			return errors.New("none has begun")
		}
		return nil
	})
	if err != nil {
		return err
	}
	return w.wait(ctx, "push", 0, time.Second)
}

func (w *world) amidApply(ctx context.Context) error {
	w.gateway.Set(proxy.Faults{OnlyChanges: true, MaxDelay: time.Second})
	if err := w.saveConfig(); err != nil {
		return err
	}
	return w.wait(ctx, "apply", 0, 2*time.Second)
}

func (w *world) amidLiveUpdate(ctx context.Context) error {
	if err := w.saveFiles(200); err != nil {
		return err
	}
	return w.wait(ctx, "save", 0, 300*time.Millisecond)
}

func (w *world) amidStart(ctx context.Context) error {
	if err := w.up.Stop(); err != nil {
		return err
	}
	if err := w.saveAll(); err != nil {
		return err
	}
	if err := w.start(); err != nil {
		return err
	}
	return w.wait(ctx, "start", 0, 3*time.Second)
}

// killDown kills hone down at random moments. The next hone down must take down the rest.
func killDown(ctx context.Context, w *world) error {
	if err := w.throughGateway(); err != nil {
		return err
	}
	for i := range 3 {
		if err := w.recovers(ctx); err != nil {
			return fmt.Errorf("round %d: %w", i+1, err)
		}
		w.gateway.Set(proxy.Faults{OnlyChanges: true, MaxDelay: 500 * time.Millisecond})
		c := w.project.Command("down", "--namespace", w.project.Namespace)
		if err := c.Start(); err != nil {
			return err
		}
		err := w.wait(ctx, "down", 0, 1500*time.Millisecond)
		_ = c.Process.Kill()
		_ = c.Wait()
		if err != nil {
			return err
		}
		w.gateway.Set(proxy.Faults{})
		if err := w.ended(ctx); err != nil {
			return fmt.Errorf("round %d: %w", i+1, err)
		}
		if w.random.IntN(2) == 0 { // otherwise the session of the next round finds the leftovers
			w.note("down again")
			if err := w.down(ctx); err != nil {
				return fmt.Errorf("round %d: %w", i+1, err)
			}
		}
	}
	return w.aftermath(ctx)
}

// killGuard kills every process of hone that could clean up. A local server must not outlive them nevertheless.
func killGuard(ctx context.Context, w *world) error {
	for i := range 2 {
		if err := w.begin(ctx); err != nil {
			return fmt.Errorf("round %d: %w", i+1, err)
		}
		err := harness.Await(ctx, patience, "the local server", func() error {
			v, err := w.up.View()
			if err == nil && !serves(v) {
				err = errors.New("it does not run")
			}
			return err
		})
		if err != nil {
			return err
		}
		var guards []int
		for pid, line := range marked(w.word) {
			if strings.HasSuffix(line, "__guard") {
				guards = append(guards, pid)
			}
		}
		if len(guards) == 0 {
			return errors.New("there is no guard")
		}
		if i == 0 {
			guards = append(guards, w.up.Cmd.Process.Pid)
		} else {
			guards = append([]int{w.up.Cmd.Process.Pid}, guards...)
		}
		for _, pid := range guards {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		w.note("killed %d processes", len(guards))
		<-w.up.Done
		if err := w.ended(ctx); err != nil {
			return fmt.Errorf("round %d: %w", i+1, err)
		}
	}
	return w.aftermath(ctx)
}

func serves(v api.View) bool {
	for _, r := range v.Resources {
		if r.Name == "server" && r.Process != nil && r.Process.State == "running" {
			return true
		}
	}
	return false
}
