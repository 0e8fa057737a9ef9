package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// beneath are the files that use the terminal itself instead of the writer that cleans all text (command.ForTerminal), and why.
var beneath = map[string]string{
	"cli/flags/session.go":                      "makes a writer of its own",
	"cli/command/global.go":                     "an editor draws",
	"cli/command/size_unix.go":                  "the terminal's size",
	"cli/command/size_windows.go":               "the terminal's size",
	"cli/command/terminal.go":                   "modes of the terminal",
	"cli/command/record_unix.go":                "modes of the terminal",
	"cli/crash/monitor.go":                      "the text of a crash, which it cleans",
	"cli/crash/stderr_unix.go":                  "a copy of it",
	"cli/crash/stderr_windows.go":               "a copy of it",
	"cli/crash/watch.go":                        "makes way for the text of a crash",
	"cli/mcp/mcp.go":                            "a protocol",
	"cli/self/docs.go":                          "a pager draws",
	"cli/self/doctor.go":                        "the terminal's size",
	"cli/standby/standby.go":                    "reads from a pipe in its place",
	"cli/session/far.go":                        "a protocol",
	"cli/shell/child.go":                        "programs that take the terminal",
	"cli/shell/folder.go":                       "programs that take the terminal",
	"cli/shell/streams.go":                      "programs that take the terminal",
	"cli/tiltfiles/lsp.go":                      "a protocol",
	"cli/up/background.go":                      "the log of a detached session, whose lines are clean",
	"cli/up/hangup.go":                          "the log of a detached session, whose lines are clean",
	"cli/up/hangup_unix.go":                     "closes it",
	"cluster/k8s/pluginmain.go":                 "credentials, for the client",
	"hud/hud.go":                                "makes a writer of its own",
	"hud/programs.go":                           "programs that take the terminal",
	"hud/stream/printer.go":                     "log lines, which it cleans",
	"hud/stream/stream.go":                      "log lines, which it cleans",
	"base/bug/bug.go":                           "only without a command line",
	"update/agent/linger.go":                    "a program in a container",
	"update/agent/main.go":                      "a program in a container",
	"update/agent/supervise.go":                 "a program in a container",
	"update/agent/program/build/main.go":        "a tool",
	"containers/compose/composetest/program.go": "a tool",
}

// TestOneWriter finds the files that can write to the terminal past the writer that cleans all text of others.
func TestOneWriter(t *testing.T) {
	found := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if name := filepath.Base(path); name == "test" || name == "testdata" {
				return filepath.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && past(s) {
				found[strings.TrimPrefix(filepath.ToSlash(path), "../")] = true
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(beneath)), slices.Sorted(maps.Keys(found))); diff != "" {
		t.Errorf("files that write past the writer (-known +found):\n%s", diff)
	}
}

// past reports whether an expression is the terminal itself, or prints to it.
func past(s *ast.SelectorExpr) bool {
	of, _ := s.X.(*ast.Ident)
	if of == nil {
		return false
	}
	return slices.Contains([]string{"os.Stdout", "os.Stderr", "text.Beneath", "fmt.Print", "fmt.Printf", "fmt.Println"}, of.Name+"."+s.Sel.Name)
}
