//go:build linux

package synclet

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/pkg/model"
)

func (r *rig) sh(script string) model.Cmd {
	return model.Cmd{Argv: []string{"sh", "-c", script}, Dir: r.remote}
}

// fly applies files with what follows them.
func (r *rig) fly(then Then, names ...string) flight {
	r.Helper()
	_, f, err := r.Conversation.apply(r.Context(), r.batch(names...), func(bool) Then { return then })
	check(r, err)
	return f
}

// TestFlight sends commands along with the files: each sees what the one before has done, and its output is its own.
func TestFlight(t *testing.T) {
	r := newRig(t)
	r.write("f", "new")
	then := Then{Runs: []model.Cmd{r.sh("sleep 0.1; cp f g; echo one"), r.sh("cat f g; echo two >&2"), r.sh("exit 7"), r.sh("touch never; echo never"), r.sh("touch never")},
		Restart: true, Grace: time.Second}
	f := r.fly(then, "f")
	k8stest.Eventually(t, "the last answer, with none awaited", func() error {
		select {
		case <-f.restart.answered:
			return nil
		default:
			return errors.New("not yet")
		}
	})
	for i, want := range []struct {
		said string
		code int
	}{{"one\n", 0}, {"newnewtwo\n", 0}, {"", 7}, {"", protocol.ExitSkipped}, {"", protocol.ExitSkipped}} {
		var out bytes.Buffer
		err := f.runs[i].await(t.Context(), r.Conversation, &out)
		var exit *ExitError
		if code := want.code; (code == 0) != (err == nil) || code != 0 && (!errors.As(err, &exit) || exit.Code != code) {
			t.Errorf("command %d: %v", i, err)
		}
		if out.String() != want.said {
			t.Errorf("command %d says %q", i, out.String())
		}
	}
	if f.restart.restarted.Code != protocol.RestartSkipped {
		t.Errorf("the restart after a failed command: %+v", f.restart.restarted)
	}
	if _, err := os.Stat(filepath.Join(r.remote, "never")); err == nil {
		t.Error("a command after a failed one has run")
	}
	if f := r.fly(Then{Restart: true}, "f"); !errors.Is(f.restart.await(t.Context(), r.Conversation), ErrNoSupervisor) {
		t.Error("a restart without a supervisor, and without files to send")
	}
}

// TestFlightOfAFailedUpdate sends a command along with files that cannot be put in place.
func TestFlightOfAFailedUpdate(t *testing.T) {
	r := newRig(t)
	check(t, os.MkdirAll(filepath.Join(r.remote, "f/full"), 0o755))
	r.write("f", "not a folder")
	_, f, err := r.Conversation.apply(t.Context(), r.batch("f"), func(bool) Then { return Then{Runs: []model.Cmd{r.sh("touch ran")}} })
	var faults *FaultError
	if !errors.As(err, &faults) {
		t.Fatal(err)
	}
	var exit *ExitError
	if err := f.runs[0].await(t.Context(), r.Conversation, &bytes.Buffer{}); !errors.As(err, &exit) || exit.Code != protocol.ExitSkipped {
		t.Errorf("the command after it: %v", err)
	}
	if _, err := os.Stat(filepath.Join(r.remote, "ran")); err == nil {
		t.Error("the command has run")
	}
}

// TestFlightAfterAMisjudgedFile repeats what follows along with the whole file.
func TestFlightAfterAMisjudgedFile(t *testing.T) {
	r := newRig(t)
	content := random(1, 100<<10)
	r.write("f", string(content))
	r.apply("f")
	check(t, os.WriteFile(filepath.Join(r.remote, "f"), []byte("changed in the container"), 0o644))
	content[50<<10]++
	r.write("f", string(content))
	f := r.fly(Then{Runs: []model.Cmd{r.sh("echo run >> ran; wc -c < f")}}, "f")
	var out bytes.Buffer
	if err := f.runs[0].await(t.Context(), r.Conversation, &out); err != nil || out.String() != "102400\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	if ran, _ := os.ReadFile(filepath.Join(r.remote, "ran")); string(ran) != "run\n" {
		t.Errorf("it ran: %q", ran)
	}
}

// TestFlightIsCancelled ends a command that runs, and with it those behind it.
func TestFlightIsCancelled(t *testing.T) {
	r := newRig(t)
	r.write("f", "new")
	f := r.fly(Then{Runs: []model.Cmd{r.sh("touch began; exec sleep 100"), r.sh("touch never")}}, "f")
	ctx, cancel := context.WithCancel(t.Context())
	k8stest.Eventually(t, "the command to run", func() error {
		_, err := os.Stat(filepath.Join(r.remote, "began"))
		return err
	})
	cancel()
	if err := f.runs[0].await(ctx, r.Conversation, &bytes.Buffer{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	<-f.runs[1].answered
	if _, err := os.Stat(filepath.Join(r.remote, "never")); err == nil {
		t.Error("the command behind it has run")
	}
}
