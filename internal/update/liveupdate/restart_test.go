package liveupdate

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// TestRestartProcess tests the possible answers of the program in the container, for both ways to start it.
func TestRestartProcess(t *testing.T) {
	for _, tt := range []struct {
		name    string
		answer  answer // to the restart
		run     answer // to the command before it
		bare    bool   // there is no shell, so that exec asks once more
		calls   int
		outcome Outcome
		text    string
	}{
		{name: "restarted", calls: 2},
		{name: "after a command that fails", run: answer{err: exited(1)}, calls: 1, outcome: UserError, text: "exit code 1"},
		{name: "no supervisor", answer: answer{err: exited(3), output: "synclet: none"}, calls: 2, outcome: FallBack, text: "does not run under hone's supervisor"},
		{name: "no program", answer: answer{err: exited(127)}, calls: 2, outcome: FallBack, text: "does not run under hone's supervisor"},
		{name: "no program, as the runtime reports it", answer: answer{err: errors.New(`exec: "/.hone/synclet": stat /.hone/synclet: no such file or directory: unable to start container process`)}, bare: true, calls: 2, outcome: FallBack},
		{name: "nothing to start", answer: answer{err: exited(4), output: "synclet: start /app: exec format error\n"}, calls: 2, outcome: UserError, text: "start the process in container web: start /app: exec format error"},
		{name: "refused", answer: answer{err: exited(1), output: "synclet: the container is ending\n"}, calls: 2, outcome: Infra, text: "the container is ending"},
		{name: "killed", answer: answer{err: exited(137)}, calls: 2, outcome: Infra},
		{name: "connection failed", answer: answer{err: errors.New(dialFailed)}, calls: 3},
		{name: "connection lost", answer: answer{err: errors.New("unexpected EOF")}, calls: 2, outcome: Infra},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, by := range []func(*script) Updater{
					func(s *script) Updater { return ExecUpdater{Pods: s} },
					func(s *script) Updater { return ContainerUpdater{Engine: s} },
				} {
					s := &script{answers: []answer{tt.run, tt.answer}}
					calls := tt.calls
					if _, exec := by(s).(ExecUpdater); exec && tt.bare {
						s.answers = append(s.answers, tt.answer)
						calls++
					}
					r, err := by(s).Update(t.Context(), web, Plan{Runs: []model.Run{run("a")}, RestartProcess: true}, logstore.Discard)
					if got := Classify(err); got != tt.outcome {
						t.Errorf("got %v (%v), want %v", got, err, tt.outcome)
					}
					if err != nil && !strings.Contains(problem.Text(err), tt.text) {
						t.Errorf("it says %q, want %q", problem.Text(err), tt.text)
					}
					if r.Restarted.IsZero() == (tt.outcome == Updated) || r.Ran.IsZero() {
						t.Errorf("it reports %+v", r)
					}
					if len(s.calls) != calls {
						t.Errorf("%d calls: %q", len(s.calls), s.calls)
					}
				}
			})
		})
	}
}

// TestRestartIsCertain makes the cluster's report of the end of a restart differ from the restart's own.
func TestRestartIsCertain(t *testing.T) {
	for _, tt := range []struct {
		answer  answer
		outcome Outcome
	}{
		{answer{err: errors.New("unexpected EOF"), says: endMark + "0\n"}, Updated},
		{answer{says: endMark + "3\n"}, FallBack},
		{answer{silent: true}, Infra},
	} {
		s := &script{answers: []answer{tt.answer}}
		r, err := (ExecUpdater{Pods: s}).Update(t.Context(), web, Plan{RestartProcess: true}, logstore.Discard)
		if got := Classify(err); got != tt.outcome || r.Restarted.IsZero() == (tt.outcome == Updated) || len(s.calls) != 1 {
			t.Errorf("%+v: got %v (%v), %+v after %q", tt.answer, got, err, r, s.calls)
		}
	}
	s := &script{}
	if _, err := (ExecUpdater{Pods: s}).Update(t.Context(), web, Plan{Copies: one(t), RestartProcess: true}, logstore.Discard); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{execCopy, "ns/web-1/web: /.hone/synclet|restart|--grace|10s"}, s.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}
