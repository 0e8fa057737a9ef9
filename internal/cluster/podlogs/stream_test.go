package podlogs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sink collects lines.
type sink struct {
	mu    sync.Mutex
	texts []string
}

func (s *sink) take(_ time.Time, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts = append(s.texts, text)
}

func (s *sink) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.texts...)
}

func (s *sink) want(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	if diff := cmp.Diff(append([]string{}, want...), s.all()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// reading is a Run in progress.
type reading struct {
	sink
	k     *kubelet
	ended atomic.Bool
	done  chan error
	stop  context.CancelFunc
}

func read(t *testing.T, k *kubelet, cfg Config) *reading {
	r := &reading{k: k, done: make(chan error, 1)}
	var ctx context.Context
	ctx, r.stop = context.WithCancel(t.Context())
	cfg.Namespace, cfg.Pod, cfg.Container, cfg.ContainerID = "ns", "web-1", "app", "0123456789abcdef"
	cfg.Sink = r.take
	if cfg.Ended == nil {
		cfg.Ended = r.ended.Load
	}
	go func() { r.done <- NewStream(k).Run(ctx, cfg) }()
	return r
}

// finish ends the container and waits for the rest of its log.
func (r *reading) finish(t *testing.T) {
	t.Helper()
	r.k.end()
	r.ended.Store(true)
	if err := <-r.done; err != nil {
		t.Errorf("Run: %v", err)
	}
}

func bubble(t *testing.T, test func(t *testing.T, k *kubelet)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newKubelet()) })
}

func TestFollow(t *testing.T) {
	bubble(t, func(t *testing.T, k *kubelet) {
		r := read(t, k, Config{})
		k.write("one", "", "  three ")
		r.want(t, "one", "", "  three ")
		k.write("four")
		r.want(t, "one", "", "  three ", "four")
		r.finish(t)
		r.want(t, "one", "", "  three ", "four")
	})
}

func TestShortLivedContainerIsReadWhole(t *testing.T) {
	bubble(t, func(t *testing.T, k *kubelet) {
		k.write("all", "over")
		k.end()
		time.Sleep(time.Hour)
		r := read(t, k, Config{Ended: func() bool { return true }})
		if err := <-r.done; err != nil {
			t.Error(err)
		}
		r.want(t, "all", "over")
		for _, req := range k.requests {
			if req.Follow {
				t.Error("the log of an ended container is followed")
			}
		}
	})
}

func TestSince(t *testing.T) {
	bubble(t, func(t *testing.T, k *kubelet) {
		k.write("early")
		time.Sleep(300 * time.Millisecond) // within the same second
		since := time.Now()
		k.write("late")
		r := read(t, k, Config{Since: since})
		r.want(t, "late")
		r.finish(t)
		r.want(t, "late")
	})
}

func TestLinesThatShareTimeAndText(t *testing.T) {
	bubble(t, func(t *testing.T, k *kubelet) {
		k.setPlan(func(Request) fault {
			if len(k.requests) == 1 {
				return fault{after: 2 * len("2000-01-01T00:00:00Z same\n"), err: errReset}
			}
			return fine
		})
		k.write("same", "same", "same", "other", "same")
		r := read(t, k, Config{})
		time.Sleep(time.Second)
		r.want(t, "same", "same", "same", "other", "same")
		r.finish(t)
		r.want(t, "same", "same", "same", "other", "same")
	})
}

func TestStalledConnectionIsReplaced(t *testing.T) {
	bubble(t, func(t *testing.T, k *kubelet) {
		first := len("2000-01-01T00:00:00Z one\n")
		k.setPlan(func(Request) fault {
			if len(k.requests) == 1 {
				return fault{after: first, stall: true}
			}
			return fine
		})
		k.write("one")
		r := read(t, k, Config{})
		time.Sleep(time.Second)
		k.write("two")
		time.Sleep(13 * time.Second)
		r.want(t, "one")
		time.Sleep(2 * time.Second)
		r.want(t, "one", "two")
		r.finish(t)
	})
}

func TestQuietContainerIsAskedLessAndLess(t *testing.T) {
	for _, tt := range []struct {
		longest     func() time.Duration
		least, most int
	}{{nil, 50, 65}, {func() time.Duration { return 10 * StallMax }, 8, 12}} {
		bubble(t, func(t *testing.T, k *kubelet) {
			k.write("one")
			r := read(t, k, Config{StallMax: tt.longest})
			time.Sleep(time.Hour)
			if n := k.count(); n > tt.most || n < tt.least {
				t.Errorf("%d requests in a quiet hour, want %d to %d", n, tt.least, tt.most)
			}
			k.write("two")
			r.want(t, "one", "two")
			r.finish(t)
			r.want(t, "one", "two")
		})
	}
}

func TestLastLineWithoutALineBreak(t *testing.T) {
	for _, short := range []bool{false, true} {
		bubble(t, func(t *testing.T, k *kubelet) {
			k.write("one")
			k.change(func() { k.current().tail = "2000-01-01T00:00:01.5Z no end" })
			if short {
				k.end()
			}
			r := read(t, k, Config{})
			time.Sleep(time.Second)
			r.want(t, "one")
			r.finish(t)
			r.want(t, "one", "no end")
		})
	}
}

func TestLongLine(t *testing.T) {
	bubble(t, func(t *testing.T, k *kubelet) {
		long := strings.Repeat("x", 1<<20)
		huge := strings.Repeat("y", maxLine+maxLine/2)
		k.setPlan(func(Request) fault {
			if len(k.requests) == 1 {
				return fault{after: 500_000, err: errReset}
			}
			return fine
		})
		k.write("a", long, "b", huge, "c")
		r := read(t, k, Config{})
		time.Sleep(time.Second)
		r.finish(t)
		got := r.all()
		if len(got) != 6 || got[1] != long || got[3]+got[4] != huge || got[5] != "c" {
			t.Errorf("%d lines, want the long one whole and the huge one in two pieces", len(got))
		}
	})
}

func TestClockThatIsSetBack(t *testing.T) {
	bubble(t, func(t *testing.T, k *kubelet) {
		at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
		add := func(sec float64, text string) {
			k.change(func() {
				r := k.current()
				r.lines = append(r.lines, logLine{at.Add(time.Duration(sec * 1e9)), text})
			})
		}
		r := read(t, k, Config{})
		for i := range 40 {
			add(float64(i)/4, fmt.Sprint("before ", i))
		}
		add(4.1, "after 1")
		synctest.Wait()
		k.setPlan(func(Request) fault { return fault{after: 0, stall: true} })
		time.Sleep(time.Minute) // the connection is lost
		add(4.2, "after 2")
		k.setPlan(func(Request) fault { return fine })
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		seen := map[string]int{}
		for _, text := range r.all() {
			seen[text]++
		}
		if len(seen) != 42 || len(r.all()) != 42 {
			t.Errorf("%d lines, %d different; want 42", len(r.all()), len(seen))
		}
		r.finish(t)
	})
}

func TestPreviousOnly(t *testing.T) {
	bubble(t, func(t *testing.T, k *kubelet) {
		k.write("first run")
		k.restart()
		k.write("second run")
		r := read(t, k, Config{Previous: true})
		if err := <-r.done; err != nil {
			t.Error(err)
		}
		r.want(t, "first run")
	})
}

func TestRestartWhileDisconnected(t *testing.T) {
	bubble(t, func(t *testing.T, k *kubelet) {
		r := read(t, k, Config{})
		k.write("one")
		synctest.Wait()
		k.setPlan(func(Request) fault { return fault{refuse: errReset} })
		time.Sleep(time.Minute) // until the stall check replaces the connection
		k.write("two")
		k.restart()
		k.write("of the next run")
		k.setPlan(func(Request) fault { return fine })
		// Only the log shows that the container has ended.
		if err := <-r.done; err != nil {
			t.Error(err)
		}
		r.want(t, "one", "two")
	})
}

func TestReplacedBeforeTheFirstLine(t *testing.T) {
	bubble(t, func(t *testing.T, k *kubelet) {
		var replaced atomic.Bool
		k.setPlan(func(Request) fault { return fault{refuse: errors.New("container is starting")} })
		r := read(t, k, Config{Replaced: replaced.Load})
		time.Sleep(time.Second)
		k.write("one")
		k.restart()
		k.write("of the next run")
		replaced.Store(true)
		k.setPlan(func(Request) fault { return fine })
		if err := <-r.done; err != nil {
			t.Error(err)
		}
		r.want(t, "one")
	})
}

// TestPreviousLogThatComesLate: the kubelet may learn of a restart later than the API server.
func TestPreviousLogThatComesLate(t *testing.T) {
	for _, tt := range []struct {
		name string
		cfg  Config
	}{
		{"replaced", Config{Replaced: func() bool { return true }}},
		{"previous only", Config{Previous: true}},
		{"found out", Config{}}, // only the log shows the restart
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, k *kubelet) {
				var replaced atomic.Bool
				cfg := tt.cfg
				if tt.cfg.Replaced != nil {
					cfg.Replaced = replaced.Load
				}
				k.write("one")
				late := 0
				k.setPlan(func(r Request) fault {
					if r.Previous && late < previousTries-1 {
						late++
						return fault{refuse: errNotYet}
					}
					return fine
				})
				if cfg.Previous {
					k.restart()
				}
				r := read(t, k, cfg)
				synctest.Wait()
				if !cfg.Previous {
					k.write("two")
					k.restart()
				}
				k.write("of the next run")
				replaced.Store(true)
				if err := <-r.done; err != nil {
					t.Error(err)
				}
				if late != previousTries-1 {
					t.Errorf("the previous log was refused %d times", late)
				}
				if cfg.Previous {
					r.want(t, "one")
				} else {
					r.want(t, "one", "two")
				}
			})
		})
	}
}

func TestRotatedLogGoesOn(t *testing.T) {
	bubble(t, func(t *testing.T, k *kubelet) {
		r := read(t, k, Config{})
		k.write("one", "two")
		synctest.Wait()
		k.setPlan(func(Request) fault { return fault{refuse: errReset} })
		time.Sleep(time.Minute)
		k.write("lost", "three")
		k.change(func() { k.current().lost = 3 })
		k.setPlan(func(Request) fault { return fine })
		time.Sleep(time.Minute)
		r.want(t, "one", "two", "three")
		r.finish(t)
		r.want(t, "one", "two", "three")
	})
}

func TestTroubleIsToldAndItsEnd(t *testing.T) {
	bubble(t, func(t *testing.T, k *kubelet) {
		var told []string
		refuse := errors.New("no route to host")
		k.setPlan(func(Request) fault { return fault{refuse: refuse} })
		r := read(t, k, Config{Trouble: func(err error) { told = append(told, fmt.Sprint(err)) }})
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := k.count(); n > 260 {
			t.Errorf("%d requests in an hour, want pauses of up to 15 s", n)
		}
		k.setPlan(func(Request) fault { return fine })
		k.write("back")
		time.Sleep(time.Minute)
		r.want(t, "back")
		r.finish(t)
		if diff := cmp.Diff([]string{"no route to host", "<nil>"}, told); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	})
}

func TestLogOfAnEndedContainerThatIsGone(t *testing.T) {
	for _, tt := range []struct {
		name   string
		refuse error
		tries  int
	}{
		{"no such log", fmt.Errorf("get log: %w", ErrNoLog), 1},
		{"the server's words", errors.New(`pods "web-1" not found`), 1},
		{"no previous log", errNotYet, previousTries},
		{"other", errReset, endTries},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, k *kubelet) {
				k.setPlan(func(Request) fault { return fault{refuse: tt.refuse} })
				r := read(t, k, Config{Ended: func() bool { return true }}) // from before the first request on
				err := <-r.done
				if !errors.Is(err, tt.refuse) || !strings.Contains(err.Error(), "read log of ns/web-1/app (0123456789ab)") {
					t.Errorf("Run: %v", err)
				}
				if k.count() != tt.tries {
					t.Errorf("%d requests, want %d", k.count(), tt.tries)
				}
			})
		})
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	bubble(t, func(t *testing.T, k *kubelet) {
		for _, f := range []fault{fine, {refuse: errReset}, {hang: true}, {stall: true}} {
			k.setPlan(func(Request) fault { return f })
			r := read(t, k, Config{})
			time.Sleep(time.Second)
			r.stop()
			if err := <-r.done; !errors.Is(err, context.Canceled) {
				t.Errorf("Run: %v", err)
			}
		}
	})
}

func TestKubeletsOwnWords(t *testing.T) {
	bubble(t, func(t *testing.T, k *kubelet) {
		k.write("one")
		r := read(t, k, Config{})
		synctest.Wait()
		r.want(t, "one")
		r.finish(t)
		for line, want := range map[string]bool{
			"unable to retrieve container logs for containerd://0123": true,
			"failed to create fsnotify watcher: too many open files":  false,
		} {
			s := NewStream(k)
			s.cfg = Config{Sink: r.take}.withDefaults()
			_, _, ok, bad := s.parse(&connection{}, []byte(line), false)
			if ok || (bad != nil) != want {
				t.Errorf("%q: ok %t, error %v", line, ok, bad)
			}
		}
		r.want(t, "one", "failed to create fsnotify watcher: too many open files")
	})
}

// TestNothingIsLostOrDoubled writes at random times while connections break at random, and compares the delivered lines
// with the written ones.
func TestNothingIsLostOrDoubled(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			k := newKubelet()
			k.setPlan(randomFaults(rand.New(rand.NewPCG(seed, 2))))
			r := read(t, k, Config{})
			writeRandomly(k, rng, 60+rng.IntN(100))
			if rng.IntN(3) == 0 {
				k.change(func() { k.current().tail = time.Now().UTC().Format(time.RFC3339Nano) + " tail" })
			}
			k.end()
			time.Sleep(time.Duration(rng.IntN(5000)) * time.Millisecond)
			r.ended.Store(true)
			if err := <-r.done; err != nil {
				t.Errorf("Run: %v", err)
			}
			compare(t, seed, k, r.all())
		})
	}
}

// writeRandomly writes n lines: in bursts, with pauses, a little out of order, with equal times, texts, or both.
func writeRandomly(k *kubelet, rng *rand.Rand, n int) {
	last := time.Now()
	for i := range n {
		switch rng.IntN(6) {
		case 0:
			time.Sleep(time.Duration(rng.IntN(20_000)) * time.Millisecond)
		case 1, 2:
			time.Sleep(time.Duration(rng.IntN(900)) * time.Millisecond)
		}
		text := fmt.Sprint("line ", i)
		if rng.IntN(4) == 0 {
			text = "same"
		}
		if rng.IntN(40) == 0 {
			text += strings.Repeat(" long", 4000)
		}
		at := time.Now().Add(time.Duration(i))
		switch rng.IntN(4) {
		case 0:
			at = last
		case 1:
			at = at.Add(-time.Duration(rng.IntN(400)) * time.Millisecond)
		}
		last = at
		k.change(func() {
			r := k.current()
			r.lines = append(r.lines, logLine{at, text})
		})
	}
}

func compare(t *testing.T, seed uint64, k *kubelet, got []string) {
	t.Helper()
	var want []string
	for _, r := range k.runs {
		for _, l := range r.lines {
			want = append(want, l.text)
		}
		if _, text, ok := strings.Cut(r.tail, " "); ok {
			want = append(want, text)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("seed %d: lines (-want +got):\n%s", seed, diff[:min(len(diff), 3000)])
	}
}

// TestNothingIsLostOrDoubledAcrossRestarts is the same with one stream that runs once for each run of the container. As
// in a cluster, only the last two logs are available, and the status comes late.
func TestNothingIsLostOrDoubledAcrossRestarts(t *testing.T) {
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 3))
			k := newKubelet()
			k.setPlan(randomFaults(rand.New(rand.NewPCG(seed, 4))))
			var status atomic.Int32 // the newest run that the status shows
			var over atomic.Bool
			var out sink
			done := make(chan error, 1)
			go func() {
				s := NewStream(k)
				for id := int32(0); ; id++ {
					err := s.Run(t.Context(), Config{
						Sink:     out.take,
						Ended:    func() bool { return status.Load() > id || over.Load() },
						Replaced: func() bool { return status.Load() > id },
					})
					if err != nil || over.Load() && status.Load() == id {
						done <- err
						return
					}
					for status.Load() <= id {
						time.Sleep(10 * time.Millisecond)
					}
				}
			}()
			for i := range 4 {
				writeRandomly(k, rng, 5+rng.IntN(30))
				// After any failure the reader reconnects within this time, so that no run is skipped.
				time.Sleep(3 * time.Minute)
				writeRandomly(k, rng, rng.IntN(10))
				if i < 3 {
					time.Sleep(401 * time.Millisecond) // the lines of a run come before the next run's lines
					k.restart()
					time.Sleep(401 * time.Millisecond)
					writeRandomly(k, rng, rng.IntN(3))
					time.Sleep(time.Duration(rng.IntN(2000)) * time.Millisecond)
					status.Add(1)
				}
			}
			k.end()
			over.Store(true)
			if err := <-done; err != nil {
				t.Errorf("Run: %v", err)
			}
			compare(t, seed, k, out.all())
		})
	}
}
