//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hone-dev/hone/internal/test/harness"
	"github.com/hone-dev/hone/internal/test/proxy"
)

const (
	soakSaves  = 3000
	soakFiles  = 200
	soakRate   = 20 // saves per second
	soakPods   = 2
	cycleSaves = 200
	// profileVariable names the variable with the folder in which a hone built for profiling opens a socket.
	profileVariable = "HONE_PROFILE"
)

// soak keeps one session under changing faults until the time is over, and runs scenarios alongside. At the end the
// containers' files must match the source, and the session must hold no more than at its beginning.
func (o options) soak(ctx context.Context, cluster *harness.Cluster, chosen []scenario) (err error) {
	began := time.Now()
	random := randomFor(o.seed, "soak")
	w, err := newWorld(ctx, o, cluster, random)
	defer func() {
		if err != nil {
			err = failure{o.seed, "soak", w.explain(err)}
		}
		err = errors.Join(err, w.end(context.WithoutCancel(ctx)))
	}()
	if err != nil {
		return err
	}
	profiles := filepath.Join(w.dir, "profiles")
	if err := os.Mkdir(profiles, 0o700); err != nil {
		return err
	}
	w.project.Env = append(w.project.Env, profileVariable+"="+profiles)
	if err := w.project.Write("web.yaml", fmt.Sprintf(webYAML, w.word, soakPods)); err != nil {
		return err
	}
	if err := w.throughGateway(); err != nil {
		return err
	}
	if err := w.begin(ctx); err != nil {
		return err
	}
	samples, failures, err := w.soakCycles(ctx, profiles, chosen, func() bool { return time.Since(began) < o.budget })
	if err != nil {
		return errors.Join(append(failures, err)...)
	}
	if err := w.conclude(ctx); err != nil {
		return errors.Join(append(failures, err)...)
	}
	if err := flat(samples); err != nil {
		return errors.Join(append(failures, fmt.Errorf("%w\n%s%v", err, newcomers(samples), samples))...)
	}
	fmt.Fprintf(o.out, "seed %d: soaked for %s; at first %s, in the end %s\n", o.seed, time.Since(began).Round(time.Second), samples[1], samples[len(samples)-1])
	return errors.Join(failures...)
}

// soakCycles runs cycles until the time is over. It returns a sample of the session after each cycle, and the failures
// of the scenarios alongside.
func (w *world) soakCycles(ctx context.Context, profiles string, chosen []scenario, more func() bool) (samples []sample, failures []error, err error) {
	if err := w.saveSteadily(ctx, soakSaves); err != nil {
		return nil, nil, err
	}
	for n := 1; n == 1 || more(); n++ {
		if n > 1 {
			if err := w.soakCycle(ctx); err != nil {
				return samples, failures, fmt.Errorf("cycle %d: %w", n, err)
			}
		}
		if err := w.right(ctx); err != nil {
			return samples, failures, fmt.Errorf("cycle %d: %w", n, err)
		}
		s, err := w.sample(ctx, profiles)
		if err != nil {
			return samples, failures, err
		}
		samples = append(samples, s)
		fmt.Fprintf(w.out, "cycle %d: %s\n", n, s)
		if s.goroutines > samples[0].goroutines+spareGoroutines && (n < 2 || s.goroutines > samples[n-2].goroutines+spareGoroutines) {
			fmt.Fprint(w.out, newcomers(samples))
		}
		w.did = nil
		if n%4 == 0 && more() {
			beside := anyOf(w.random, chosen)
			if err := w.play(ctx, w.cluster, beside, randomFor(w.seed+uint64(n), beside.name)); err != nil && !errors.Is(err, errSkipped) {
				failures = append(failures, err)
			}
		}
	}
	return samples, failures, nil
}

// soakCycle performs one action of each kind, in a random order, under a random fault.
func (w *world) soakCycle(ctx context.Context) error {
	faults := anyOf(w.random, []proxy.Faults{{}, {MaxDelay: 300 * time.Millisecond}, {TooMany: 0.1}, {MaxWatch: 2 * time.Second}})
	w.note("%+v", faults)
	w.gateway.Set(faults)
	defer w.gateway.Set(proxy.Faults{})
	steps := []func(context.Context) error{
		func(ctx context.Context) error { return w.saveSteadily(ctx, cycleSaves) },
		func(context.Context) error { return w.saveImage(0) },
		func(context.Context) error { return w.saveConfig() },
		w.deletePod,
		func(context.Context) error { w.gateway.Wire.Reset(); return nil },
	}
	w.random.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
		if err := harness.Sleep(ctx, w.between(0, time.Second)); err != nil {
			return err
		}
	}
	return nil
}

// saveSteadily saves files in turn, soakRate of them a second.
func (w *world) saveSteadily(ctx context.Context, n int) error {
	tick := time.NewTicker(time.Second / soakRate)
	defer tick.Stop()
	for i := range n {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := w.project.Write(fmt.Sprintf("site/soak/%d", i%soakFiles), w.text()); err != nil {
			return err
		}
	}
	w.note("%d saves", n)
	return nil
}

// deletePod deletes one of the pods.
func (w *world) deletePod(ctx context.Context) error {
	containers, err := w.cluster.Containers(ctx, w.project.Namespace, "web")
	if err != nil {
		return nil //nolint:nilerr // they are being replaced already
	}
	zero := int64(0)
	pods := w.cluster.Client.Dynamic().Resource(kinds["Pod"]).Namespace(w.project.Namespace)
	_ = pods.Delete(ctx, anyOf(w.random, containers).Pod, metav1.DeleteOptions{GracePeriodSeconds: &zero}) // it may be gone by now
	return nil
}

// rest is the time for which a session is left alone before a sample.
const rest = 5 * time.Second

// sample measures the resource usage of the session.
func (w *world) sample(ctx context.Context, profiles string) (s sample, err error) {
	if err := harness.Sleep(ctx, rest); err != nil {
		return s, err
	}
	pid := w.up.Cmd.Process.Pid
	socket := filepath.Join(profiles, fmt.Sprintf("%d.sock", pid))
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}}
	get := func(path string) (string, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://hone/debug/pprof/"+path, nil)
		if err != nil {
			return "", err
		}
		resp, err := (&http.Client{Transport: transport}).Do(req)
		if err != nil {
			return "", fmt.Errorf("%w (hone must be built with the tag hone_profile)", err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		return string(b), err
	}
	heap, err := get("heap?gc=1&debug=1")
	if err != nil {
		return s, err
	}
	goroutines, err := get("goroutine?debug=1")
	if err != nil {
		return s, err
	}
	if s.heap, err = parseHeap(heap); err != nil {
		return s, err
	}
	if s.goroutines, err = parseGoroutines(goroutines); err != nil {
		return s, err
	}
	s.stacks = parseStacks(goroutines)
	s.rss, _, err = harness.Memory(pid)
	return s, err
}
