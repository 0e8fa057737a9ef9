package liveupdate

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// exited is a client's error for a command that failed.
type exited int

func (e exited) Error() string { return fmt.Sprintf("exit code %d", int(e)) }
func (e exited) ExitCode() int { return int(e) }

// answer is the response of a scripted client to a call.
type answer struct {
	err    error
	output string
	unread bool   // the input is not read, and the end is not reported
	silent bool   // the end is not reported: there is no shell, or the report was lost
	says   string // the report of the end, instead of the one that err implies
}

// script is a client that gives the answers in turn, an empty one when they are used up, and records the calls.
type script struct {
	answers []answer
	entries map[string]*tar.Header
	calls   []string
	inputs  []int64
}

func (s *script) play(call string, stdin io.Reader, out io.Writer) error {
	s.calls = append(s.calls, call)
	var a answer
	if len(s.answers) > 0 {
		a, s.answers = s.answers[0], s.answers[1:]
	}
	if stdin != nil && !a.unread {
		n, err := io.Copy(io.Discard, stdin)
		if err != nil {
			return err
		}
		s.inputs = append(s.inputs, n)
	}
	if out != nil {
		if _, err := io.WriteString(out, a.output); err != nil {
			return err
		}
	}
	return a.err
}

func (s *script) Exec(_ context.Context, req k8s.ExecRequest) error {
	argv, says := req.Argv, ""
	if len(argv) > 2 && argv[0] == "sh" && strings.Contains(argv[2], endMark) {
		says = s.ending()
		if strings.Contains(argv[2], survey) {
			_, _ = io.WriteString(req.Stdout, ".\n") // the owners are unknown
		} else {
			argv = argv[len(saying(itself)):]
		}
	}
	call := req.Namespace + "/" + req.Pod + "/" + req.Container + ": " + strings.Join(argv, "|")
	if req.Certain {
		call += " (certain)"
	}
	err := s.play(call, req.Stdin, req.Stderr)
	if says != "" {
		_, _ = io.WriteString(req.Stdout, says)
	}
	return err
}

// ending returns the next command's report of its end.
func (s *script) ending() string {
	if len(s.answers) == 0 {
		return endMark + "0\n"
	}
	a := s.answers[0]
	var code exited
	ok := errors.As(a.err, &code)
	switch {
	case a.says != "":
		return a.says
	case a.silent, a.unread, a.err != nil && !ok:
		return ""
	}
	return endMark + fmt.Sprint(int(code)) + "\n"
}

func (s *script) ContainerExec(_ context.Context, id string, argv []string, stdin io.Reader, out io.Writer) error {
	if len(argv) > 2 && argv[2] == survey {
		return exited(127) // there is no shell to list the owners
	}
	return s.play(id+": "+strings.Join(argv, "|"), stdin, out)
}

func (s *script) CopyTo(_ context.Context, id, dir string, archive io.Reader) error {
	return s.play(id+": copy to "+dir, archive, nil)
}

func (s *script) Entry(_ context.Context, _, path string) (*tar.Header, error) {
	return s.entries[path], nil
}

func (s *script) RestartContainer(_ context.Context, id string, _ bool) error {
	return s.play(id+": restart", nil, nil)
}

var (
	_ PodExecer = (*script)(nil)
	_ Engine    = (*script)(nil)
)

var web = model.ContainerRef{Namespace: "ns", Pod: "web-1", Name: "web", ID: "c0ffee", Syncs: []model.Sync{{LocalPath: "/p", RemotePath: "/app"}}}

// one returns a plan's copies of a small file.
func one(t *testing.T) []Copy {
	return []Copy{{Local: put(t, t.TempDir(), "a", []byte("a"), 0o644), Remote: "/app/a"}}
}

const (
	execTar    = "ns/web-1/web: tar|-C|/|-x|-f|-"
	dialFailed = "error dialing backend: EOF"
)

var (
	execRm    = "ns/web-1/web: sh|-c|" + remove + "|sh|"
	execCopy  = "ns/web-1/web: " + strings.Join(saying(removeAndUntar), "|")
	execRmTar = execCopy + "|"
)

func TestExecUpdater(t *testing.T) {
	many := make([]string, 400)
	for i := range many {
		many[i] = fmt.Sprintf("/app/%0100d", i)
	}
	a, b := run("a"), run("b")
	for _, tt := range []struct {
		name    string
		copy    bool
		deletes []string
		runs    []model.Run
		restart bool
		answers []answer
		calls   []string // nil: not compared
		nCalls  int
		outcome Outcome
		text    string // in the error's text for people
	}{
		{name: "copy", copy: true, calls: []string{execCopy}},
		{name: "delete", deletes: []string{"/a", "/b c"}, calls: []string{execRm + "/|/a|/|/b c"}},
		{name: "both in one", copy: true, deletes: []string{"/a", "/b"}, calls: []string{execRmTar + "/|/a|/|/b"}},
		{name: "commands", copy: true, runs: []model.Run{a, b}, calls: []string{execCopy, "ns/web-1/web: sh|-c|a", "ns/web-1/web: sh|-c|b"}},
		{name: "many deletes", copy: true, deletes: many, nCalls: 4},
		{name: "restart", copy: true, restart: true, calls: []string{}, outcome: FallBack, text: "Kubernetes"},
		{
			name: "no shell", copy: true, deletes: []string{"/a"}, answers: []answer{{err: exited(127), silent: true}},
			calls: []string{execRmTar + "/|/a", execRm + "/|/a (certain)", execTar + " (certain)"},
		},
		{
			name: "no shell, as the runtime reports it", copy: true, deletes: []string{"/a"},
			answers: []answer{{err: errors.New(`OCI runtime exec failed: unable to start container process: exec: "sh": executable file not found in $PATH`), unread: true}},
			calls:   []string{execRmTar + "/|/a", execRm + "/|/a (certain)", execTar + " (certain)"},
		},
		{name: "no tar", copy: true, answers: []answer{{err: exited(127), unread: true}, {err: exited(127), unread: true}}, calls: []string{execCopy, execTar + " (certain)"}, outcome: Infra, text: "tar missing in image"},
		{name: "tar not executable", copy: true, answers: []answer{{err: exited(126)}, {err: exited(126)}}, outcome: Infra, text: "tar missing in image"},
		{name: "no tar behind the shell", copy: true, deletes: []string{"/a"}, answers: []answer{{err: exited(127)}, {}, {err: exited(127)}}, outcome: Infra, text: "tar missing in image"},
		{name: "no rm", deletes: []string{"/a"}, answers: []answer{{err: exited(127)}}, outcome: Infra, text: "rm missing in image"},
		{name: "rm fails behind the shell", copy: true, deletes: []string{"/a"}, answers: []answer{{err: exited(codeRemove), output: "rm: can't remove '/a': Read-only file system"}}, outcome: Infra, text: "delete files in web: cannot write"},
		{name: "tar fails", copy: true, answers: []answer{{err: exited(1), output: "tar: short read"}}, outcome: Infra, text: "tar: short read"},
		{name: "tar may not write", copy: true, answers: []answer{{err: exited(2)}}, outcome: Infra, text: "writable"},
		{name: "busybox tar may not write", copy: true, answers: []answer{{err: exited(1), output: "tar: can't open 'a': Permission denied"}}, outcome: Infra, text: "writable"},
		{name: "killed while copying", copy: true, answers: []answer{{err: exited(137)}}, calls: []string{execCopy}, outcome: Infra},
		{name: "command fails", copy: true, runs: []model.Run{a, b}, answers: []answer{{}, {err: exited(3)}}, calls: []string{execCopy, "ns/web-1/web: sh|-c|a"}, outcome: UserError, text: `run "a" in container web: exit code 3`},
		{name: "command not found", runs: []model.Run{a}, answers: []answer{{err: exited(127)}}, outcome: UserError},
		{name: "killed while running", runs: []model.Run{a}, answers: []answer{{err: exited(137)}}, outcome: Infra, text: "killed"},
		{name: "connection lost once", copy: true, answers: []answer{{err: errors.New(dialFailed), unread: true}}, calls: []string{execCopy, execCopy}},
		{name: "connection lost twice", copy: true, answers: []answer{{err: syscall.ECONNRESET}, {err: io.ErrUnexpectedEOF}}, calls: []string{execCopy, execCopy, execCopy}},
		{name: "connection lost permanently", copy: true, answers: []answer{{err: syscall.ECONNREFUSED}, {err: syscall.ECONNREFUSED}, {err: syscall.ECONNREFUSED}}, calls: []string{execCopy, execCopy, execCopy}, outcome: Infra, text: "refused"},
		{name: "other errors are not tried again", copy: true, answers: []answer{{err: errors.New("pods \"web-1\" not found")}}, calls: []string{execCopy}, outcome: Infra},
		{name: "forbidden", copy: true, answers: []answer{{err: errors.New("pods \"web-1\" is forbidden")}}, outcome: Infra, text: "pods/exec"},
		{name: "a command that did not start is tried again", runs: []model.Run{a}, answers: []answer{{err: errors.New(dialFailed)}}, nCalls: 2},
		{name: "a command that may have run is not", runs: []model.Run{a}, answers: []answer{{err: syscall.ECONNRESET}}, nCalls: 1, outcome: Infra},
		{name: "nor one whose end got lost", runs: []model.Run{a, b}, answers: []answer{{silent: true}}, nCalls: 1, outcome: Infra, text: "reports that the command succeeded"},
		{name: "nor one that got cut off while it reported its end", runs: []model.Run{a, b}, answers: []answer{{says: endMark + "0"}}, nCalls: 1, outcome: Infra, text: "reports that the command succeeded"},
		{name: "a failing command that the cluster reports as successful", runs: []model.Run{a, b}, answers: []answer{{says: endMark + "3\n"}}, nCalls: 1, outcome: UserError, text: "exit code 3"},
		{name: "a connection that is lost after the end", runs: []model.Run{a, b}, answers: []answer{{says: endMark + "0\n", err: io.ErrUnexpectedEOF}}, nCalls: 2},
		{name: "a connection that is lost after a failure", copy: true, answers: []answer{{says: "." + endMark + "2\n", err: syscall.EPIPE}}, nCalls: 1, outcome: Infra, text: "writable"},
		{name: "a delete whose end got lost", deletes: []string{"/a"}, answers: []answer{{silent: true}}, calls: []string{execRm + "/|/a", execRm + "/|/a"}},
		{name: "a command without a shell", runs: []model.Run{{Cmd: model.Cmd{Argv: []string{"a"}}}}, answers: []answer{{err: exited(126), silent: true}}, calls: []string{"ns/web-1/web: a", "ns/web-1/web: a (certain)"}},
		{name: "no shell for the commands either", copy: true, runs: []model.Run{a}, answers: []answer{{err: exited(127), silent: true}, {}, {err: exited(127)}}, calls: []string{execCopy, execTar + " (certain)", "ns/web-1/web: sh|-c|a (certain)"}, outcome: UserError},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plan := Plan{Deletes: tt.deletes, Runs: tt.runs, Restart: tt.restart}
			if tt.copy {
				plan.Copies = one(t)
			}
			synctest.Test(t, func(t *testing.T) {
				s := &script{answers: tt.answers}
				_, err := ExecUpdater{Pods: s}.Update(t.Context(), web, plan, logstore.Discard)
				if got := Classify(err); got != tt.outcome {
					t.Errorf("got %v (%v), want %v", got, err, tt.outcome)
				}
				if tt.text != "" && !strings.Contains(problem.Text(err), tt.text) {
					t.Errorf("got %q, want it to say %q", problem.Text(err), tt.text)
				}
				if tt.calls != nil {
					if diff := cmp.Diff(tt.calls, append([]string{}, s.calls...)); diff != "" {
						t.Errorf("calls (-want +got):\n%s", diff)
					}
				}
				if tt.nCalls > 0 && len(s.calls) != tt.nCalls {
					t.Errorf("%d calls: %q", len(s.calls), s.calls)
				}
			})
		})
	}
}

// TestLinksThatNobodySees copies below a folder of a container that has no shell to look for links in the path: tar and the engine
// would follow them.
func TestLinksThatNobodySees(t *testing.T) {
	copies := []Copy{{Local: put(t, t.TempDir(), "a", []byte("a"), 0o644), Remote: "/app/sub/a"}}
	exec := &script{answers: []answer{{err: exited(127), silent: true}}}
	engine := &script{}
	for name, u := range map[string]Updater{"exec": ExecUpdater{Pods: exec}, "container": ContainerUpdater{Engine: engine}} {
		if _, err := u.Update(t.Context(), web, Plan{Copies: copies}, logstore.Discard); Classify(err) != FallBack || !strings.Contains(problem.Text(err), "/app/sub/a may lie behind a symbolic link") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if calls := slices.Concat(exec.calls, engine.calls); slices.ContainsFunc(calls, func(c string) bool { return c == execTar || strings.Contains(c, "copy to") }) {
		t.Errorf("calls: %q", calls)
	}
}

// TestExecUpdaterStreams sends an archive that is too large to keep and is made again for a second try.
func TestExecUpdaterStreams(t *testing.T) {
	dir := t.TempDir()
	copies := []Copy{
		{Local: put(t, dir, "a", make([]byte, smallFile+1), 0o644), Remote: "/a"},
		{Local: put(t, dir, "b", make([]byte, smallFile-1), 0o644), Remote: "/b"},
	}
	s := &script{answers: []answer{{err: io.ErrUnexpectedEOF, unread: true}, {}, {err: exited(2), unread: true}}}
	if _, err := (ExecUpdater{Pods: s}).Update(t.Context(), web, Plan{Copies: copies}, logstore.Discard); err != nil {
		t.Fatal(err)
	}
	if len(s.inputs) != 1 || s.inputs[0] < 2*smallFile {
		t.Errorf("inputs: %v", s.inputs)
	}
	_, err := ExecUpdater{Pods: s}.Update(t.Context(), web, Plan{Copies: copies}, logstore.Discard)
	if !strings.Contains(problem.Text(err), "writable") {
		t.Errorf("a receiver that fails without reading: %v", err)
	}
	if os.Getuid() == 0 {
		return // reads everything
	}
	if err := os.Chmod(filepath.Join(dir, "b"), 0); err != nil {
		t.Fatal(err)
	}
	_, err = ExecUpdater{Pods: s}.Update(t.Context(), web, Plan{Copies: copies}, logstore.Discard)
	if Classify(err) != Infra || !errors.Is(err, os.ErrPermission) {
		t.Errorf("a file that cannot be read: %v", err)
	}
}

// TestUnreadIsNotDone makes a cluster report success for a command that has not read the files: that is tried again, and
// never taken for an update.
func TestUnreadIsNotDone(t *testing.T) {
	unread := answer{unread: true}
	dir := t.TempDir()
	big := []Copy{{Local: put(t, dir, "a", make([]byte, smallFile+1), 0o644), Remote: "/a"}, {Local: put(t, dir, "b", make([]byte, smallFile-1), 0o644), Remote: "/b"}}
	for _, tc := range []struct {
		what    string
		answers []answer
		copies  []Copy
		calls   int
		outcome Outcome
	}{
		{"once", []answer{unread}, one(t), 2, Updated},
		{"always", []answer{unread, unread, unread}, one(t), 3, Infra},
		{"a failure that got lost", []answer{{says: endMark + "1\n", output: "tar: can't create directory 'a': Permission denied"}}, one(t), 1, Infra},
		{"once, of many bytes", []answer{unread}, big, 2, Updated},
		{"without a shell", []answer{{err: exited(127), unread: true}, unread}, one(t), 3, Updated},
		{"always without a shell", []answer{{err: exited(127), unread: true}, unread, unread, unread}, one(t), 4, Infra},
	} {
		s := &script{answers: tc.answers}
		_, err := ExecUpdater{Pods: s}.Update(t.Context(), web, Plan{Copies: tc.copies}, logstore.Discard)
		if got := Classify(err); got != tc.outcome || len(s.calls) != tc.calls {
			t.Errorf("%s: %v, %v after %d calls, want %v after %d", tc.what, got, err, len(s.calls), tc.outcome, tc.calls)
		}
	}
}

func TestUpdateCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, plan := range map[string]Plan{
		"copy": {Copies: one(t)}, "delete": {Deletes: []string{"/a"}}, "run": {Runs: []model.Run{run("a")}}, "both": {Copies: one(t), Deletes: []string{"/a"}},
	} {
		s := &script{answers: []answer{{err: errors.New("stream closed")}}}
		if _, err := (ExecUpdater{Pods: s}).Update(ctx, web, plan, logstore.Discard); Classify(err) != Cancelled || len(s.calls) != 1 {
			t.Errorf("%s: got %v after %q", name, err, s.calls)
		}
		s = &script{answers: []answer{{err: errors.New("stream closed")}}}
		if _, err := (ContainerUpdater{Engine: s}).Update(ctx, web, plan, logstore.Discard); Classify(err) != Cancelled || len(s.calls) != 1 {
			t.Errorf("%s: got %v after %q", name, err, s.calls)
		}
	}
}

func TestContainerUpdater(t *testing.T) {
	all := func(t *testing.T) Plan {
		return Plan{Copies: one(t), Deletes: []string{"/x"}, Runs: []model.Run{run("a")}, Restart: true}
	}
	rm, cp, sh, restart := "c0ffee: sh|-c|"+remove+"|sh|/|/x", "c0ffee: copy to /", "c0ffee: sh|-c|a", "c0ffee: restart"
	for _, tt := range []struct {
		name    string
		answers []answer
		calls   []string
		outcome Outcome
		text    string
	}{
		{name: "all", calls: []string{rm, cp, sh, restart}},
		{name: "no rm", answers: []answer{{err: exited(127)}}, calls: []string{rm}, outcome: Infra, text: "rm missing in image"},
		{name: "read-only", answers: []answer{{}, {err: errors.New("container rootfs is marked read-only")}}, calls: []string{rm, cp}, outcome: Infra, text: "writable"},
		{name: "connection lost", answers: []answer{{}, {err: io.EOF}}, calls: []string{rm, cp, cp, sh, restart}},
		{name: "command fails", answers: []answer{{}, {}, {err: exited(1)}}, calls: []string{rm, cp, sh}, outcome: UserError},
		{name: "restart fails", answers: []answer{{}, {}, {}, {err: errors.New("no such container")}}, calls: []string{rm, cp, sh, restart}, outcome: Infra, text: "restart web: no such container"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plan := all(t)
			synctest.Test(t, func(t *testing.T) {
				s := &script{answers: tt.answers}
				_, err := ContainerUpdater{Engine: s}.Update(t.Context(), web, plan, logstore.Discard)
				if got := Classify(err); got != tt.outcome || !strings.Contains(fmt.Sprint(textOf(err)), tt.text) {
					t.Errorf("got %v (%v), want %v", got, err, tt.outcome)
				}
				if diff := cmp.Diff(tt.calls, s.calls); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return problem.Text(err)
}

func TestUpdateLog(t *testing.T) {
	var b strings.Builder
	log := logstore.Func(func(_ logstore.Level, text string) { b.WriteString(text) })
	dir := t.TempDir()
	quiet := run("secret")
	quiet.Cmd.EchoOff = true
	plan := Plan{
		Copies: []Copy{{Local: put(t, dir, "a", nil, 0o644), Remote: "/app/a"}}, Deletes: []string{"/app/b", "/app/c"},
		Runs: []model.Run{run("npm install"), quiet},
	}
	s := &script{answers: []answer{{}, {output: "added 1 package\n"}}}
	if _, err := (ExecUpdater{Pods: s}).Update(t.Context(), web, plan, log); err != nil {
		t.Fatal(err)
	}
	want := "Will copy 1 file(s) to container: [web]\n- '" + filepath.Join(dir, "a") + "' --> '/app/a'\n" +
		"Will delete 2 file(s) from container: [web]\n- '/app/b'\n- '/app/c'\n" +
		"Running cmd: npm install\nadded 1 package\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	b.Reset()
	long := Plan{Deletes: make([]string, shown+7)}
	Announce(log, web, long)
	if lines := strings.Split(strings.TrimSpace(b.String()), "\n"); len(lines) != shown+2 || !strings.Contains(lines[shown+1], "and 7 more") {
		t.Errorf("log of many files:\n%s", b.String())
	}
}

func TestClassify(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want Outcome
	}{
		{nil, Updated},
		{&RunStepError{}, UserError},
		{fmt.Errorf("update: %w", &RunStepError{}), UserError},
		{&FallBackError{}, FallBack},
		{fmt.Errorf("x: %w", context.Canceled), Cancelled},
		{&InfraError{Err: context.Canceled}, Cancelled},
		{&InfraError{Err: io.EOF}, Infra},
		{context.DeadlineExceeded, Infra},
		{errors.New("anything"), Infra},
	} {
		if got := Classify(tt.err); got != tt.want {
			t.Errorf("%v: got %v, want %v", tt.err, got, tt.want)
		}
	}
}
