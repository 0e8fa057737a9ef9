//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/api/tables"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/test/attackers"
	"github.com/hone-dev/hone/internal/test/harness"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
)

const (
	// apiResources is the number of resources of the measured session.
	apiResources = 1000
	// apiChanges is the number of changes that are measured through a watch.
	apiChanges = 100
	// changePause is the time between two changes.
	changePause = 20 * time.Millisecond
)

// measureAPI measures the answers of a session with many resources, and whether clients that do not read delay its loop.
func measureAPI(ctx context.Context, b *bench) (err error) {
	b.table.section(fmt.Sprintf("the session from outside, with %d resources", apiResources),
		"baselines: for verbs, hone version; for requests, GET /healthz on a connection that stays open, as the requests do",
		"promised: get ≤ 100 ms, first watch event ≤ 10 ms, enable and disable of all ≤ 2 s; under attack by clients in a process of their own, no batch over 5 ms")
	dir, err := os.MkdirTemp("", "hone-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tiltfile := fmt.Sprintf("for i in range(%d):\n  local_resource('r%%d' %% i, cmd='true', auto_init=False, labels=['bench'])\n", apiResources)
	p, err := harness.NewProject(b.hone, dir, "default", map[string]string{"Tiltfile": tiltfile})
	if err != nil {
		return err
	}
	up, err := p.Up()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, up.Stop()) }()
	if err := declared(ctx, up, apiResources); err != nil {
		return err
	}
	a, err := openAPI(ctx, up, p.Dir)
	if err != nil {
		return err
	}
	return errors.Join(b.verbs(ctx, p), b.requests(ctx, a))
}

// declared waits until n resources are known.
func declared(ctx context.Context, s *harness.Session, n int) error {
	return harness.Await(ctx, time.Minute, "the resources", func() error {
		v, err := s.View()
		if err == nil && len(v.Resources) < n {
			err = fmt.Errorf("%d of %d", len(v.Resources), n)
		}
		if err != nil {
			return fmt.Errorf("%w\n%s", err, s.Out)
		}
		return nil
	})
}

// verbs measures whole runs of commands.
func (b *bench) verbs(ctx context.Context, p *harness.Project) error {
	var floor times
	for _, v := range []struct {
		what string
		n    int
		args []string
	}{
		{"hone version", 9, []string{"version"}},
		{"hone get uiresources", 9, []string{"get", "uiresources"}},
		{"hone get uiresources -o json", 9, []string{"get", "uiresources", "-o", "json"}},
		{"hone get resources (the engine's table)", 9, []string{"get", "resources.hone.dev"}},
		{"hone disable --all", 1, []string{"disable", "--all"}},
		{"hone enable --all", 1, []string{"enable", "--all"}},
	} {
		var took times
		for range v.n {
			u, err := p.Run(ctx, v.args...)
			if err != nil {
				return err
			}
			took = append(took, u.Wall)
		}
		if floor == nil {
			floor = took
		}
		b.table.print(row{v.what, took.String(), ratio(took.median(), floor.median(), "version"), ""})
	}
	return nil
}

// apiClient talks to a session over persistent connections.
type apiClient struct {
	base string
	http *http.Client
	// attacked is the session as a target of attacks.
	attacked attackers.Target
}

// openAPI finds a session whose project is in dir.
func openAPI(ctx context.Context, s *harness.Session, dir string) (*apiClient, error) {
	c, err := client.Find(ctx, s.Registry, client.Selector{Host: "localhost", Port: s.Port})
	if err != nil {
		return nil, err
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", c.Session.Socket)
	}
	token, err := s.Registry.Token(c.Session)
	if err != nil {
		return nil, err
	}
	return &apiClient{"http://localhost", &http.Client{Transport: &http.Transport{DialContext: dial}},
		attackers.Target{Address: net.JoinHostPort("localhost", strconv.Itoa(s.Port)), Token: token, Secret: dir, Resource: "r0"}}, nil
}

// do sends a request and returns the answer, whose body the caller closes.
func (a *apiClient) do(ctx context.Context, method, path, media string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, a.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", media)
	}
	resp, err := a.http.Do(req)
	if err == nil && resp.StatusCode >= http.StatusBadRequest {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		_ = resp.Body.Close()
		return nil, fmt.Errorf("%s %s: %s %s", method, path, resp.Status, text)
	}
	return resp, err
}

// get sends a request and reads the whole answer.
func (a *apiClient) get(ctx context.Context, path string) error {
	resp, err := a.do(ctx, http.MethodGet, path, "", nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

const (
	tiltAPI       = "/apis/tilt.dev/v1alpha1"
	loopPath      = "/apis/" + tables.Group + "/" + tables.Version + "/loop/" + state.Only
	resourcesPath = tiltAPI + "/uiresources"
)

// requests measures requests and watches without a new process for each.
func (b *bench) requests(ctx context.Context, a *apiClient) error {
	floor, err := repeat(50, func() error { return a.get(ctx, "/healthz") })
	if err != nil {
		return err
	}
	list, err := repeat(20, func() error { return a.get(ctx, resourcesPath) })
	if err != nil {
		return err
	}
	b.table.print(row{"list uiresources", list.String(), ratio(list.median(), floor.median(), fmt.Sprintf("healthz (%s)", short(floor.median()))), ""})
	events, err := a.changes(ctx)
	if err != nil {
		return err
	}
	b.table.print(row{"change → first watch event", events.String(), ratio(events.median(), floor.median(), "healthz"), ""})
	pause := longestPause(pauseTime)
	before, err := a.loop(ctx)
	if err != nil {
		return err
	}
	for _, names := range attacks() {
		if err := b.beside(ctx, a, floor.median(), names); err != nil {
			return err
		}
	}
	after, err := a.loop(ctx)
	if err != nil {
		return err
	}
	b.table.print(row{"batches over 5 ms under all these attacks", over(before, after), "", ""})
	b.table.print(row{"the machine's own longest pause", short(pause), "", fmt.Sprintf("of a program that looks at the clock for %s", pauseTime)})
	return nil
}

// attacks returns the measured sets of attacks: each attack alone, and all at once.
func attacks() (out [][]string) {
	var all []string
	for _, a := range attackers.Attacks {
		all = append(all, a.Name)
		out = append(out, []string{a.Name})
	}
	return append(out, all)
}

// beside measures changes while a session is attacked.
func (b *bench) beside(ctx context.Context, a *apiClient, floor time.Duration, names []string) error {
	before, err := a.loop(ctx)
	if err != nil {
		return err
	}
	attacker, err := attack(ctx, a.attacked, names...)
	if err != nil {
		return err
	}
	events, err := a.changes(ctx)
	rounds, ended := attacker.end()
	if err := errors.Join(err, ended); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(names, ", "), err)
	}
	after, err := a.loop(ctx)
	if err != nil {
		return err
	}
	what := strings.Join(names, ", ")
	if len(names) > 1 {
		what = "all of these at once"
	}
	b.table.print(row{"… under " + what, events.String(), ratio(events.median(), floor, "healthz"),
		fmt.Sprintf("%s (%s)", batches(before, after), rounds)})
	return nil
}

// pauseTime is the time for which the machine is observed.
const pauseTime = 2 * time.Second

// longestPause returns how long the machine took the processor from a program that only reads the clock: no batch can be
// guaranteed to be quicker.
func longestPause(d time.Duration) (longest time.Duration) {
	began := time.Now()
	for last := began; last.Sub(began) < d; {
		now := time.Now()
		longest = max(longest, now.Sub(last))
		last = now
	}
	return longest
}

// changes switches resources off and on again, one by one, and measures from sending the request until an existing watch
// reports it.
func (a *apiClient) changes(ctx context.Context) (took times, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch, err := a.do(ctx, http.MethodGet, resourcesPath+"?watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan", "", nil)
	if err != nil {
		return nil, err
	}
	defer watch.Body.Close()
	type seen struct {
		name string
		at   time.Time
	}
	events := make(chan seen, 1024)
	go func() {
		defer close(events)
		lines := bufio.NewScanner(watch.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			at := time.Now()
			var e struct {
				Object v1alpha1.UIResource `json:"object"`
			}
			if json.Unmarshal(lines.Bytes(), &e) == nil {
				events <- seen{e.Object.Name, at}
			}
		}
	}()
	// The garbage collector of this process runs between changes, not while one is measured.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for i := range apiChanges {
		runtime.GC()
		if err := harness.Sleep(ctx, changePause); err != nil {
			return nil, err
		}
		for len(events) > 0 {
			<-events // of the change before
		}
		name := fmt.Sprintf("r%d", i/2)
		began := time.Now()
		resp, err := a.do(ctx, http.MethodPatch, tiltAPI+"/configmaps/"+name+"-disable", "application/merge-patch+json",
			fmt.Appendf(nil, `{"data":{"isDisabled":"%t"}}`, i%2 == 0))
		if err != nil {
			return nil, err
		}
		_ = resp.Body.Close()
		limit := time.After(10 * time.Second)
		for at := (time.Time{}); at.IsZero(); {
			select {
			case e, ok := <-events:
				if !ok {
					return nil, errors.New("the watch has ended")
				}
				if e.name == name {
					at = e.at
					took = append(took, at.Sub(began))
				}
			case <-limit:
				return nil, fmt.Errorf("no watch reported that %s was switched", name)
			}
		}
	}
	return took, nil
}

func (a *apiClient) loop(ctx context.Context) (l tables.LoopStatus, err error) {
	resp, err := a.do(ctx, http.MethodGet, loopPath, "", nil)
	if err != nil {
		return l, err
	}
	defer resp.Body.Close()
	var o tables.Loop
	err = json.NewDecoder(resp.Body).Decode(&o)
	return o.Status, err
}

// longBatch is the promised longest duration of a batch.
const longBatch = 5 * time.Millisecond

// over returns how many of the loop's batches between two samples took longer than longBatch: "2 of 213".
func over(before, after tables.LoopStatus) string {
	var all, long uint64
	for _, b := range between(before, after) {
		all += b.Batches
		if upTo, err := time.ParseDuration(b.UpTo); err != nil || upTo > longBatch {
			long += b.Batches
		}
	}
	return fmt.Sprintf("%d of %d", long, all)
}

// between returns the loop's batches between two samples, by their duration.
func between(before, after tables.LoopStatus) []tables.Bucket {
	out := slices.Clone(after.Took)
	for i, b := range before.Took {
		out[i].Batches -= b.Batches
	}
	return out
}

// batches returns how long the loop's batches between two samples took: "batches: 204 ≤ 100µs, 9 ≤ 500µs".
func batches(before, after tables.LoopStatus) string {
	var parts []string
	for _, b := range between(before, after) {
		switch {
		case b.Batches == 0:
		case b.UpTo == "":
			parts = append(parts, fmt.Sprintf("%d longer", b.Batches))
		default:
			parts = append(parts, fmt.Sprintf("%d ≤ %s", b.Batches, b.UpTo))
		}
	}
	return "batches: " + strings.Join(parts, ", ")
}
