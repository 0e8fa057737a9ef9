package up

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/cli/crash"
	"github.com/hone-dev/hone/internal/client/sessions"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/model"
)

// crashEnv is set, to a folder, in a process that TestCrashes starts to crash it.
const crashEnv = "HONE_TEST_CRASH"

// watched registers a session in dir and watches its crashes until the test ends.
func watched(t *testing.T, dir string) *bugReports {
	t.Helper()
	b := newBugReports(t, filepath.Join(dir, "bugs.txt"))
	r := sessions.New(filepath.Join(dir, "sessions"))
	c, err := r.Claim(t.Context(), sessions.Info{Name: "shop", PID: os.Getpid(), Tiltfile: filepath.Join(dir, "Tiltfile")})
	if err != nil {
		t.Fatal(err)
	}
	stop := b.watchCrashes(c)
	b.takeCrashes(r)
	t.Cleanup(func() {
		stop()
		c.Release(t.Context())
	})
	return b
}

// TestQuitIsNoBug reports a session that a signal has ended with its stacks.
func TestQuitIsNoBug(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bugs.txt")
	b := newBugReports(t, path)
	if err := b.crashed(sessions.Crash{Session: "shop", Output: []byte("SIGQUIT: quit\nPC=0x1 m=0 sigcode=0\n\ngoroutine 1 [running]:\n")}); err != nil {
		t.Fatal(err)
	}
	want := "The session shop was ended by a signal (SIGQUIT: quit). The stacks of its goroutines are in " + path
	if log := strings.Join(statetest.Texts(b.logs, string(model.TiltfileName)), "\n"); log != want {
		t.Errorf("the log says %q, want %q", log, want)
	}
	if raw, err := os.ReadFile(path); err != nil || !bytes.Contains(raw, []byte("goroutine 1")) {
		t.Errorf("the file has no stacks (%v):\n%s", err, raw)
	}
}

// TestCrashes crashes a session on a goroutine that nothing guards. The next session reports the crash, once, and leaves no files
// behind.
func TestCrashes(t *testing.T) {
	if dir := os.Getenv(crashEnv); dir != "" {
		crash.Stderr()
		watched(t, dir)
		go func() { panic("nothing guards this, hunter2hunter2") }()
		select {}
	}
	dir := t.TempDir()
	var out bytes.Buffer
	cmd := exec.Command(os.Args[0], "-test.run=^TestCrashes$")
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), crashEnv+"="+dir), &out, &out
	if err := cmd.Run(); err == nil {
		t.Fatal("the process did not crash")
	}
	files, err := filepath.Glob(filepath.Join(dir, "sessions", "*.crash"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the crash files: %q, %v", files, err)
	}
	left, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string]string{"the crash file": string(left), "standard error": out.String()} {
		if strings.Contains(text, "hunter2") || !strings.Contains(text, "panic: nothing guards this, [redacted secret db:password]") {
			t.Errorf("%s has\n%s", where, text)
		}
	}
	path := filepath.Join(dir, "bugs.txt")
	for _, want := range []string{"The session shop crashed: panic: nothing guards this, [redacted secret db:password]. This is a bug in hone. Please report it with " + path, ""} {
		t.Run("a session", func(t *testing.T) {
			b := watched(t, dir)
			if log := strings.Join(statetest.Texts(b.logs, string(model.TiltfileName)), "\n"); log != want {
				t.Errorf("the log says %q, want %q; the process that crashed said\n%s", log, want, &out)
			}
		})
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"panic: nothing guards this", "TestCrashes.func"} {
		if !bytes.Contains(raw, []byte(want)) {
			t.Errorf("the file of reports lacks %q:\n%s", want, raw)
		}
	}
	if bytes.Contains(raw, []byte("hunter2")) {
		t.Errorf("the file of reports has a secret:\n%s", raw)
	}
	files, err = filepath.Glob(filepath.Join(dir, "sessions", "[^.]*"))
	if diff := cmp.Diff([]string(nil), files); err != nil || diff != "" {
		t.Errorf("left behind (%v):\n%s", err, diff)
	}
}
