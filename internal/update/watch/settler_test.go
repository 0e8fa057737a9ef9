package watch

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/pkg/model"
)

// settled runs script with a settler in a bubble and returns the released changes, each as "time target path …".
func settled(t *testing.T, opts SettlerOptions, script func(s *Settler)) []string {
	t.Helper()
	var got []string
	synctest.Test(t, func(t *testing.T) {
		if opts.Locked == nil {
			opts.Locked = func([]string) bool { return false }
		}
		s := NewSettler(opts)
		start := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			done <- s.Run(ctx, func(b Batch) {
				for _, c := range b.Changes {
					at := time.Since(start).Round(time.Millisecond).String()
					got = append(got, strings.Join(append([]string{at, c.ID.Name}, c.Paths...), " "))
				}
			})
		}()
		script(s)
		time.Sleep(time.Minute) // virtual
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return got
}

func change(name string, paths ...string) Batch {
	return Batch{At: time.Now(), Changes: []Change{{ID: target(name), Paths: paths}}}
}

func printed(path string, was, now Fingerprint) Batch {
	return Batch{At: time.Now(), Changes: []Change{{ID: target("a"), Paths: []string{path}, Prints: []Print{{was, now}}}}}
}

func TestSettler(t *testing.T) {
	ms := func(n int) { time.Sleep(time.Duration(n) * time.Millisecond) }
	tests := []struct {
		name   string
		opts   SettlerOptions
		script func(s *Settler)
		want   []string
	}{
		{
			name: "one change", script: func(s *Settler) { s.Add(change("a", "/x")) },
			want: []string{"30ms a /x"},
		}, {
			name: "changes close together are one",
			script: func(s *Settler) {
				s.Add(change("a", "/x"))
				ms(10)
				s.Add(change("a", "/y", "/x"))
			},
			want: []string{"40ms a /x /y"},
		}, {
			name: "targets settle on their own",
			script: func(s *Settler) {
				s.Add(change("b", "/x"))
				s.Add(change("a", "/x"))
				ms(20)
				s.Add(change("b", "/y"))
			},
			want: []string{"30ms a /x", "60ms b /x /y"},
		}, {
			name: "pauses within a burst lengthen the wait",
			script: func(s *Settler) {
				for _, pause := range []int{25, 45, 80, 0} {
					s.Add(change("a", "/x"))
					ms(pause)
				}
			},
			want: []string{"310ms a /x"}, // the last change at 150 ms, and twice the longest pause
		}, {
			name: "a change soon after a release lengthens the next wait",
			script: func(s *Settler) {
				for range 2 {
					s.Add(change("a", "/x"))
					ms(60)
					s.Add(change("a", "/fmt"))
					ms(940)
				}
			},
			want: []string{"30ms a /x", "150ms a /fmt", "1.18s a /fmt /x"},
		}, {
			name: "what was learned fades",
			script: func(s *Settler) {
				s.Add(change("a", "/x"))
				ms(100)
				for range 20 {
					s.Add(change("a", "/y"))
					ms(5000)
				}
				s.Add(change("b", "/z"))
				ms(1000)
				s.Add(change("a", "/last"))
			},
			want: append(append([]string{"30ms a /x", "250ms a /y"}, fading(19)...), "1m40.13s b /z", "1m41.13s a /last"),
		}, {
			name: "low-latency targets wait less, unless their changes come in bursts",
			opts: SettlerOptions{LowLatency: func(id model.TargetID) bool { return id == target("a") }},
			script: func(s *Settler) {
				s.Add(change("b", "/x"))
				s.Add(change("a", "/x"))
				ms(3)
				s.Add(change("a", "/y"))
				ms(997)
				s.Add(change("a", "/x"))
				ms(60)
				s.Add(change("a", "/fmt"))
				ms(940)
				s.Add(change("a", "/x"))
				ms(60)
				s.Add(change("a", "/fmt"))
			},
			want: []string{"9ms a /x /y", "30ms b /x", "1.005s a /x", "1.15s a /fmt", "2.18s a /fmt /x"},
		}, {
			name: "low-latency targets stop waiting for singleSave changes, until others come",
			opts: SettlerOptions{LowLatency: func(model.TargetID) bool { return true }},
			script: func(s *Settler) {
				alone := func(n int) {
					for range n {
						s.Add(change("a", "/x"))
						ms(1000)
					}
				}
				alone(9)
				s.Add(change("a", "/x", "/two", "/files"))
				ms(1000)
				alone(3)
				s.Add(change("a", "/x"))
				s.Add(change("a", "/then", "/others"))
				ms(1000)
				alone(3)
				both := change("a", "/x")
				both.Changes = append(both.Changes, Change{ID: target("b"), Paths: []string{"/x"}})
				s.Add(both)
				ms(1000)
				alone(7)
				s.Add(change("a", "/x"))
				ms(3)
				s.Add(change("a", "/late"))
				ms(997)
				alone(3)
			},
			want: []string{
				"5ms a /x", "1.003s a /x", "2.001s a /x", "3s a /x", "4s a /x", "5s a /x", "6s a /x", "7s a /x", "8s a /x",
				"9.005s a /files /two /x", "10.005s a /x", "11.003s a /x", "12.001s a /x",
				"13.005s a /others /then /x", "14.005s a /x", "15.003s a /x", "16.001s a /x",
				"17.005s a /x", "17.005s b /x", "18.005s a /x", "19.003s a /x", "20.001s a /x", "21s a /x", "22s a /x", "23s a /x", "24s a /x",
				"25s a /x", "25.008s a /late", "26.005s a /x", "27.003s a /x", "28.001s a /x",
			},
		}, {
			name: "a file that the Tiltfile also reads is released for all targets together",
			opts: SettlerOptions{LowLatency: func(id model.TargetID) bool { return id == target("a") }},
			script: func(s *Settler) {
				read := func(paths ...string) Change {
					return Change{ID: model.TargetID{Type: model.TargetConfigs, Name: "Tiltfile"}, Paths: paths}
				}
				both := change("a", "/app.yaml")
				both.Changes = append(both.Changes, read("/app.yaml"))
				s.Add(both)
				s.Add(change("b", "/x"))
				ms(10)
				s.Add(change("a", "/app.go"))
				ms(990)
				apart := change("a", "/app.go")
				apart.Changes = append(apart.Changes, read("/Tiltfile"))
				s.Add(apart)
			},
			want: []string{"30ms a /app.go /app.yaml", "30ms Tiltfile /app.yaml", "30ms b /x", "1.005s a /app.go", "1.03s Tiltfile /Tiltfile"},
		}, {
			name: "complete changes are released at once, later ones when they have settled",
			script: func(s *Settler) {
				s.Add(change("a", "/x"))
				s.Add(change("b", "/z"))
				ms(10)
				s.Complete()
				ms(90)
				s.Add(change("a", "/y"))
			},
			want: []string{"10ms a /x", "10ms b /z", "250ms a /y"},
		}, {
			name: "endless changes are cut",
			script: func(s *Settler) {
				for range 250 {
					s.Add(change("a", "/x"))
					ms(10)
				}
			},
			want: []string{"2s a /x", "2.52s a /x"},
		}, {
			name: "held by a lock", opts: lockedUntil(700 * time.Millisecond),
			script: func(s *Settler) { s.Add(change("a", "/x")) },
			want:   []string{"700ms a /x"},
		}, {
			name: "held by a lock beyond the cap", opts: lockedUntil(5 * time.Second),
			script: func(s *Settler) {
				for range 480 {
					s.Add(change("a", "/x"))
					ms(10)
				}
			},
			want: []string{"5s a /x"},
		}, {
			name: "held by a lock that stays", opts: lockedUntil(time.Hour),
			script: func(s *Settler) { s.Add(change("a", "/x")) },
			want:   []string{"10s a /x"},
		}, {
			name: "undone",
			script: func(s *Settler) {
				s.Add(printed("/x", 100, 200))
				s.Add(printed("/y", 100, PrintAbsent))
				ms(5)
				s.Add(printed("/x", 200, 100))
				s.Add(printed("/y", PrintAbsent, 300))
			},
			want: []string{"35ms a /y"},
		}, {
			name: "undone completely",
			script: func(s *Settler) {
				s.Add(printed("/d/x", 100, PrintAbsent))
				s.Add(printed("/d", PrintFolder, PrintAbsent))
				ms(5)
				s.Add(printed("/d/x", PrintAbsent, 100))
				ms(1000)
				s.Add(printed("/d/x", 100, 200))
			},
			want: []string{"1.035s a /d/x"},
		}, {
			name: "a folder that goes with its files",
			script: func(s *Settler) {
				s.Add(printed("/d/x", 100, PrintAbsent))
				s.Add(printed("/d", PrintFolder, PrintAbsent))
				s.Add(printed("/e/x", PrintAbsent, 100))
				s.Add(printed("/e/x", 100, PrintAbsent))
				s.Add(printed("/e", PrintFolder, PrintAbsent))
			},
			want: []string{"30ms a /d /d/x"},
		}, {
			name: "unknown content is never undone",
			script: func(s *Settler) {
				s.Add(printed("/x", PrintUnknown, PrintUnknown))
			},
			want: []string{"30ms a /x"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, settled(t, tt.opts, tt.script)); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

// fading lists the releases of changes that come each 5 s from 5.1 s on, when the wait shrinks from 150 ms to 30 ms.
func fading(n int) []string {
	var out []string
	quiet := 150 * time.Millisecond
	for i := range n {
		quiet = 30*time.Millisecond + (quiet-30*time.Millisecond)*7/10
		at := 100*time.Millisecond + time.Duration(i+1)*5*time.Second
		out = append(out, (at+quiet).Round(time.Millisecond).String()+" a /y")
	}
	return out
}

// lockedUntil holds a lock from the start of the bubble, whose clock always starts at the same time.
func lockedUntil(d time.Duration) SettlerOptions {
	end := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(d)
	return SettlerOptions{Locked: func([]string) bool { return time.Now().Before(end) }}
}

func TestSettlerBatchTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSettler(SettlerOptions{Locked: func([]string) bool { return false }})
		start := time.Now()
		s.Add(Batch{At: start.Add(5), Changes: []Change{{ID: model.ImageID("i"), Paths: []string{"/x"}}}})
		s.Add(Batch{At: start.Add(3), Changes: []Change{{ID: target("l"), Paths: []string{"/y"}}}})
		ctx, cancel := context.WithCancel(t.Context())
		var got Batch
		if err := s.Run(ctx, func(b Batch) { got = b; cancel() }); err != nil {
			t.Fatal(err)
		}
		if len(got.Changes) != 2 || !got.At.Equal(start.Add(5)) {
			t.Errorf("got %+v, want both changes with the later time", got)
		}
		if ev := got.Events(); len(ev) != 2 || ev[0].ID != model.ImageID("i") || ev[1].Paths[0] != "/y" || !ev[1].At.Equal(got.At) {
			t.Errorf("events %+v", ev)
		}
	})
}

func TestGitLocks(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	top := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", filepath.Join(top, "repo"), "-c", "user.name=x", "-c", "user.email=x@y"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write(t, filepath.Join(top, "repo/sub/dir/f"), "")
	write(t, filepath.Join(top, "plain/f"), "")
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "first")
	git("worktree", "add", "-q", filepath.Join(top, "tree"))
	g := newGitLocks()
	repo, tree, plain := filepath.Join(top, "repo/sub/dir"), filepath.Join(top, "tree"), filepath.Join(top, "plain")
	check := func(want bool, dirs ...string) {
		t.Helper()
		if got := g.locked(dirs); got != want {
			t.Errorf("locked(%q) = %v, want %v", dirs, got, want)
		}
	}
	check(false, repo, tree, plain, filepath.Join(top, "repo/not/there"))
	lock := filepath.Join(top, "repo/.git/index.lock")
	write(t, lock, "")
	check(true, plain, repo)
	check(false, tree, plain)
	old := time.Now().Add(-time.Minute)
	do(t, os.Chtimes(lock, old, old))
	check(false, repo)
	write(t, filepath.Join(top, "repo/.git/worktrees/tree/index.lock"), "")
	check(true, tree)
}
