//go:build linux

package synclet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/internal/update/liveupdate"
	"github.com/hone-dev/hone/pkg/model"
)

func (r *rig) sh(script string) model.Cmd {
	return model.Cmd{Argv: []string{"sh", "-c", script}, Dir: r.remote}
}

// fly applies files with the steps behind them.
func (r *rig) fly(then Then, names ...string) sequence {
	r.Helper()
	_, f, err := r.Conversation.apply(r.Context(), r.batch(names...), func(bool) Then { return then })
	check(r, err)
	return f
}

// TestSequence sends commands along with the files: each sees the effects of the one before, and its output is its own.
func TestSequence(t *testing.T) {
	r := newRig(t)
	r.write("f", "new")
	then := Then{Runs: []model.Cmd{r.sh("sleep 0.1; cp f g; echo one"), r.sh("cat f; echo two >&2; cat g; echo two >&2"), r.sh("exit 7"), r.sh("touch never; echo never"), r.sh("touch never")},
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
	}{{"one\n", 0}, {"newtwo\nnewtwo\n", 0}, {"", 7}, {"", protocol.ExitSkipped}, {"", protocol.ExitSkipped}} {
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

// TestSequenceOfAFailedUpdate sends a command along with files that cannot be put in place.
func TestSequenceOfAFailedUpdate(t *testing.T) {
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

// TestSequenceAfterAMisjudgedFile sends the steps a second time, along with the whole file.
func TestSequenceAfterAMisjudgedFile(t *testing.T) {
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

// TestSequenceIsCancelled ends a command that runs, and with it those behind it.
func TestSequenceIsCancelled(t *testing.T) {
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

// TestSequenceIsResumed loses the connection while commands run: a command that has ended is not run a second time, even by an update
// that fails and is repeated; a command that was cut off is run again from its beginning.
func TestSequenceIsResumed(t *testing.T) {
	c := aContainer("c1", "p1")
	const toTheFiles = 4 // preamble, hello, the content of the paths, and that the files are in place
	said := func(text string) string { return "echo " + text + " >> said; echo " + text }
	for _, tt := range []struct {
		name    string
		scripts []string
		through int    // answers before they are lost; 0 if none are lost
		cut     string // the commands' output when the connection ends
		want    string
		code    int
	}{
		{"all have ended, and all answers are lost", []string{said("1"), said("2"), said("3")}, toTheFiles, "1 2 3", "1 2 3", 0},
		{"all have ended, and some answers are lost", []string{said("1"), said("2"), said("3")}, toTheFiles + 2, "1 2 3", "1 2 3", 0},
		{"one has failed, and its answer is lost", []string{said("1"), said("2") + "; exit 5", said("3")}, toTheFiles, "1 2", "1 2", 5},
		{"a file was removed", []string{said("1"), said("2")}, toTheFiles - 1, "1 2", "1 2", 0},
		{"they change the update's files", []string{said("1") + "; echo 1 >f", said("2") + "; rm f", said("3")}, toTheFiles, "1 2 3", "1 2 3", 0},
		{"they change the update's files, and not even the answer to these arrives", []string{said("1") + "; echo 1 >f", said("2")},
			toTheFiles - 1, "1 2", "1 2", 0},
		{"one runs, and has changed the update's files", []string{"[ -f twice ] || { touch twice; echo 1 >f; " + said("waits") +
			"; read gate <fifo; }; cat f >>said; " + said("end")}, 0, "waits", "waits 1 end", 0},
		{"one runs", []string{said("1"), said("2") + "; [ -f twice ] || { touch twice; " + said("waits") + "; read gate <fifo; }; " + said("end"), said("3")},
			0, "1 2 waits", "1 2 waits 2 end 3", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			local, remote := t.TempDir(), t.TempDir()
			check(t, syscall.Mkfifo(filepath.Join(remote, "fifo"), 0o600))
			writeFile(t, filepath.Join(local, "f"), "new", 0o644)
			c := c
			c.Syncs = []model.Sync{{LocalPath: local, RemotePath: remote}}
			f := &fakePods{through: tt.through}
			p, _ := newPool(t, f)
			plan := liveupdate.Plan{Copies: []liveupdate.Copy{{Local: filepath.Join(local, "f"), Remote: filepath.Join(remote, "f")}}}
			if tt.name == "a file was removed" { // nothing is asked before a file is removed
				writeFile(t, filepath.Join(remote, "f"), "old", 0o644)
				plan = liveupdate.Plan{Deletes: []string{filepath.Join(remote, "f")}}
			}
			for _, script := range tt.scripts {
				plan.Runs = append(plan.Runs, model.Run{Cmd: model.Cmd{Argv: []string{"sh", "-c", script}, Dir: remote}})
			}
			var mu sync.Mutex
			var log strings.Builder
			logger := logstore.Func(func(_ logstore.Level, text string) {
				mu.Lock()
				defer mu.Unlock()
				log.WriteString(text)
			})
			done := make(chan error, 1)
			go func() {
				_, err := p.Update(t.Context(), c, plan, logger)
				done <- err
			}()
			told := func() string {
				text, _ := os.ReadFile(filepath.Join(remote, "said"))
				return strings.Join(strings.Fields(string(text)), " ")
			}
			k8stest.Eventually(t, "the commands", func() error {
				if got := told(); got != tt.cut {
					return errors.New(got)
				}
				if tt.through > 0 { // their ends have been noted, too
					if n := len(openNotes(t, p, c)); n != len(strings.Fields(tt.cut)) {
						return fmt.Errorf("%d are noted", n)
					}
				}
				return nil
			})
			f.mu.Lock()
			f.cut()
			f.mu.Unlock()
			err := <-done
			var step *liveupdate.RunStepError
			if tt.code == 0 && err != nil || tt.code != 0 && (!errors.As(err, &step) || step.Code != tt.code) {
				t.Errorf("%v\n%s", err, log.String())
			}
			const again = "Reconnected to main after the connection was lost: a command that was cut off starts again"
			if n := strings.Count(log.String(), again); n != 1 {
				t.Errorf("the log says %d times that there is a new connection:\n%s", n, log.String())
			}
			if got := told(); got != tt.want {
				t.Errorf("the commands said %s, want %s\n%s", got, tt.want, log.String())
			}
			k8stest.Eventually(t, "the notes to be removed", func() error {
				if n := openNotes(t, p, c); n != nil {
					return fmt.Errorf("there are %q", n)
				}
				return nil
			})
		})
	}
}

// openNotes returns the lines that the synclet has noted about the steps of a sequence.
func openNotes(t *testing.T, p *Pool, c model.ContainerRef) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/dev/shm", ".hone-sequence-"+p.client(c)))
	if err != nil {
		return nil
	}
	return strings.Split(string(text), "\n")[1:]
}
