package e2e

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/creack/pty"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
)

// greeting is a project whose one resource is well at once.
const greeting = `
-- Tiltfile --
local_resource('greeting', 'echo hello-from-greeting')
`

// recording is the output of a program to its terminal.
type recording struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *recording) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *recording) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// shows waits until something was written.
func (r *recording) shows(t *testing.T, want string) {
	t.Helper()
	k8stest.Eventually(t, fmt.Sprintf("%q to be written", want), func() error {
		if got := r.String(); !strings.Contains(got, want) {
			return fmt.Errorf("written was %q", got[max(0, len(got)-3000):])
		}
		return nil
	})
}

// TestTerminalKinds records hone's output to terminals of six kinds: each gets only the sequences that it supports, and every mode
// that was switched on is switched off at the end.
func TestTerminalKinds(t *testing.T) {
	for _, tt := range []struct {
		term    string
		want    []string // regular expressions
		without []string
	}{
		{"xterm-256color", []string{`\x1b\]11;\?\x1b\\`, `\x1b\]2;✔ \S+ – hone\x1b\\`, `\x1b\]2;\x1b\\\x1b\[23;2t`, `\x1b\[38;5;\d+m✔`, `\x1b\[\?2031l`}, []string{"\x1b]9;", "\x1b]777;", "\a"}},
		{"tmux-256color", []string{`\x1b\]11;\?\x1b\\`, `\x1b\]2;✔ \S+ – hone\x1b\\`, `\x1b\[38;5;\d+m✔`}, []string{"\x1b]9;", "\x1bPtmux", "\a"}},
		{"screen-256color", []string{`\x1b\[32m✔`}, []string{"\x1b]11", "\x1b]2;", "\x1b]9;", "\x1b]8;;h", "?2031"}},
		{"linux", []string{`\x1b\[32m✔`}, []string{"\x1b]", "?2031", "?1004"}},
		{"vt100", []string{`✔`}, []string{"\x1b]", "?2031", "\x1b[32m", "\x1b[38;", "\x1b[?1004"}},
		{"dumb", []string{`hello-from-greeting`}, []string{"\x1b"}},
	} {
		t.Run(tt.term, func(t *testing.T) {
			t.Parallel()
			p := newLocalProject(t, greeting)
			c := p.command("up", "--port", "none")
			c.Env = append(c.Env, "TERM="+tt.term, "LC_ALL=C.UTF-8", "NO_COLOR=", "COLORTERM=", "TERM_PROGRAM=", "TMUX=", "STY=", "WT_SESSION=", "VTE_VERSION=",
				"LC_TERMINAL=", "COLORFGBG=", "HONE_THEME=", "XDG_CONFIG_HOME="+t.TempDir())
			terminal, err := pty.StartWithSize(c, &pty.Winsize{Rows: 30, Cols: 100})
			if err != nil {
				t.Fatal(err)
			}
			var written recording
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = io.Copy(&written, terminal) // ends with an error when hone has gone
			}()
			t.Cleanup(func() {
				_ = c.Process.Kill()
				_ = terminal.Close()
				<-done
			})
			if strings.Contains(strings.Join(tt.want, ""), `\]11`) {
				written.shows(t, "\x1b]11;?\x1b\\")
				if _, err := terminal.WriteString("\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\"); err != nil {
					t.Fatal(err)
				}
			}
			written.shows(t, "hello-from-greeting")
			for _, want := range tt.want {
				if strings.Contains(want, "✔") {
					re := regexp.MustCompile(want)
					k8stest.Eventually(t, want, func() error {
						if got := written.String(); !re.MatchString(got) {
							return fmt.Errorf("written was %q", got[max(0, len(got)-3000):])
						}
						return nil
					})
				}
			}
			if err := c.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			_ = c.Wait()
			<-done
			got := written.String()
			for _, want := range tt.want {
				if !regexp.MustCompile(want).MatchString(got) {
					t.Errorf("%s was not written: %q", want, got)
				}
			}
			for _, s := range tt.without {
				if i := strings.Index(got, s); i >= 0 {
					t.Errorf("%q was written: %q", s, got[max(0, i-50):min(len(got), i+50)])
				}
			}
			modes := map[string]string{}
			for _, m := range regexp.MustCompile(`\x1b\[\?(\d+)([hl])`).FindAllStringSubmatch(got, -1) {
				modes[m[1]] = m[2]
			}
			for _, mode := range []string{"1000", "1002", "1004", "1006", "1049", "2004", "2026", "2031"} {
				if modes[mode] == "h" {
					t.Errorf("mode %s is still on", mode)
				}
			}
		})
	}
}

// TestTitleInTmux: tmux shows hone's title while hone runs, and the one from before when it has ended.
func TestTitleInTmux(t *testing.T) {
	p := newLocalProject(t, greeting)
	term := p.terminal(100, 30)
	term.keys(`printf '\033]2;before\033\\'; clear`, "Enter")
	title := func(want string) {
		t.Helper()
		re := regexp.MustCompile(want)
		k8stest.Eventually(t, "the title "+want, func() error {
			if got := strings.TrimSpace(term.tmux("display-message", "-p", "#{pane_title}")); !re.MatchString(got) {
				return fmt.Errorf("it is %q", got)
			}
			return nil
		})
	}
	title("^before$")
	term.keys(binary+" up --port none", "Enter")
	term.shows("greeting")
	title(`^✔ \S+ – hone$`)
	term.quits()
	title("^before$")
	if screen := term.screen(); strings.ContainsAny(screen, "]\\") && strings.Contains(screen, "rgb:") {
		t.Errorf("answers of the terminal are on the screen:\n%s", screen)
	}
}
