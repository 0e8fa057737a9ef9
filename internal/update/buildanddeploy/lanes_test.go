package buildanddeploy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/pkg/model"
)

// slow is a liveupdate.Updater that takes a given time in each container, and fails in some.
type slow struct {
	takes map[string]time.Duration
	fail  map[string]error
}

func (s slow) Update(ctx context.Context, c model.ContainerRef, p liveupdate.Plan, _ logstore.Logger) (liveupdate.Report, error) {
	select {
	case <-time.After(s.takes[c.ID]):
	case <-ctx.Done():
		return liveupdate.Report{}, ctx.Err()
	}
	return liveupdate.Report{Files: len(p.Copies), Applied: time.Now()}, s.fail[c.ID]
}

// TestLagging checks which containers are left behind, when, and with which result.
func TestLagging(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "main.go")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	live := model.LiveUpdate{Syncs: []model.Sync{{LocalPath: dir, RemotePath: "/app"}}}
	m := model.Manifest{Name: "web", K8s: &model.K8sTarget{}, Images: []model.ImageTarget{{Ref: "web", LiveUpdate: live}}}
	const ms, long = time.Millisecond, 3 * time.Second
	for _, tc := range []struct {
		name   string
		takes  map[string]time.Duration
		fail   map[string]error
		change func(*Request)
		after  time.Duration // how long the update takes
		synced string
		err    string
		behind string // how the lagging containers end
	}{
		{name: "all quick", takes: map[string]time.Duration{"a": ms, "b": 2 * ms, "c": 50 * ms}, after: 50 * ms, synced: "a b c"},
		{name: "one slow", takes: map[string]time.Duration{"a": ms, "b": 2 * ms, "c": long}, after: waitsForOthers + ms, synced: "a b", behind: "c updated"},
		{name: "all slow: none is behind", takes: map[string]time.Duration{"a": long, "b": long, "c": long + ms}, after: long + ms, synced: "a b c"},
		{name: "others run", takes: map[string]time.Duration{"a": long, "b": long, "c": long}, change: func(r *Request) { r.Others = true },
			after: waitsForOthers, behind: "a updated, b updated, c updated"},
		{name: "waited for", takes: map[string]time.Duration{"a": ms, "b": ms, "c": long}, change: func(r *Request) { r.Waits = true },
			after: long, synced: "a b c"},
		{name: "the command fails in the slow one only", takes: map[string]time.Duration{"c": long}, fail: map[string]error{"c": errUser},
			after: waitsForOthers, synced: "a b", behind: "c fall back"},
		{name: "the command fails in the quick ones only", takes: map[string]time.Duration{"c": long}, fail: map[string]error{"a": errUser, "b": errUser},
			after: waitsForOthers, synced: "a b", err: "user error", behind: "c fall back"},
		{name: "the command fails everywhere", takes: map[string]time.Duration{"c": long}, fail: map[string]error{"a": errUser, "b": errUser, "c": errUser},
			after: waitsForOthers, synced: "a b", err: "user error", behind: "c user error"},
		{name: "the command failed in one of the quick ones: no wait for the slow one, which needs a new image too",
			takes: map[string]time.Duration{"c": long}, fail: map[string]error{"a": errUser}, after: waitsForOthers, synced: "a b", err: "fall back"},
		{name: "the new process does not start in the slow one only", takes: map[string]time.Duration{"c": long}, fail: map[string]error{"c": errStart},
			after: waitsForOthers, synced: "a b", behind: "c fall back"},
		{name: "the new process starts nowhere", takes: map[string]time.Duration{"c": long}, fail: map[string]error{"a": errStart, "b": errUser, "c": errStart},
			after: waitsForOthers, synced: "a b", err: "user error", behind: "c user error"},
		{name: "the builder fails in a quick one: the next builder takes all", takes: map[string]time.Duration{"c": long}, fail: map[string]error{"b": errInfra},
			after: waitsForOthers, synced: "a", err: "infrastructure error"},
		{name: "the builder fails in the slow one", takes: map[string]time.Duration{"c": long}, fail: map[string]error{"c": errInfra},
			after: waitsForOthers, synced: "a b", behind: "c infrastructure error"},
		{name: "nothing helps a quick one: the slow one keeps running", takes: map[string]time.Duration{"c": long}, fail: map[string]error{"a": errFull, "b": errUser},
			after: waitsForOthers, synced: "b", err: "blocked", behind: "c fall back"},
		{name: "the builder fails in one, and nothing helps another: the next builder takes all", fail: map[string]error{"a": errInfra, "b": errFull},
			synced: "c", err: "infrastructure error"},
		{name: "the command fails where others have it", takes: map[string]time.Duration{}, fail: map[string]error{"a": errUser, "b": errUser, "c": errUser},
			change: func(r *Request) { r.Peers = map[string]int{"web": 2} }, synced: "a b c", err: "fall back"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := NewSynclet(slow{tc.takes, tc.fail})
				req := (&diary{}).request(m)
				req.InPlace = true
				for _, id := range []string{"a", "b", "c"} {
					req.Containers = append(req.Containers, model.LackingContainer{ContainerRef: model.ContainerRef{Pod: id, Name: "main", ID: id, Ref: "web"},
						Files: []string{file}})
				}
				if tc.change != nil {
					tc.change(&req)
				}
				began := time.Now()
				r, err := b.BuildAndDeploy(t.Context(), req)
				after := time.Since(began)
				outcome := ""
				if err != nil {
					outcome = liveupdate.Classify(err).String()
				}
				slices.Sort(r.Synced)
				var behind []string
				for _, s := range r.Behind {
					_, err := s.Wait()
					behind = append(behind, s.Container.ID+" "+liveupdate.Classify(err).String())
				}
				got := fmt.Sprintf("after %s: %s; error %q; behind: %s", after, strings.Join(r.Synced, " "), outcome, strings.Join(behind, ", "))
				want := fmt.Sprintf("after %s: %s; error %q; behind: %s", tc.after, tc.synced, tc.err, tc.behind)
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("-want +got\n%s", d)
				}
			})
		})
	}
}

func TestLaggingEndWithTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewSynclet(slow{takes: map[string]time.Duration{"b": time.Hour, "c": time.Hour}})
		dir := t.TempDir()
		live := model.LiveUpdate{Syncs: []model.Sync{{LocalPath: dir, RemotePath: "/app"}}}
		req := (&diary{}).request(model.Manifest{Name: "web", K8s: &model.K8sTarget{}, Images: []model.ImageTarget{{Ref: "web", LiveUpdate: live}}})
		req.InPlace = true
		for _, id := range []string{"a", "b", "c"} {
			req.Containers = append(req.Containers, model.LackingContainer{ContainerRef: model.ContainerRef{Pod: id, ID: id, Ref: "web"},
				Files: []string{filepath.Join(dir, "gone")}})
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r, err := b.BuildAndDeploy(ctx, req)
		if err != nil || len(r.Behind) != 2 {
			t.Fatalf("%v, behind %v", err, r.Behind)
		}
		r.Behind[0].Cancel()
		if _, err := r.Behind[0].Wait(); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled alone: %v", err)
		}
		cancel()
		if _, err := r.Behind[1].Wait(); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled with the update: %v", err)
		}
	})
}

// TestStages checks that the stages add up to the time from the save to the end of the last stage.
func TestStages(t *testing.T) {
	base := time.Unix(1000, 0)
	at := func(ms int) time.Time { return base.Add(time.Duration(ms) * time.Millisecond) }
	save := func([]string) (made, known time.Time) { return at(0), at(1) }
	for _, tc := range []struct {
		name   string
		save   func([]string) (made, known time.Time)
		start  time.Time
		report liveupdate.Report
		want   string
	}{
		{"a stream", save, time.Time{}, liveupdate.Report{Sent: at(5), Applied: at(8)}, "8.0 ms (noticed 1.0, waited 2.0, sent 2.0, applied 3.0 ms)"},
		{"sent and applied are one", save, time.Time{}, liveupdate.Report{Applied: at(48)}, "48.0 ms (noticed 1.0, waited 2.0, applied 45.0 ms)"},
		{"commands and a new process", save, time.Time{}, liveupdate.Report{Sent: at(5), Applied: at(8), Ran: at(9008), Restarted: at(9508)},
			"9508.0 ms (noticed 1.0, waited 2.0, sent 2.0, applied 3.0, ran 9000.0, restarted 500.0 ms)"},
		{"long ones are in seconds", save, time.Time{}, liveupdate.Report{Applied: at(8), Ran: at(63008)}, "63.0 s (ran 63.0 s)"},
		{"a container that has just started", save, at(2), liveupdate.Report{Sent: at(5), Applied: at(8)}, "5.0 ms (sent 2.0, applied 3.0 ms)"},
		{"the time of the save is unknown", nil, time.Time{}, liveupdate.Report{Sent: at(5), Applied: at(8)}, "5.0 ms (sent 2.0, applied 3.0 ms)"},
		{"a clock that was set", func([]string) (made, known time.Time) { return at(900), at(1) }, at(-50), liveupdate.Report{Applied: at(8)},
			"7.0 ms (waited 2.0, applied 5.0 ms)"},
	} {
		if got := stages(Request{Save: tc.save}, model.LackingContainer{ContainerRef: model.ContainerRef{StartedAt: tc.start}}, at(3), tc.report).String(); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}
