//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/cli/command"
)

// framed returns a message as an editor sends it.
func framed(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }

// withInput makes text the standard input.
func withInput(t *testing.T, text string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteString(text); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	before := os.Stdin
	os.Stdin = r
	t.Cleanup(func() {
		os.Stdin = before
		_ = r.Close()
	})
}

func TestLSP(t *testing.T) {
	for name, tc := range map[string]struct {
		input          string
		code           int
		stdout, stderr string
	}{
		"in order": {
			framed(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`) +
				framed(`{"jsonrpc":"2.0","id":2,"method":"shutdown"}`) + framed(`{"jsonrpc":"2.0","method":"exit"}`),
			command.ExitOK, `"completionProvider"`, "",
		},
		"an extension that is part of hone": {
			framed(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`) +
				framed(`{"jsonrpc":"2.0","method":"initialized","params":{}}`) +
				framed(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///src/Tiltfile","languageId":"tiltfile","version":1,"text":"load('ext://hello_world', 'hello')\n"}}}`) +
				framed(`{"jsonrpc":"2.0","id":2,"method":"shutdown"}`) + framed(`{"jsonrpc":"2.0","method":"exit"}`),
			command.ExitOK, `does not define hello`, "",
		},
		"without shutdown": {framed(`{"jsonrpc":"2.0","method":"exit"}`), command.ExitFailure, "", "without a shutdown"},
		"no editor":        {"hello\n", command.ExitFailure, "", "not the language server protocol"},
	} {
		t.Run(name, func(t *testing.T) {
			withInput(t, tc.input)
			var stdout, stderr bytes.Buffer
			if code := Main([]string{"lsp"}, &stdout, &stderr); code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			if !strings.Contains(stdout.String(), tc.stdout) || !strings.Contains(stderr.String(), tc.stderr) {
				t.Errorf("stdout %q\nstderr %q", &stdout, &stderr)
			}
		})
	}
}
