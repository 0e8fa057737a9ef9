package up

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/model"
)

// crashEnv is set, to the file of reports, in a process that TestCrashes starts to crash it.
const crashEnv = "HONE_TEST_CRASH"

// TestCrashes crashes a process on a goroutine that nothing guards. The next session reports it, once.
func TestCrashes(t *testing.T) {
	if path := os.Getenv(crashEnv); path != "" {
		b := newBugReports(t, path)
		b.crashes = path + ".crash"
		defer b.watchCrashes()()
		go func() { panic("nothing guards this") }()
		select {}
	}
	path := filepath.Join(t.TempDir(), "hone", "bugs.txt")
	var out bytes.Buffer
	cmd := exec.Command(os.Args[0], "-test.run=^TestCrashes$")
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), crashEnv+"="+path), &out, &out
	if err := cmd.Run(); err == nil {
		t.Fatal("the process did not crash")
	}
	for i, want := range []string{"hone crashed the last time: panic: nothing guards this. This is a bug in hone. Please report it with " + path, ""} {
		b := newBugReports(t, path)
		b.crashes = path + ".crash"
		b.watchCrashes()()
		if log := strings.Join(statetest.Texts(b.logs, string(model.TiltfileName)), "\n"); log != want {
			t.Errorf("start %d: the log says %q, want %q", i, log, want)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; the process said\n%s", err, &out)
	}
	for _, want := range []string{"panic: nothing guards this", "TestCrashes.func"} {
		if !bytes.Contains(raw, []byte(want)) {
			t.Errorf("the file of reports lacks %q:\n%s", want, raw)
		}
	}
}
