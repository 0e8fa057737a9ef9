package screen

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) {
	time.Local = time.UTC // log lines show local time
	goleak.VerifyTestMain(m)
}

// simulated is a terminal of a fixed size.
type simulated struct {
	tcell.SimulationScreen
	width, height int
	shows         *atomic.Int64
	finished      *atomic.Int64
	lent          *atomic.Bool // another program has it
}

func newTerminal(charset string, width, height int) simulated {
	return simulated{tcell.NewSimulationScreen(charset), width, height, new(atomic.Int64), new(atomic.Int64), new(atomic.Bool)}
}

func (t simulated) Init() error {
	if err := t.SimulationScreen.Init(); err != nil {
		return err
	}
	t.SetSize(t.width, t.height)
	return nil
}

func (t simulated) Show() {
	t.shows.Add(1)
	t.SimulationScreen.Show()
}

func (t simulated) Suspend() error {
	t.lent.Store(true)
	return nil
}

func (t simulated) Resume() error {
	t.lent.Store(false)
	return nil
}

func (t simulated) Fini() {
	t.finished.Add(1)
	t.SimulationScreen.Fini()
}

// driver runs a screen inside a bubble of synctest and plays its user.
type driver struct {
	t       *testing.T
	term    simulated
	logs    *logstore.Store
	changed chan struct{}
	view    func(now time.Time) Frame
	asked   []store.Action
	opened  []string
	quits   int
	silent  bool // the log is empty at first
	cancel  context.CancelFunc
	done    chan struct{}
	err     error
}

// shop is the snapshot that the screen shows in most tests.
func shop(t *testing.T) store.View { return hudtest.Shop().View(t.Context()) }

// start shows a snapshot and the logs of the shop.
func start(t *testing.T, v store.View, term simulated, change ...func(*driver, *Options)) *driver {
	t.Helper()
	began := time.Now()
	clock := func() time.Time { return hudtest.ShopTime.Add(time.Since(began)) }
	logs, err := logstore.New(logstore.Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	d := &driver{t: t, term: term, logs: logs, changed: make(chan struct{}, 1), done: make(chan struct{})}
	d.view = func(now time.Time) Frame {
		return FrameOf(v, now, 200*time.Microsecond, view.Ignores{})
	}
	var ctx context.Context
	ctx, d.cancel = context.WithCancel(t.Context())
	o := Options{Terminal: term, Logs: logs, Changed: d.changed, Now: clock, Version: "v1.2.3",
		Frame: func(now time.Time) Frame { return d.view(now) },
		Ask: func(w Request) (func(context.Context) error, error) {
			a, err := w(v)
			if err == nil && a != nil {
				d.asked = append(d.asked, a)
			}
			return nil, err
		},
		Quit: func() { d.quits++ },
		Open: func(_ context.Context, url string) error {
			d.opened = append(d.opened, url)
			return nil
		}}
	for _, f := range change {
		f(d, &o)
	}
	if !d.silent {
		hudtest.ShopLogs(logs)
	}
	go func() {
		defer close(d.done)
		d.err = Run(ctx, o)
	}()
	synctest.Wait()
	return d
}

// stop ends the screen and returns the error of Run.
func (d *driver) stop() error {
	d.cancel()
	<-d.done
	if err := d.logs.Close(); err != nil {
		d.t.Error(err)
	}
	return d.err
}

// press types keys: letters, or a named key in angle brackets.
func (d *driver) press(keys string) {
	d.t.Helper()
	for keys != "" {
		if name, rest, ok := strings.Cut(keys, ">"); ok && strings.HasPrefix(name, "<") {
			found := false
			for k, n := range tcell.KeyNames {
				if n == name[1:] {
					d.term.InjectKey(k, 0, tcell.ModNone)
					found = true
					break
				}
			}
			if !found {
				d.t.Fatalf("no key is called %s", name)
			}
			keys = rest
		} else {
			r := []rune(keys)[0]
			d.term.InjectKey(tcell.KeyRune, r, tcell.ModNone)
			keys = keys[len(string(r)):]
		}
		synctest.Wait()
	}
}

// triggered returns the resources of all requests for updates.
func (d *driver) triggered() []model.ManifestName {
	var names []model.ManifestName
	for _, a := range d.asked {
		if t, ok := a.(state.ResourcesTriggered); ok {
			names = append(names, t.Names...)
		}
	}
	return names
}

// after lets time pass.
func (d *driver) after(pause time.Duration) {
	time.Sleep(pause) // in a bubble: no real time passes
	synctest.Wait()
}

// text is the text on the terminal.
func (d *driver) text() string {
	cells, width, height := d.term.GetContents()
	defer d.term.GetContents() // its lock orders this reading before the next drawing
	var b strings.Builder
	for y := range height {
		var line strings.Builder
		for x := 0; x < width; {
			c := cells[y*width+x]
			line.Write(c.Bytes)
			x += max(1, runesWidth(c.Runes))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

func runesWidth(r []rune) int { return (view.Cell{{Text: string(r)}}).Width() }

// still replaces every step of the spinner by its first, because the step in a golden would depend on the order of goroutines.
var still = func() *strings.Replacer {
	var pairs []string
	for _, frame := range spinner {
		pairs = append(pairs, frame, spinner[0])
	}
	return strings.NewReplacer(pairs...)
}()

func (d *driver) golden(name string) {
	d.t.Helper()
	d.goldenOf(name, d.text())
}

// goldenOf compares a text with a golden.
func (d *driver) goldenOf(name, got string) {
	d.t.Helper()
	path := filepath.Join("testdata", name+".txt")
	got = still.Replace(got)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			d.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			d.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		d.t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		d.t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// shows fails the test unless the terminal shows all of the texts.
func (d *driver) shows(wants ...string) {
	d.t.Helper()
	got := d.text()
	for _, want := range wants {
		if !strings.Contains(got, want) {
			d.t.Errorf("the screen does not show %q:\n%s", want, got)
		}
	}
}

func (d *driver) hides(unwanted ...string) {
	d.t.Helper()
	got := d.text()
	for _, s := range unwanted {
		if strings.Contains(got, s) {
			d.t.Errorf("the screen shows %q:\n%s", s, got)
		}
	}
}

// paste pastes a text, as a terminal with bracketed paste does.
func (d *driver) paste(text string) {
	d.t.Helper()
	post := func(e tcell.Event) {
		if err := d.term.PostEvent(e); err != nil {
			d.t.Fatal(err)
		}
		synctest.Wait()
	}
	post(tcell.NewEventPaste(true))
	for _, r := range text {
		if r == '\n' {
			d.term.InjectKey(tcell.KeyEnter, 0, tcell.ModNone)
		} else {
			d.term.InjectKey(tcell.KeyRune, r, tcell.ModNone)
		}
		synctest.Wait()
	}
	post(tcell.NewEventPaste(false))
}

func resourceName(s string) model.ManifestName { return model.ManifestName(s) }

// line returns the first line of the terminal that contains a text.
func (d *driver) line(text string) string {
	d.t.Helper()
	for l := range strings.Lines(d.text()) {
		if strings.Contains(l, text) {
			return strings.TrimRight(l, "\n")
		}
	}
	d.t.Errorf("the screen does not show %q:\n%s", text, d.text())
	return ""
}

// styles returns the styles of the first line of the terminal that contains a text, from where the text begins.
func (d *driver) styles(text string) []tcell.Style {
	d.t.Helper()
	cells, width, _ := d.term.GetContents()
	for y, l := range strings.Split(d.text(), "\n") {
		if before, _, ok := strings.Cut(l, text); ok {
			var out []tcell.Style
			from := y*width + runesWidth([]rune(before))
			for _, c := range cells[from : from+runesWidth([]rune(text))] {
				out = append(out, c.Style)
			}
			return out
		}
	}
	d.t.Errorf("the screen does not show %q:\n%s", text, d.text())
	return nil
}

// reversed reports whether a text is shown in reverse.
func (d *driver) reversed(text string) bool {
	d.t.Helper()
	for _, s := range d.styles(text) {
		if _, _, attrs := s.Decompose(); attrs&tcell.AttrReverse == 0 {
			return false
		}
	}
	return true
}

// copied returns the text that was copied last.
func (d *driver) copied() string { return string(d.term.GetClipboardData()) }
