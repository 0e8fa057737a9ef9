package editor

import (
	"bytes"
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPlaceOfALine(t *testing.T) {
	for command, want := range map[string][]string{
		"vim":                  {"+7", "a b.go"},
		"/usr/bin/nvim -p":     {"+7", "a b.go"},
		"code --wait":          {"--goto", "a b.go:7"},
		"subl -w":              {"a b.go:7"},
		"goland":               {"--line", "7", "a b.go"},
		"my-own-editor --fast": {"a b.go"},
	} {
		e := Editor{Command: command}
		if diff := cmp.Diff(want, e.at("a b.go", 7)); diff != "" {
			t.Errorf("%s: %s", command, diff)
		}
		if diff := cmp.Diff([]string{"a b.go"}, e.at("a b.go", 0)); diff != "" {
			t.Errorf("%s: %s", command, diff)
		}
	}
}

// TestProgramsRun runs programs of a user, with options and quotes in their command lines.
func TestProgramsRun(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a file.txt")
	if err := os.WriteFile(path, []byte("text\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := (Editor{Command: `printf '%s\n' "an option"`, Out: &out}).Open(t.Context(), path, 0); err != nil {
		t.Fatal(err)
	}
	if want := "an option\n" + path + "\n"; out.String() != want {
		t.Errorf("the editor got %q", out.String())
	}
	out.Reset()
	if err := (Pager{Command: "cat", Out: &out}).Show(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if out.String() != "text\n" {
		t.Errorf("the pager showed %q", out.String())
	}
	if !TakesInterrupts() {
		t.Error("a Ctrl-C that has just ended a program would end this one too")
	}
	if err := (Pager{Command: "false"}).Show(t.Context(), path); err == nil || !strings.Contains(err.Error(), `the pager "false" has failed`) {
		t.Errorf("a pager that fails: %v", err)
	}
}

// TestNeedsTerminal refuses an editor of the terminal where there is none, before it starts.
func TestNeedsTerminal(t *testing.T) {
	for command, refused := range map[string]bool{"vi": true, "/usr/bin/nvim -p": true, "hx": true, "true": false, "code --wait": false, "./vi.sh": false} {
		e := Editor{Command: command, In: strings.NewReader("")}
		if refused != e.needsTerminal() {
			t.Errorf("%s needs a terminal: %v", command, !refused)
		}
		if !refused {
			continue
		}
		text, path, err := e.Edit(t.Context(), "hone-*", []byte("text"))
		if err == nil || !strings.Contains(err.Error(), "needs a terminal") {
			t.Errorf("%s: %q, %v", command, text, err)
		}
		_ = os.Remove(path)
	}
}

// TestProgramMayEnd ends the context of an editor, which saves its text.
func TestProgramMayEnd(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	// Under nohup the signal is ignored, and a shell cannot trap a signal that was ignored when it began. A signal that
	// is handled here is not.
	handled := make(chan os.Signal, 1)
	signal.Notify(handled, syscall.SIGHUP)
	defer signal.Stop(handled)
	path := filepath.Join(t.TempDir(), "saved")
	ready, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ready.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- Editor{Command: `trap 'echo saved >"$1"; exit 1' HUP; echo ready; while :; do sleep 0.05; done; :`, Out: out, lastWords: time.Minute}.Open(ctx, path, 0)
	}()
	if _, err := ready.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	if !TakesInterrupts() {
		t.Error("Ctrl-C is not for the editor")
	}
	cancel()
	if err := <-done; err == nil {
		t.Error("no error")
	}
	_ = out.Close()
	if saved, err := os.ReadFile(path); err != nil || string(saved) != "saved\n" {
		t.Errorf("%q %v", saved, err)
	}
}
