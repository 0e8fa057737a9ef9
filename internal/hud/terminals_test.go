package hud

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/bug"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/terminal"
	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/hud/settings"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// TestTerminals attaches terminals of different sizes and kinds: each has its own selection and pages, and leaves alone.
func TestTerminals(t *testing.T) {
	a := newAttachable(t)
	one, two := a.attach("xterm-256color", 120, 34), a.attach("screen", 80, 24)
	one.shows("waits for worker to be ready", "detach")
	two.shows("worker", "detach")

	one.types("?")
	one.shows("HERE")
	one.types("\x1b[6~\x1b[6~")
	one.shows("leave this screen; the session keeps running")
	one.types("q") // closes the help
	one.shows("NAME")

	two.types("\x1b[B\x1b[Bt")
	two.shows("api will be updated")
	// The screen confirms the request before the store has it.
	a.until(func(v store.View) bool { return !state.Updates.In(v).Value("api").Triggered.IsZero() })
	if err := two.SendSize(140, 30); err != nil {
		t.Fatal(err)
	}
	two.shows(strings.Repeat("─", 140))

	one.types("q")
	one.ends("Detached from session shop, which keeps running.")
	<-one.done
	two.types("\x03")
	two.ends("Detached from session shop, which keeps running.")
	three := a.attach("xterm-256color", 100, 30)
	three.shows("worker")
	go a.stop()
	three.ends("Session shop is over.")
}

// TestSlowTerminal attaches a terminal whose client does not read: neither the session nor other terminals nor the end of the
// session wait for it.
func TestSlowTerminal(t *testing.T) {
	a := newAttachable(t)
	a.attach("xterm-256color", 120, 34)
	one := a.attach("xterm-256color", 120, 34)
	one.shows("waits for worker to be ready")
	for i := range 4 * 26 {
		a.scene.At(time.Duration(i)*time.Minute, state.ClusterReported{Cluster: model.Cluster{Context: "kind-dev"}, Err: strings.Repeat(string(rune('a'+i%26)), 8)})
	}
	one.shows("zzzzzzzz")
	go a.stop() // waits only for the screens, which stop waiting for a client that does not read
	one.ends("Session shop is over.")
}

// TestTerminalGoesAway closes one connection without notice, and sends nonsense over another.
func TestTerminalGoesAway(t *testing.T) {
	a := newAttachable(t)
	one, two := a.attach("xterm", 120, 34), a.attach("xterm", 80, 24)
	one.shows("worker")
	_ = one.Close()
	<-one.done
	two.shows("worker")
	two.types(strings.Repeat("\x1b[<nonsense\xff\xfe\x00;;;~", 100))
	_ = two.Close()
	<-two.done
	a.attach("xterm", 80, 24).shows("worker")
}

func TestUnknownTerminal(t *testing.T) {
	c := newAttachable(t).attach("no-such-terminal", 80, 24)
	f, err := c.Next()
	if err != nil || f.Kind != terminal.End || !strings.Contains(string(f.Content), "TERM=no-such-terminal") {
		t.Errorf("%v, %q", err, f.Content)
	}
}

// TestPrograms asks a client for the pager and the editor: nothing is drawn meanwhile, neither the session nor other terminals
// wait, and the whole screen is drawn afterwards, in the size that the terminal has then.
func TestPrograms(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	a := newAttachable(t)
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	a.hud.options.Logs.Append(logstore.Entry{Time: hudtest.ShopTime, Resource: "worker", Source: logstore.SourceBuild, Level: logstore.LevelInfo, Text: file + ":41:2: declared and not used"})
	one, two := a.attach("xterm-256color", 120, 34), a.attach("xterm-256color", 120, 34)
	one.shows("declared and not used", "detach")
	one.types("|" + strings.Repeat("k", 1000))
	kind, path, _ := one.lent()
	if b, err := os.ReadFile(path); kind != terminal.Page || err != nil || !strings.Contains(string(b), "declared and not used") {
		t.Fatalf("%q %s: %v, %q", kind, path, err, b)
	}
	a.scene.At(time.Hour, state.ClusterReported{Cluster: model.Cluster{Context: "kind-dev"}, Err: "no route to the cluster"})
	two.shows("no route to the cluster")
	one.types("q\x03qqq") // not for the session
	if err := one.SendSize(140, 30); err != nil {
		t.Fatal(err)
	}
	if err := one.SendDone(""); err != nil {
		t.Fatal(err)
	}
	one.shows(strings.Repeat("─", 140), "no route to the cluster", "declared and not used", "detach")
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the pager's file: %v", err)
	}

	one.types("\tko") // the newest line of the log
	if kind, path, line := one.lent(); kind != terminal.Edit || path != file || line != 41 {
		t.Errorf("%q %s:%d", kind, path, line)
	}
	if err := one.SendDone("the editor \"false\" has failed"); err != nil {
		t.Fatal(err)
	}
	one.shows(`the editor "false" has failed`, "no route to the cluster")

	two.types("|")
	two.lent()
	go a.stop() // the end of the session does not wait for a program
	two.over("Session shop is over.")
	one.ends("Session shop is over.")
}

// TestSuspendedTerminal suspends a client, from a prompt too: the screen is drawn again in the size that the terminal has then,
// and the session does not wait for a client that does not come back.
func TestSuspendedTerminal(t *testing.T) {
	a := newAttachable(t)
	one := a.attach("xterm-256color", 120, 34)
	one.shows("worker", "detach")
	for _, before := range []string{"", "/"} {
		one.types(before + "\x1a")
		if kind, _, _ := one.lent(); kind != terminal.Rest {
			t.Fatalf("the session asks for %q", kind)
		}
		if err := one.SendSize(140, 30); err != nil {
			t.Fatal(err)
		}
		if err := one.SendDone(""); err != nil {
			t.Fatal(err)
		}
		one.shows(strings.Repeat("─", 140), "worker")
	}
	one.types("\r\x1a")
	one.lent()
	if err := one.SendDone("there is no shell to go back to"); err != nil {
		t.Fatal(err)
	}
	one.shows("there is no shell to go back to")
	one.types("\x1a")
	one.lent()
	go a.stop()
	one.over("Session shop is over.")
}

// TestGoodbyeAfterABug names the report that a user can send.
func TestGoodbyeAfterABug(t *testing.T) {
	h := NewTerminals(TerminalsOptions{Session: "shop", BugReports: "/state/bugs.txt"})
	got := h.goodbye(false, fmt.Errorf("show: %w", &bug.Report{What: "show the screen: panic: nil", Where: "screen.draw:7"}))
	want := "This screen has ended because of a bug in hone: show the screen: panic: nil (at screen.draw:7). Session shop keeps running: hone attach shows it again.\n" +
		"Please report it with /state/bugs.txt"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestBugInOneScreen: a screen that panics gives its terminal back and says so. The session and the other screens continue.
func TestBugInOneScreen(t *testing.T) {
	var reported atomic.Int32
	defer bug.Take(func(*bug.Report) { reported.Add(1) })()
	a := newAttachable(t)
	a.hud.options.Web = func(string) (string, error) { panic("broken page") }
	a.hud.options.BugReports = "/state/bugs.txt"
	one, two := a.attach("xterm-256color", 120, 34), a.attach("xterm-256color", 120, 34)
	one.shows("waits for worker to be ready")
	two.shows("waits for worker to be ready")
	one.types("O")
	said := one.last()
	for _, want := range []string{"This screen has ended because of a bug in hone: show the screen: panic: broken page (at ", "Session shop keeps running", "/state/bugs.txt"} {
		if !strings.Contains(said, want) {
			t.Errorf("the last message lacks %q: %q", want, said)
		}
	}
	<-one.done
	if got := reported.Load(); got != 1 {
		t.Errorf("%d reports were written", got)
	}
	two.types("?")
	two.shows("HERE")
}

// TestReadOnlyTerminal attaches a screen that cannot change the session, and one that can: the first has none of the keys that
// make requests to the session, and does nothing when they are pressed.
func TestReadOnlyTerminal(t *testing.T) {
	a := newAttachable(t)
	a.hud.options.LayoutFile = filepath.Join(t.TempDir(), "screen.json")
	one := a.connect(terminal.Description{Term: "xterm-256color", Columns: 120, Rows: 60, UTF8: true, NoColor: true}, true)
	one.shows("read-only", "worker", "detach")
	two := a.attach("xterm-256color", 120, 60)
	two.shows("+1 screen", "t trigger")
	one.shows("+1 screen")
	before := a.scene.Store.Snapshot().All()
	one.types("\x1b[B\x1b[Btdm")
	one.types("x?")
	for {
		f, err := one.Next()
		if err != nil {
			t.Fatalf("%v before the help was shown:\n%q", err, one.plain())
		}
		if one.shown.Write(f.Content); strings.Contains(one.plain(), "hone ") && strings.Contains(one.plain(), "HERE") && strings.Contains(one.plain(), "EVERYWHERE") {
			break
		}
	}
	for _, s := range []string{"trigger an update", "will be updated", "save all lines"} {
		if strings.Contains(one.plain(), s) {
			t.Errorf("the screen shows %q", s)
		}
	}
	if now := a.scene.Store.Snapshot().All(); !state.Updates.In(now).Value("api").Triggered.Equal(state.Updates.In(before).Value("api").Triggered) {
		t.Error("the screen has triggered an update")
	}
	one.shown.Reset()
	one.types("q\x03")
	one.ends("Detached from session shop, which keeps running.")
	<-one.done
	if _, err := os.Stat(a.hud.options.LayoutFile); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the screen's layout is remembered: %v", err)
	}
	two.types("\x1b[B\x1b[Bt")
	two.shows("api will be updated")
}

// TestEarlyKeys types before the first drawing: the keys find the resources of the session.
func TestEarlyKeys(t *testing.T) {
	c := newAttachable(t).attach("xterm-256color", 120, 60)
	typed := make(chan error, 1)
	go func() { typed <- c.Send(terminal.Text, []byte("\x1b[B\x1b[Bt")) }()
	c.shows("api will be updated")
	if err := <-typed; err != nil {
		t.Error(err)
	}
}

// TestClientGoesAwayDuringAProgram closes the connection of a terminal while one of the user's programs uses it.
func TestClientGoesAwayDuringAProgram(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	a := newAttachable(t)
	one := a.attach("xterm", 120, 34)
	one.shows("worker")
	one.types("|")
	one.lent()
	_ = one.Close()
	<-one.done
	a.attach("xterm", 80, 24).shows("worker")
}

// TestAttachedCommands: an attached screen has the commands and keys of the user who attaches. The commands run at the client,
// which gets their names and the facts.
func TestAttachedCommands(t *testing.T) {
	a := newAttachable(t)
	about := terminal.Description{Term: "xterm-256color", Columns: 120, Rows: 80, UTF8: true, NoColor: true, Programs: true, Commands: true,
		Settings: settings.Settings{Keys: []settings.Binding{{Verb: "trigger", Keys: []string{"F5"}}}, Commands: []settings.Command{
			{Name: "describe", Key: "D", Run: "kubectl describe"}, {Name: "psql", Key: "Q", Run: "psql", Terminal: true}}}.Encode()}
	one := a.attachAs(about)
	one.shows("worker", "detach", "F5 trigger")
	one.types("?")
	one.shows("runs kubectl describe")
	one.types("q\x1b[B\x1b[BD")
	if diff := cmp.Diff(terminal.Request{Number: 1, Name: "describe", Env: []string{"HONE_RESOURCE=api", "HONE_TILTFILE=/home/dev/shop/Tiltfile", "HONE_CONTEXT=kind-dev",
		"HONE_NAMESPACE=default", "HONE_POD=api-7c9d-x2v1", "HONE_CONTAINER=main", "HONE_URL=http://localhost:8080/", "HONE_RESOURCES="}}, one.commanded()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	one.types("?")
	one.shows("EVERYWHERE") // it continues meanwhile
	one.types("q")
	one.shows("NAME")
	if err := one.SendEnded(1, "Name: api-7c9d\nStatus: fine\n", ""); err != nil {
		t.Fatal(err)
	}
	one.shows("─ describe ", "Status: fine")
	one.types("q")
	one.shows("NAME")
	one.types("Q")
	if r := one.commanded(); r.Name != "psql" || r.Number != terminal.InTerminal {
		t.Errorf("%+v", r)
	}
	if shown := one.shown.String(); !strings.Contains(shown, "\x1b[?1049l") {
		t.Errorf("the terminal was not restored: %q", shown)
	}
	one.shown.Reset()
	if err := one.SendDone("psql: no server"); err != nil {
		t.Fatal(err)
	}
	one.shows("psql: no server", "NAME")

	about.Programs = false
	two := a.attachAs(about)
	two.shows("detach")
	two.types("Q")
	two.shows("an attached terminal cannot be given to a command")
	about.Commands = false
	three := a.attachAs(about)
	three.shows("detach")
	three.types("D")
	three.shows("commands cannot be run here")
	four := a.connect(about, true)
	four.shows("read-only", "detach")
	four.types("D")
	four.shows("a read-only screen runs no commands of your own")
	one.types("D")
	one.commanded()
	go a.stop() // the end of the session does not wait for a command
	one.ends("Session shop is over.")
}

// TestOlderClient attaches a client that does not know programs.
func TestOlderClient(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	c := newAttachable(t).attachAs(terminal.Description{Term: "xterm", Columns: 120, Rows: 34, UTF8: true})
	c.shows("worker")
	c.types("|")
	c.shows("a pager cannot be used here")
}

// TestAttachedThemes: an attached terminal has the theme of the user who attaches, and its own background is followed.
func TestAttachedThemes(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	const darkGood, lightGood, clearGood = "\x1b[38;2;126;201;126m", "\x1b[38;2;26;112;48m", "\x1b[38;2;157;255;157m"
	a := newAttachable(t)
	about := terminal.Description{Term: "xterm-256color", ColorTerm: "truecolor", Columns: 120, Rows: 34, UTF8: true}
	one := a.attachAs(about)
	one.awaits("\x1b]11;?\x1b\\")
	one.awaits("\x1b[?2026l") // it is listening
	one.types("\x1b]11;rgb:ffff/ffff/ffff\x1b\\")
	one.awaits(lightGood)
	about.Background = "15;0"
	two := a.attachAs(about)
	two.awaits(darkGood)
	about.Settings = settings.Settings{Theme: settings.HighContrast}.Encode()
	three := a.attachAs(about)
	three.awaits(clearGood)
}

// TestAttachedLinks: files are links only in terminals of the machine that has them.
func TestAttachedLinks(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	a := newAttachable(t)
	about := terminal.Description{Term: "xterm-256color", Columns: 120, Rows: 34, UTF8: true, Host: host}
	one := a.attachAs(about)
	one.awaits("\x1b]8;;http://localhost:8080/")
	one.types("\r")
	one.awaits("\x1b]8;;file://" + host + "/home/dev/shop/Tiltfile")
	about.Host = "another-" + host
	two := a.attachAs(about)
	two.awaits("\x1b]8;;http://localhost:8080/")
	two.types("\r")
	for !strings.Contains(two.plain(), "/home/dev/shop/Tiltfile") {
		f, err := two.Next()
		if err != nil {
			t.Fatal(err)
		}
		two.shown.Write(f.Content)
	}
	if strings.Contains(two.shown.String(), "file://") {
		t.Error("another machine gets links to files")
	}
}
