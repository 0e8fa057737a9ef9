package up

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/base/bug"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/crash"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/model"
)

// newBugReports writes the reports of a test to a separate folder.
func newBugReports(t *testing.T, path string) *bugReports {
	logs, err := logstore.New(logstore.Options{OnSecrets: crash.Hide})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = logs.Close() })
	logs.SetSecrets([]model.Secret{{Name: "db", Key: "password", Value: "hunter2hunter2"}})
	b, restore := reportBugs(logs, slog.New(slog.DiscardHandler))
	t.Cleanup(restore)
	b.path = path
	return b
}

func TestBugsReachTheLogAndAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hone", "bugs.txt")
	b := newBugReports(t, path)
	if s := b.summary(); s != "" {
		t.Errorf("without bugs, the session ends with %q", s)
	}
	var report *bug.Report
	for range 3 { // each place is reported once
		report = bug.Reportf("the password %s is unheard of", "hunter2hunter2")
	}
	log := strings.Join(statetest.Texts(b.logs, string(model.TiltfileName)), "\n")
	want := fmt.Sprintf("This is a bug in hone: the password [redacted secret db:password] is unheard of (at %s). Please report it with %s", report.Where, path)
	if log != want {
		t.Errorf("the log says\n%s\nwant\n%s", log, want)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file := string(raw)
	for _, want := range []string{"hone v" + command.Version, "is unheard of", "at " + report.Where, "TestBugsReachTheLogAndAFile"} {
		if strings.Count(file, want) == 0 {
			t.Errorf("the file lacks %q:\n%s", want, file)
		}
	}
	if strings.Count(file, "unheard") != 1 || strings.Contains(file, "hunter2") {
		t.Errorf("the file:\n%s", file)
	}
	if s, want := b.summary(), "1 bug in hone came up in this session. Please report it with "+path+"\n"; s != want {
		t.Errorf("the session ends with %q, want %q", s, want)
	}
	text := problem.Text(b.explain(fmt.Errorf("run the session: %w", report)))
	for _, want := range []string{"hone made a mistake and cannot continue", "[redacted secret db:password] is unheard of", path} {
		if !strings.Contains(text, want) {
			t.Errorf("the final error lacks %q:\n%s", want, text)
		}
	}
	if err := fmt.Errorf("no bug"); b.explain(err) != err { //nolint:errorlint // the error itself must come back
		t.Error("another error is also explained")
	}
}

func TestBugsWithoutAFileAreInTheLogWhole(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "bugs.txt")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	b := newBugReports(t, folder)
	bug.Reportf("nothing fits")
	log := strings.Join(statetest.Texts(b.logs, string(model.TiltfileName)), "\n")
	for _, want := range []string{"This is a bug in hone: nothing fits (at up.TestBugsWithoutAFile", "It could not be written to a file: ", "TestBugsWithoutAFileAreInTheLogWhole"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
}

func TestTheFileOfBugsIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bugs.txt")
	if err := os.WriteFile(path, make([]byte, maxBugs), 0o600); err != nil {
		t.Fatal(err)
	}
	newBugReports(t, path)
	bug.Reportf("once more")
	if raw, err := os.ReadFile(path); err != nil || len(raw) > maxBugs || !strings.Contains(string(raw), "once more") {
		t.Errorf("the file has %d bytes (%v)", len(raw), err)
	}
}
