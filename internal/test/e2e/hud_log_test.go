package e2e

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
)

// at returns where a text is on the screen, counted from 1 as terminals do.
func (term *terminal) at(text string) (x, y int) {
	term.t.Helper()
	screen := term.shows(regexp.QuoteMeta(text))
	for i, line := range strings.Split(screen, "\n") {
		if before, _, ok := strings.Cut(line, text); ok {
			return len([]rune(before)) + 1, i + 1
		}
	}
	term.t.Fatalf("%q is not on one line of the screen:\n%s", text, screen)
	return 0, 0
}

// The codes of terminals for mouse events: the buttons, and a move with the left button down.
const (
	leftButton = 0
	leftMoves  = 32
	wheelUp    = 64
	wheelDown  = 65
)

// mouse reports a mouse event at a place of the screen, as a terminal does.
func (term *terminal) mouse(button, x, y int) {
	term.tmux("send-keys", "-l", fmt.Sprintf("\x1b[<%d;%d;%dM", button, x, y))
}

// releases reports that the left button was released.
func (term *terminal) releases(x, y int) {
	term.tmux("send-keys", "-l", fmt.Sprintf("\x1b[<0;%d;%dm", x, y))
}

// pastes pastes a text as a user of the terminal does.
func (term *terminal) pastes(text string) {
	term.tmux("set-buffer", "-b", "pasted", text)
	term.tmux("paste-buffer", "-p", "-d", "-b", "pasted")
}

// copied waits until a program has copied exactly this text to the clipboard of the terminal.
func (term *terminal) copied(want string) {
	term.t.Helper()
	k8stest.Closely(term.t, "the clipboard", func() error {
		got, err := exec.Command("tmux", "-L", term.socket, "show-buffer").CombinedOutput()
		if err == nil && string(got) != want {
			err = fmt.Errorf("it holds %q, want %q", got, want)
		}
		return err
	})
}

// TestHUDFindsInTwoMillionLines pastes a request's id into the prompt for finding, in a log of two million lines, and ends a
// search that finds nothing by starting another one.
func TestHUDFindsInTwoMillionLines(t *testing.T) {
	t.Parallel()
	const id = "5f0c7a1e-9b34-4d17-8a55-1c2e6b7d9f03"
	p := newLocalProject(t, `
-- Tiltfile --
local_resource('flood', serve_cmd=['sh', 'flood.sh'])
-- flood.sh --
awk 'BEGIN {
  for (i = 1; i <= 2000000; i++)
    if (i == 700000) print "request `+id+` refused"
    else printf "line %07d of the flood\n", i
}'
echo the flood is over
exec sleep 100000
`)
	term := p.terminal(120, 34)
	term.keys(fmt.Sprintf("%s up --port %d", binary, p.ports[3]), "Enter")
	term.shows(`flood │ line 1\d{6} of the flood`)
	term.shows(`flood │ the flood is over`)
	term.shows(` 2,000,\d{3} lines`)

	term.keys("f")
	term.shows(`^ find in log:`)
	term.pastes(id)
	term.shows(`find in log: ` + id)
	term.keys("Enter")
	term.shows(`flood │ request ` + id + ` refused`)
	screen := term.shows(`find: 5f0c7a1e\S* 1 of 1 `)
	for _, near := range []string{"line 0699999 of the flood", "line 0700001 of the flood"} {
		if !strings.Contains(screen, near) {
			t.Errorf("the screen lacks what is around the match, %q:\n%s", near, screen)
		}
	}

	// The next search ends the one before: its result appears although the first one has not reported.
	term.keys("Escape")
	term.hides("find:")
	term.keys("l")
	term.shows(`follow ●.* 2,000,\d{3} lines`)
	term.keys("f")
	term.shows(`^ find in log:`)
	term.pastes(`/no.*such.*line$/`)
	term.keys("Enter")
	term.shows(`find: /no\.\*such\.\*line\$/ 0 so far`)
	term.keys("f")
	term.shows(`^ find in log:`)
	term.pastes(`/^request [0-9a-f-]+ refused$/`)
	term.keys("Enter")
	re := regexp.MustCompile(`find: /\^request \S* *\S* 1 of 1 `)
	k8stest.Eventually(t, "the second search to end", func() error {
		screen = term.screen()
		if strings.Contains(screen, "is not in this log") {
			t.Fatalf("the first search has reported:\n%s", screen)
		}
		if !re.MatchString(screen) {
			return fmt.Errorf("the screen shows\n%s", screen)
		}
		return nil
	})
	if !strings.Contains(screen, "request "+id+" refused") {
		t.Errorf("the match is not on the screen:\n%s", screen)
	}
	term.quits()
}

// TestHUDLog narrows a log by level and by expression, cuts and wraps its long lines, and uses the mouse: a click selects, the
// wheel scrolls, and a drag copies.
func TestHUDLog(t *testing.T) {
	t.Parallel()
	p := newLocalProject(t, `
-- Tiltfile --
local_resource('orders', serve_cmd=['sh', 'orders.sh'])
local_resource('stock', serve_cmd='for i in $(seq 9); do echo stock $i; done; exec sleep 100000')
-- orders.sh --
for i in $(seq 60); do
  case $i in
  20 | 40) echo "level=error msg=\"order $i refused\" status=503" ;;
  30) echo "level=warn msg=\"order $i took long\" status=200" ;;
  *) echo "level=info msg=\"order $i taken\" status=200" ;;
  esac
done
echo "level=error msg=\"`+strings.Repeat("a long reason, ", 10)+`and its end\""
exec sleep 100000
`)
	term := p.terminal(120, 34)
	term.tmux("set-option", "-s", "set-clipboard", "on") // keep the text that programs copy
	term.keys(fmt.Sprintf("%s up --port %d", binary, p.ports[3]), "Enter")
	term.shows(`orders │ .*order 60 taken`)
	term.shows(`✔ stock `)

	// A click in the table selects a row.
	x, y := term.at("✔ orders")
	term.mouse(leftButton, x+2, y)
	term.releases(x+2, y)
	term.shows(`▌ ✔ orders`)
	term.keys("a")
	term.shows(`─ orders ─`)

	// Filters.
	term.keys("Tab", "/")
	term.shows(`^ filter log:`)
	term.keys("-l", "level:error")
	term.keys("Enter")
	screen := term.shows(`filter: level:error .* 3 lines`)
	if n := strings.Count(screen, "level=error"); n != 3 || strings.Contains(screen, "level=info") || strings.Contains(screen, "level=warn") {
		t.Errorf("the filter shows %d errors:\n%s", n, screen)
	}
	term.keys("Escape")
	term.hides("filter:")
	term.keys("/")
	term.shows(`^ filter log:`)
	term.keys("-l", "/order (20|30) /")
	term.keys("Enter")
	screen = term.shows(`filter: /order \(20\|30\) / .* 2 lines`)
	if !strings.Contains(screen, "order 20 refused") || !strings.Contains(screen, "order 30 took long") || strings.Contains(screen, "order 40") {
		t.Errorf("the filter shows something else:\n%s", screen)
	}
	term.keys("Escape")
	term.shows(`and its end`)

	// Cut lines, and their hidden parts.
	term.keys("W")
	if screen = term.hides("and its end"); !strings.Contains(screen, "a long reason, a long") {
		t.Errorf("the cut line is gone:\n%s", screen)
	}
	term.keys("Right", "Right", "Right", "Right", "Right")
	term.shows(`and its end`)
	term.keys("W")
	term.shows(`^ {10,}.*and its end`)

	// A drag in the log copies the text, and one that begins in front of it the lines, as they are.
	x, y = term.at("order 58 taken")
	term.mouse(leftButton, x, y)
	term.mouse(leftMoves, x+len("order 58 taken")-1, y)
	term.shows(`selecting`)
	term.releases(x+len("order 58 taken")-1, y)
	term.shows(`copied 14 characters`)
	term.copied("order 58 taken")
	x, y = term.at(`runtime   │ level=info msg="order 57 taken"`)
	term.mouse(leftButton, x, y)
	term.mouse(leftMoves, x, y+1)
	term.mouse(leftMoves, x+3, y+2)
	term.shows(`selecting`)
	term.releases(x+3, y+2)
	term.shows(`copied 3 lines`)
	term.copied("level=info msg=\"order 57 taken\" status=200\nlevel=info msg=\"order 58 taken\" status=200\nlevel=info msg=\"order 59 taken\" status=200\n")

	// The wheel scrolls the log, there and back.
	first := regexp.MustCompile(`order (\d+) `).FindString(term.screen())
	for range 3 {
		term.mouse(wheelUp, x, y)
	}
	term.shows(`paused`)
	term.hides("and its end")
	for range 4 {
		term.mouse(wheelDown, x, y)
	}
	term.shows(`and its end`)
	if now := regexp.MustCompile(`order (\d+) `).FindString(term.screen()); now != first {
		t.Errorf("after scrolling there and back, the log begins with %q, not with %q:\n%s", now, first, term.screen())
	}
	term.quits()
}
