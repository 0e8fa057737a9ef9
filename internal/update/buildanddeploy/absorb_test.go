package buildanddeploy

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/pkg/model"
)

// distant is a liveupdate.Updater whose containers take a time to answer, and that fails for some paths.
type distant struct {
	takes map[string]time.Duration // by container
	fail  map[string]error         // by path in the container

	mu  sync.Mutex
	got []string // guarded by mu: the updates in the order in which they began, with their container and files
}

func (d *distant) Update(ctx context.Context, c model.ContainerRef, p liveupdate.Plan, _ logstore.Logger) (liveupdate.Report, error) {
	d.mu.Lock()
	d.got = append(d.got, fmt.Sprintf("%s %s", c.ID, strings.Join(p.Deletes, " ")))
	d.mu.Unlock()
	select {
	case <-time.After(d.takes[c.ID]):
	case <-ctx.Done():
		return liveupdate.Report{}, ctx.Err()
	}
	for _, f := range p.Deletes {
		if err := d.fail[f]; err != nil {
			return liveupdate.Report{}, err
		}
	}
	return liveupdate.Report{Deletes: len(p.Deletes), Applied: time.Now()}, nil
}

// TestGrowth checks which files an update in place takes in while it waits for its containers to answer.
func TestGrowth(t *testing.T) {
	const ms = time.Millisecond
	dir := t.TempDir()
	type save struct {
		at    time.Duration
		files string // in container a, and in b if it is there
		none  bool   // nothing can be taken in
		// every and times repeat it.
		every time.Duration
		times int
	}
	both := map[string]time.Duration{"a": 50 * ms, "b": 60 * ms}
	for _, tc := range []struct {
		name  string
		live  func(*model.LiveUpdate)
		takes map[string]time.Duration
		fail  map[string]error
		saves []save
		way   func(liveupdate.Updater) *InPlace
		count bool // show only the number of updates
		want  string
	}{
		{name: "nothing more", want: "a /app/0 | after 50ms: a; added"},
		{name: "what comes before the answer", saves: []save{{at: 10 * ms, files: "1 2"}, {at: 20 * ms, files: "3"}, {at: 49 * ms, files: "4"}},
			want: "a /app/0, a /app/2 /app/1, a /app/3, a /app/4 | after 99ms: a; added 1 2 3 4 until 49ms"},
		{name: "what comes before the answer to what was taken in", saves: []save{{at: 40 * ms, files: "1"}, {at: 60 * ms, files: "2"}},
			want: "a /app/0, a /app/1, a /app/2 | after 110ms: a; added 1 2 until 60ms"},
		{name: "what comes close together travels together", saves: []save{{at: ms, files: "1"}, {at: 3 * ms, files: "1 2"}, {at: 6 * ms, files: "3"}},
			want: "a /app/0, a /app/2 /app/1, a /app/3 | after 60ms: a; added 1 2 3 until 10ms"},
		{name: "who saves without a pause sees it end", saves: []save{{at: 40 * ms, every: 40 * ms, times: 150, files: "1"}}, count: true,
			want: "101 updates | after 4.05s: a"},
		{name: "two containers: until one has everything", takes: both, saves: []save{{at: 10 * ms, files: "1"}, {at: 55 * ms, files: "2"}, {at: 108 * ms, files: "3"}},
			want: "a /app/0, a /app/1, a /app/2, b /app/0, b /app/1, b /app/2 | after 115ms: a b; added 1 2 until 55ms"},
		{name: "it turns out to be nothing", saves: []save{{at: 10 * ms, none: true}}, want: "a /app/0 | after 50ms: a; added"},
		{name: "it needs a new image", saves: []save{{at: 10 * ms, files: "../elsewhere"}}, want: "a /app/0 | after 50ms: a; added"},
		{name: "it needs a command", live: func(l *model.LiveUpdate) {
			l.Runs = []model.Run{{Cmd: model.Cmd{Argv: []string{"make"}}, Triggers: []string{filepath.Join(dir, "1")}}}
		}, saves: []save{{at: 10 * ms, files: "1"}}, want: "a /app/0 | after 50ms: a; added"},
		{name: "a command follows the first ones", live: func(l *model.LiveUpdate) {
			l.Runs = []model.Run{{Cmd: model.Cmd{Argv: []string{"make"}}, Triggers: []string{filepath.Join(dir, "0")}}}
		}, saves: []save{{at: 10 * ms, files: "1"}}, want: "a /app/0 | after 50ms: a; added"},
		{name: "its process may have to be restarted", live: func(l *model.LiveUpdate) {
			l.RestartProcess = &model.RestartProcess{Triggers: []string{filepath.Join(dir, "2")}}
		}, saves: []save{{at: 10 * ms, files: "1"}}, want: "a /app/0 | after 50ms: a; added"},
		{name: "another way takes one at a time", way: func(u liveupdate.Updater) *InPlace {
			b := NewSynclet(u)
			b.absorbs = false
			return b
		}, saves: []save{{at: 10 * ms, files: "1"}}, want: "a /app/0 | after 50ms: a; added"},
		{name: "what was taken in fails", saves: []save{{at: 10 * ms, files: "1"}}, fail: map[string]error{"/app/1": errInfra},
			want: "a /app/0, a /app/1 | after 60ms: infrastructure error; added 1 until 10ms"},
		{name: "the first ones fail, and what was taken in does not", saves: []save{{at: 10 * ms, files: "1"}}, fail: map[string]error{"/app/0": errInfra},
			want: "a /app/0, a /app/1 | after 60ms: infrastructure error; added 1 until 10ms"},
		{name: "one that falls behind has what was taken in", takes: map[string]time.Duration{"a": 50 * ms, "b": time.Second}, saves: []save{{at: 10 * ms, files: "1"}},
			want: "a /app/0, a /app/1, b /app/0, b /app/1 | after 160ms: a; added 1 until 10ms; behind b with 0 1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				live := model.LiveUpdate{Syncs: []model.Sync{{LocalPath: dir, RemotePath: "/app"}}}
				if tc.live != nil {
					tc.live(&live)
				}
				if tc.takes == nil {
					tc.takes = map[string]time.Duration{"a": 50 * ms}
				}
				u := &distant{takes: tc.takes, fail: tc.fail}
				b := NewSynclet(u)
				if tc.way != nil {
					b = tc.way(u)
				}
				began := time.Now()
				req := (&diary{}).request(model.Manifest{Name: "web", K8s: &model.K8sTarget{}, Images: []model.ImageTarget{{Ref: "web", LiveUpdate: live}}})
				req.InPlace, req.StartedAt = true, began
				lack := func(names string) (out []model.LackingContainer) {
					for _, id := range []string{"a", "b"} {
						if _, ok := tc.takes[id]; !ok {
							continue
						}
						l := model.LackingContainer{ContainerRef: model.ContainerRef{Pod: id, Name: "main", ID: id, Ref: "web"}}
						for _, n := range strings.Fields(names) {
							l.Files = append(l.Files, filepath.Join(dir, n)) // which are gone: they are deleted there
						}
						out = append(out, l)
					}
					return out
				}
				req.Containers = lack("0")
				var mu sync.Mutex
				var saved string
				taken := 0
				grown := make(chan struct{}, 1)
				req.Changed = grown
				req.Absorb = func(since time.Time) *AbsorbedChanges {
					mu.Lock()
					defer mu.Unlock()
					if saved == "" {
						return nil
					}
					if since.Before(began) {
						t.Errorf("asked for what has changed since %s before the update", began.Sub(since))
					}
					files := saved
					return &AbsorbedChanges{Until: time.Now(), Containers: lack(files), Files: strings.Fields(files), Taken: func() { taken++ }}
				}
				var timers []*time.Timer
				for _, s := range tc.saves {
					for i := range max(s.times, 1) {
						timers = append(timers, time.AfterFunc(s.at+time.Duration(i)*s.every, func() {
							mu.Lock()
							saved = s.files
							mu.Unlock()
							select {
							case grown <- struct{}{}:
							default:
							}
						}))
					}
				}
				r, err := b.BuildAndDeploy(t.Context(), req)
				slices.Sort(r.Synced)
				u.mu.Lock()
				slices.Sort(u.got)
				u.mu.Unlock()
				result := strings.Join(r.Synced, " ")
				if err != nil {
					result = liveupdate.Classify(err).String()
				}
				got := fmt.Sprintf("%s | after %s: %s; added", strings.Join(u.got, ", "), time.Since(began), result)
				if tc.count {
					got = fmt.Sprintf("%d updates | after %s: %s", len(u.got), time.Since(began), result)
				} else if len(r.Added) > 0 {
					got += " " + strings.Join(r.Added, " ") + " until " + r.Until.Sub(began).String()
				}
				if (len(r.Added) > 0) != (taken > 0) {
					t.Errorf("taken %d times, and added %q", taken, r.Added)
				}
				for _, s := range r.Behind {
					if _, err := s.Wait(); err != nil {
						t.Error(err)
					}
					got += "; behind " + s.Container.ID + " with"
					for _, f := range s.Container.Files {
						got += " " + filepath.Base(f)
					}
				}
				for _, timer := range timers {
					timer.Stop()
				}
				if d := cmp.Diff(tc.want, got); d != "" {
					t.Errorf("-want +got\n%s", d)
				}
			})
		})
	}
}
