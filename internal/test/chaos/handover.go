//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hone-dev/hone/internal/test/harness"
)

// handOvers move objects between resources, in every state of hone.
var handOvers = []scenario{
	{"hand-over-up", "objects change their resources and files while hone runs", 5 * time.Minute, handOver(20, moveLive)},
	{"hand-over-stopped", "objects change their resources and files while hone is down", 5 * time.Minute, handOver(12, moveStopped)},
	{"hand-over-ci", "objects change their resources and files between runs of hone ci", 5 * time.Minute, handOver(12, moveCI)},
	{"hand-over-killed", "hone is killed in the middle of a hand-over", 5 * time.Minute, handOver(8, moveKilled)},
}

// handOver makes random moves. After each of them every declared object must exist, and must be the same object if it
// was declared before.
func handOver(moveCount int, play func(context.Context, *world, layout) error) func(context.Context, *world) error {
	return func(ctx context.Context, w *world) error {
		l := firstLayout()
		if err := w.layOut(l); err != nil {
			return err
		}
		if err := play(ctx, w, l); err != nil {
			return err
		}
		before, err := w.applied(ctx)
		if err != nil {
			return err
		}
		for i := range moveCount {
			m := anyOf(w.random, moves)
			l = m.do(l, w.random)
			w.note("%s", m.name)
			explain := func(err error) error {
				_, tiltfile := l.render()
				return fmt.Errorf("move %d (%s): %w\nthe Tiltfile:\n%s", i+1, m.name, err, tiltfile)
			}
			if err := w.layOut(l); err != nil {
				return err
			}
			if err := play(ctx, w, l); err != nil {
				return explain(err)
			}
			after, err := w.applied(ctx)
			if err != nil {
				return err
			}
			for key, was := range before {
				if is, ok := after[key]; ok && is.uid != was.uid {
					return explain(fmt.Errorf("%s was deleted and recreated", key))
				}
			}
			before = after
		}
		w.did = []string{fmt.Sprintf("%d moves", moveCount)}
		if w.up != nil {
			if err := w.up.Stop(); err != nil {
				return err
			}
		}
		return w.down(ctx)
	}
}

// layOut writes a layout. It takes effect at once, with the Tiltfile; then the former files are removed.
func (w *world) layOut(l layout) error {
	files, tiltfile := l.render()
	for name, text := range files {
		if err := w.project.Write(name, text); err != nil {
			return err
		}
	}
	if err := w.project.Write("Tiltfile", tiltfile); err != nil {
		return err
	}
	w.declared = l.declared()
	old, err := filepath.Glob(filepath.Join(w.project.Dir, "g*.yaml"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if _, ok := files[filepath.Base(path)]; !ok {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// laidOut waits until the session has taken over a layout.
func (w *world) laidOut(ctx context.Context, l layout) error {
	want := l.resources()
	err := harness.Await(ctx, patience, "the resources of the Tiltfile", func() error {
		v, err := w.up.View()
		if err != nil {
			return err
		}
		names := map[string]bool{}
		for _, r := range v.Resources {
			if r.Phase == "running" || r.Phase == "" {
				names[r.Name] = true
			}
			if !harness.Ready(r) {
				return fmt.Errorf("%s is not ready: %s, %s", r.Name, r.UpdateStatus, r.RuntimeStatus)
			}
		}
		for _, name := range want {
			if !names[name] {
				return fmt.Errorf("there is no %s among %v", name, names)
			}
		}
		if len(names) != len(want) {
			return fmt.Errorf("%v instead of %v", names, want)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := w.objectsRight(ctx); err != nil {
		return err
	}
	return w.asDeclared(ctx)
}

func moveLive(ctx context.Context, w *world, l layout) error {
	if w.up == nil {
		if err := w.start(); err != nil {
			return err
		}
	}
	return w.laidOut(ctx, l)
}

func moveStopped(ctx context.Context, w *world, l layout) error {
	if err := w.start(); err != nil {
		return err
	}
	if err := w.laidOut(ctx, l); err != nil {
		return err
	}
	return w.stop(ctx)
}

func moveCI(ctx context.Context, w *world, _ layout) error {
	if _, err := w.project.Run(ctx, "ci", "--namespace", w.project.Namespace, "--port", "none"); err != nil {
		return err
	}
	// hone has reported that it is done, so check without waiting.
	there, err := w.applied(ctx)
	if err != nil {
		return err
	}
	if err := differences(w.declared, there); err != nil {
		return fmt.Errorf("right after hone ci: %w", err)
	}
	return w.objectsRight(ctx)
}

// moveKilled kills the session that is taking over a layout, and begins another.
func moveKilled(ctx context.Context, w *world, l layout) error {
	if err := w.start(); err != nil {
		return err
	}
	if err := harness.Sleep(ctx, w.between(0, 1500*time.Millisecond)); err != nil {
		return err
	}
	w.up.Kill()
	return moveStopped(ctx, w, l)
}
