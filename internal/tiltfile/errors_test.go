package tiltfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/pkg/model"
)

// loadText evaluates a Tiltfile of one file.
func loadText(t *testing.T, text string, change func(*Options)) Result {
	t.Helper()
	path := filepath.Join(t.TempDir(), "Tiltfile")
	writeFile(t, path, []byte(text))
	o := Options{Path: path}
	if change != nil {
		change(&o)
	}
	return Load(t.Context(), o)
}

func TestErrorIsProblemWithBacktrace(t *testing.T) {
	res := loadText(t, "def f():\n  local('echo why; false', quiet=True)\ndef g():\n  f()\ng()\n", nil)
	var e *fault.Error
	if !errors.As(res.Err, &e) {
		t.Fatalf("got %v, want an *Error", res.Err)
	}
	if e.Line != 2 || e.Col == 0 || e.Text != "  local('echo why; false', quiet=True)" {
		t.Errorf("wrong place: %+v", e)
	}
	for _, want := range []string{":5:", "in g", ":4:", "in f", ":2:"} {
		if !strings.Contains(e.Backtrace, want) {
			t.Errorf("backtrace lacks %q:\n%s", want, e.Backtrace)
		}
	}
	if strings.Contains(e.Error(), "Traceback") {
		t.Errorf("the message contains the backtrace: %s", e)
	}
	p, ok := problem.Of(res.Err)
	if !ok || !strings.Contains(p.Detail, "^") || !strings.Contains(p.Detail, "why") {
		t.Errorf("problem %+v lacks the marker or the output", p)
	}
}

func TestNoTiltfile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "Tiltfile")
	res := Load(t.Context(), Options{Path: path})
	if p, ok := problem.Of(res.Err); !ok || p.Mend == "" {
		t.Errorf("got %v, want a problem with a mend", res.Err)
	}
	if len(res.ConfigFiles) == 0 || res.ConfigFiles[len(res.ConfigFiles)-1] != path {
		t.Errorf("config files %v lack the Tiltfile that may be created", res.ConfigFiles)
	}
}

func TestFailedLoadKeepsFilesAndIgnores(t *testing.T) {
	res := loadText(t, "watch_settings(ignore='x')\nread_file('a', '')\nfail('no')\n", nil)
	if res.Err == nil || len(res.Ignores) != 1 || !strings.HasSuffix(strings.Join(res.ConfigFiles, " "), "/a") || res.Manifests != nil {
		t.Errorf("got %+v", res)
	}
}

func TestClusterIsAskedOnceAndLate(t *testing.T) {
	asked := 0
	cluster := func(o *Options) {
		o.Cluster = func() (model.Cluster, error) { asked++; return model.Cluster{}, nil }
	}
	if res := loadText(t, "local_resource('a', 'x')\n", cluster); res.Err != nil || asked != 0 {
		t.Errorf("asked %d times, err %v, want never", asked, res.Err)
	}
	if res := loadText(t, "k8s_context()\nk8s_namespace()\nlocal('true')\n", cluster); res.Err != nil || asked != 1 {
		t.Errorf("asked %d times, err %v, want once", asked, res.Err)
	}
}

func TestClusterError(t *testing.T) {
	boom := errors.New("kubeconfig is broken")
	res := loadText(t, "k8s_context()\n", func(o *Options) {
		o.Cluster = func() (model.Cluster, error) { return model.Cluster{}, boom }
	})
	if !errors.Is(res.Err, boom) {
		t.Errorf("got %v, want it to wrap %v", res.Err, boom)
	}
}

func TestCancelStopsEndlessLoop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	path := filepath.Join(t.TempDir(), "Tiltfile")
	writeFile(t, path, []byte("print('started')\nwhile True:\n  pass\n"))
	res := Load(ctx, Options{Path: path, Logger: logstore.Func(func(logstore.Level, string) { cancel() })})
	if !errors.Is(res.Err, context.Canceled) {
		t.Errorf("got %v, want it to wrap context.Canceled", res.Err)
	}
}

// TestCancelKillsProcessGroup cancels while a command waits for its child. Both hold the same pipe open, and its end
// means that both are gone.
func TestCancelKillsProcessGroup(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "Tiltfile"), []byte("local('exec 3>fifo; echo ready >&3; sleep 1000 & wait')\n"))
	gone := make(chan error, 1)
	go func() {
		data := make([]byte, 64)
		f, err := os.Open(fifo)
		for err == nil {
			if _, err = f.Read(data); err == nil {
				cancel()
			}
		}
		gone <- f.Close()
	}()
	res := Load(ctx, Options{Path: filepath.Join(dir, "Tiltfile")})
	if !errors.Is(res.Err, context.Canceled) {
		t.Errorf("got %v, want it to wrap context.Canceled", res.Err)
	}
	if err := <-gone; err != nil {
		t.Error(err)
	}
}

// TestBackgroundChildDoesNotBlock runs a command that leaves behind a child that keeps the output open.
func TestBackgroundChildDoesNotBlock(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the output to time out")
	}
	dir := t.TempDir()
	res := loadText(t, "if str(local('sleep 1000 & echo $! > "+dir+"/pid; echo out', quiet=True)) != 'out\\n':\n  fail('lost output')\n", nil)
	if res.Err != nil {
		t.Error(res.Err)
	}
	pid, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	if res := loadText(t, "local('kill "+strings.TrimSpace(string(pid))+"')\n", nil); res.Err != nil {
		t.Error("the child is gone:", res.Err)
	}
}
