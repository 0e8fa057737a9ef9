//go:build linux

package synclet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/update/agent"
	"github.com/hone-dev/hone/internal/update/agent/program"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/pkg/model"
)

// fakePods simulates containers: a shell that becomes the synclet, tar, and tools that are missing.
type fakePods struct {
	shell, tar error // why there is none
	living     bool  // a synclet that has lost its connection still runs
	deaf       bool  // and does not answer
	through    int   // how many answers the next conversation delivers; 0 for all

	mu    sync.Mutex
	execs []string
	cut   context.CancelFunc // ends the newest conversation
}

func (f *fakePods) Exec(ctx context.Context, req k8s.ExecRequest) error {
	pod, argv, in, out := req.Pod, req.Argv, req.Stdin, req.Stdout
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f.mu.Lock()
	f.execs = append(f.execs, pod+" "+argv[0])
	f.cut = cancel
	shell, living, deaf := f.shell, f.living, f.deaf
	if f.through > 0 && argv[0] == "sh" && argv[2] != again {
		out, f.through = &lossy{Writer: out, left: f.through}, 0
	}
	if len(argv) > 2 && argv[2] == again {
		f.execs[len(f.execs)-1] += " again"
	}
	f.mu.Unlock()
	switch argv[0] {
	case "sh":
		if shell != nil {
			return shell
		}
		if argv[2] == again {
			if deaf {
				<-ctx.Done()
				return ctx.Err()
			}
			if !living {
				return exitStatus(94)
			}
			break
		}
		prog, err := program.For("amd64")
		if err != nil {
			return err
		}
		if _, err := io.CopyN(io.Discard, in, int64(len(prog))); err != nil {
			return err
		}
	case "tar":
		_, _ = io.Copy(io.Discard, in)
		return f.tar
	}
	stop := context.AfterFunc(ctx, func() {
		_ = in.(io.Closer).Close()
		_ = out.(io.Closer).Close()
	})
	defer stop()
	return agent.Serve(in, out, os.Environ())
}

// lossy loses everything that is written after some writes, each of which is an answer.
type lossy struct {
	io.Writer
	left int // of the only goroutine that writes
}

func (l *lossy) Write(p []byte) (int, error) {
	if l.left--; l.left < 0 {
		return len(p), nil
	}
	return l.Writer.Write(p)
}

func (l *lossy) Close() error { return l.Writer.(io.Closer).Close() }

func (f *fakePods) ran() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.execs, ", ")
}

type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit code %d", int(e)) }
func (e exitStatus) ExitCode() int { return int(e) }

// watcher collects the statuses that a pool reports.
type watcher struct {
	mu   sync.Mutex
	said []string
	news chan struct{}
}

func (w *watcher) told(s Status) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", s.Container.Resource, s.Container.ID, s.State, s.Way)))
	select {
	case w.news <- struct{}{}:
	default:
	}
}

func (w *watcher) await(t *testing.T, want string) {
	t.Helper()
	late := time.After(time.Minute)
	for {
		w.mu.Lock()
		text := strings.Join(w.said, ", ")
		w.mu.Unlock()
		if strings.Contains(text, want) {
			return
		}
		select {
		case <-w.news:
		case <-late:
			t.Fatalf("told %s, want %s", text, want)
		}
	}
}

func newPool(t *testing.T, f *fakePods) (*Pool, *watcher) {
	p, w := NewPool(f), &watcher{news: make(chan struct{}, 1)}
	p.OnStatus(w.told)
	t.Cleanup(p.Close)
	return p, w
}

func aContainer(id, pod string, syncs ...model.Sync) model.ContainerRef {
	return model.ContainerRef{Resource: "web", Namespace: "ns", Pod: pod, Name: "main", ID: id, Image: "web:1", Arch: "amd64", Syncs: syncs}
}

// TestPoolComesBack loses a connection: the program is not sent again where it still runs.
func TestPoolComesBack(t *testing.T) {
	for name, tt := range map[string]struct {
		living, deaf bool
		want         string
	}{
		"it still runs":      {living: true, want: "p1 sh, p1 sh again"},
		"it is gone":         {want: "p1 sh, p1 sh again, p1 sh"},
		"it does not answer": {deaf: true, want: "p1 sh, p1 sh again, p1 sh"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fakePods{living: tt.living, deaf: tt.deaf}
				p, w := newPool(t, f)
				one := aContainer("c1", "p1")
				p.Keep([]model.ContainerRef{one})
				first, err := p.Conversation(t.Context(), one)
				check(t, err)
				f.mu.Lock()
				cut := f.cut
				f.mu.Unlock()
				cut()
				w.await(t, "broken shell")
				second, err := p.after(t.Context(), one, first)
				check(t, err)
				_, err = second.Ping(t.Context())
				check(t, err)
				if got := f.ran(); got != tt.want {
					t.Errorf("it ran %s, want %s", got, tt.want)
				}
			})
		})
	}
}

// TestPoolAnswers asks containers to answer: one that runs, one whose connection has just ended, and one that nobody keeps.
func TestPoolAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakePods{}
		p, _ := newPool(t, f)
		one, two := aContainer("c1", "p1"), aContainer("c2", "p2")
		p.Keep([]model.ContainerRef{one, two})
		for _, c := range []model.ContainerRef{one, two} { // the second one is the newest that f can cut
			_, err := p.Conversation(t.Context(), c)
			check(t, err)
		}
		silent := func() (ids []string) {
			return slices.DeleteFunc([]string{"c3", "c2", "c1"}, func(id string) bool { return p.Answers(t.Context(), id) })
		}
		if got := silent(); !slices.Equal(got, []string{"c3"}) {
			t.Errorf("silent: %v", got)
		}
		f.mu.Lock()
		f.cut()
		f.mu.Unlock()
		synctest.Wait()
		if got := silent(); !slices.Contains(got, "c3") || len(got) != 2 {
			t.Errorf("silent after a cut: %v", got)
		}
	})
}

func TestPoolKeeps(t *testing.T) {
	f := &fakePods{}
	p, w := newPool(t, f)
	one, two := aContainer("c1", "p1"), aContainer("c2", "p2")
	p.Keep([]model.ContainerRef{one, two})
	w.await(t, "web c1 ready shell")
	w.await(t, "web c2 ready shell")
	f.mu.Lock()
	cut := f.cut
	f.mu.Unlock()
	cut()
	w.await(t, "broken shell")
	w.await(t, "starting, web c") // and again
	p.Keep([]model.ContainerRef{two})
	if _, err := p.Conversation(t.Context(), two); err != nil {
		t.Error(err)
	}
	p.Close()
	if _, err := p.Conversation(t.Context(), two); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// TestPoolAdopts checks that an update may come before Keep; its conversation continues, and is reported from then on.
// The same applies to a container that another resource takes over.
func TestPoolAdopts(t *testing.T) {
	p, w := newPool(t, &fakePods{})
	c := aContainer("c1", "p1")
	s, err := p.Conversation(t.Context(), c)
	check(t, err)
	if len(w.said) != 0 {
		t.Errorf("told %v", w.said)
	}
	p.Keep([]model.ContainerRef{c})
	w.await(t, "web c1 ready shell")
	moved := c
	moved.Resource = "shop"
	p.Keep([]model.ContainerRef{moved})
	w.await(t, "shop c1 ready shell")
	if again, err := p.Conversation(t.Context(), c); err != nil || again != s {
		t.Errorf("another conversation was begun, %v", err)
	}
}

// TestPoolReplaced starts over with a container whose syncs have changed, during an update that continues.
func TestPoolReplaced(t *testing.T) {
	p, _ := newPool(t, &fakePods{})
	first, err := p.Conversation(t.Context(), aContainer("c1", "p1"))
	check(t, err)
	p.Keep([]model.ContainerRef{aContainer("c1", "p1", model.Sync{LocalPath: "/a", RemotePath: "/b"})})
	second, err := p.after(t.Context(), aContainer("c1", "p1"), first)
	if err != nil || second == first {
		t.Errorf("got %v, %v", second, err)
	}
}

// TestPoolWays checks that the first way that works is remembered for other containers of the image, and so is that none
// works.
func TestPoolWays(t *testing.T) {
	for _, tt := range []struct {
		name       string
		shell, tar error
		ways, want string
	}{
		{"shell", nil, nil, "p1 sh, p2 sh", "ready shell"},
		{"no shell", exitStatus(127), nil, "p1 sh, p1 tar, p1 /tmp/", "ready tar"},
		{"nothing", exitStatus(127), exitStatus(127), "p1 sh, p1 tar, p1 tar", "failed"},
		{"forbidden", apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "p", nil), nil, "p1 sh", "failed"},
		{"for a moment", errors.New("connection reset"), nil, "p1 sh", "broken"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &fakePods{shell: tt.shell, tar: tt.tar}
			p, w := newPool(t, f)
			p.Keep([]model.ContainerRef{aContainer("c1", "p1")})
			w.await(t, "web c1 "+tt.want)
			if tt.name == "for a moment" {
				if _, err := p.Conversation(t.Context(), aContainer("c1", "p1")); err != nil && !strings.Contains(err.Error(), "connection reset") {
					t.Errorf("got %v", err)
				}
				return
			}
			p.Keep([]model.ContainerRef{aContainer("c1", "p1"), aContainer("c2", "p2")})
			w.await(t, "web c2 "+tt.want)
			ran := f.ran()
			if !strings.HasPrefix(ran, tt.ways) {
				t.Errorf("ran %s, want %s", ran, tt.ways)
			}
			switch tt.name {
			case "no shell":
				if strings.Contains(ran, "p2 sh") {
					t.Errorf("the way was not remembered: %s", ran)
				}
			case "nothing":
				if strings.Contains(ran, "p2") {
					t.Errorf("it tried again: %s", ran)
				}
			}
		})
	}
}

// TestPoolUpdate updates through a pool whose conversation breaks before each update.
func TestPoolUpdate(t *testing.T) {
	f := &fakePods{}
	p, _ := newPool(t, f)
	local, remote := t.TempDir(), t.TempDir()
	c := model.ContainerRef{Namespace: "ns", Pod: "p1", Name: "main", ID: "c1", Image: "web:1", Arch: "amd64",
		Syncs: []model.Sync{{LocalPath: local, RemotePath: remote}}}
	var log strings.Builder
	logger := logstore.Func(func(_ logstore.Level, text string) { log.WriteString(text) })
	for i := range 5 {
		writeFile(t, filepath.Join(local, "f"), fmt.Sprint(i), 0o644)
		plan := liveupdate.Plan{Copies: []liveupdate.Copy{{Local: filepath.Join(local, "f"), Remote: filepath.Join(remote, "f")}},
			Runs: []model.Run{{Cmd: model.Cmd{Argv: []string{"sh", "-c", "echo ran; exit 0"}}}}}
		_, err := p.Update(t.Context(), c, plan, logger)
		check(t, err)
		if got, err := os.ReadFile(filepath.Join(remote, "f")); err != nil || string(got) != fmt.Sprint(i) {
			t.Errorf("round %d: %q, %v", i, got, err)
		}
		if i < 4 {
			s, err := p.Conversation(t.Context(), model.ContainerRef{ID: "c1"})
			check(t, err)
			f.mu.Lock()
			f.cut()
			f.mu.Unlock()
			<-s.Done()
		}
	}
	if n := strings.Count(log.String(), "ran\n"); n != 5 {
		t.Errorf("the command ran %d times", n)
	}
	// The user's failing command does not fall back; a restart without a supervisor does.
	_, err := p.Update(t.Context(), c, liveupdate.Plan{Runs: []model.Run{{Cmd: model.Cmd{Argv: []string{"false"}}}}}, logger)
	if liveupdate.Classify(err) != liveupdate.UserError {
		t.Errorf("got %v", err)
	}
	if _, err := p.Update(t.Context(), c, liveupdate.Plan{RestartProcess: true}, logger); liveupdate.Classify(err) != liveupdate.FallBack {
		t.Errorf("got %v", err)
	}
}

// TestPoolRight checks that a forbidden action is retried periodically, so that a granted right takes effect; updates
// that come meanwhile fail without another try.
func TestPoolRight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakePods{shell: apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "p", nil)}
		p, w := newPool(t, f)
		p.Keep([]model.ContainerRef{aContainer("c1", "p1")})
		synctest.Wait()
		for range 3 {
			_, err := p.Conversation(t.Context(), aContainer("c1", "p1"))
			if pr, ok := problem.Of(err); !ok || !strings.Contains(pr.Mend, "pods/exec") {
				t.Errorf("got %v", err)
			}
		}
		time.Sleep(5*rightPause + time.Second)
		if ran := f.ran(); ran != strings.TrimSuffix(strings.Repeat("p1 sh, ", 6), ", ") {
			t.Errorf("ran %s", ran)
		}
		f.mu.Lock()
		f.shell = nil
		f.mu.Unlock()
		time.Sleep(rightPause)
		synctest.Wait()
		w.await(t, "web c1 ready shell")
		p.Close()
	})
}

// TestPoolHurries checks that an update does not fail because of an error that no longer applies.
func TestPoolHurries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakePods{shell: errors.New("connection refused")}
		p, _ := newPool(t, f)
		p.Keep([]model.ContainerRef{aContainer("c1", "p1")})
		time.Sleep(time.Minute + time.Second/2)
		if _, err := p.Conversation(t.Context(), aContainer("c1", "p1")); err == nil {
			t.Error("no error")
		}
		f.mu.Lock()
		f.shell = nil
		f.mu.Unlock()
		began := time.Now()
		if _, err := p.Conversation(t.Context(), aContainer("c1", "p1")); err != nil || time.Since(began) > 0 {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		p.Close()
	})
}

// TestPoolOtherBuild checks that a synclet of another build is not used, in any way, and that this is not retried.
func TestPoolOtherBuild(t *testing.T) {
	build := agent.Program
	agent.Program = "another"
	defer func() { agent.Program = build }()
	synctest.Test(t, func(t *testing.T) {
		f := &fakePods{}
		p, w := newPool(t, f)
		p.Keep([]model.ContainerRef{aContainer("c1", "p1")})
		time.Sleep(time.Hour)
		w.await(t, "web c1 failed")
		_, err := p.Conversation(t.Context(), aContainer("c1", "p1"))
		if !errors.Is(err, errForeign) || !strings.Contains(err.Error(), "another, not "+build) {
			t.Errorf("got %v", err)
		}
		if n := strings.Count(f.ran(), ",") + 1; n != 3 { // the shell, tar, and the program that tar unpacked
			t.Errorf("ran %s", f.ran())
		}
		p.Close()
	})
}
