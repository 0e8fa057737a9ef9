package screen

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/bug"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// play runs a test on a screen that shows the shop in a terminal of 120 × 34.
func play(t *testing.T, f func(t *testing.T, d *driver), change ...func(*driver, *Options)) {
	t.Helper()
	playAt(t, newTerminal("UTF-8", 120, 34), shop(t), f, change...)
}

func playAt(t *testing.T, term simulated, v store.View, f func(t *testing.T, d *driver), change ...func(*driver, *Options)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := start(t, v, term, change...)
		f(t, d)
		if err := d.stop(); err != nil {
			t.Error(err)
		}
		if term.finished.Load() == 0 {
			t.Error("the terminal was not restored")
		}
	})
}

func TestShopAtSizes(t *testing.T) {
	for _, size := range [][2]int{{120, 34}, {100, 30}, {80, 24}, {60, 20}, {80, 18}, {50, 12}} {
		name := fmt.Sprintf("shop-%dx%d", size[0], size[1])
		t.Run(name, func(t *testing.T) {
			playAt(t, newTerminal("UTF-8", size[0], size[1]), shop(t), func(_ *testing.T, d *driver) { d.golden(name) })
		})
	}
}

func TestASCIITerminal(t *testing.T) {
	playAt(t, newTerminal("US-ASCII", 80, 24), shop(t), func(t *testing.T, d *driver) {
		d.golden("ascii-80x24")
		for i, c := range d.text() {
			if c > '~' {
				t.Fatalf("character %q at byte %d is not ASCII", c, i)
			}
		}
	})
}

func TestNoColor(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		cells, _, _ := d.term.GetContents()
		for _, c := range cells {
			if fg, bg, _ := c.Style.Decompose(); fg != tcell.ColorDefault || bg != tcell.ColorDefault {
				t.Fatalf("%q has a colour", c.Bytes)
			}
		}
	}, func(_ *driver, o *Options) { o.NoColor = true })
}

func TestBeforeTheSessionStarts(t *testing.T) {
	playAt(t, newTerminal("UTF-8", 80, 24), hudtest.New().View(t.Context()), func(_ *testing.T, d *driver) {
		d.shows("starting…")
		d.press("jke<Enter>tb")
	})
}

func TestMovingThroughTheTable(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		for _, step := range []struct{ keys, want string }{
			{"jj", "▌ ✔ api"}, {"<Down><Down>", "▌ ✖ mailer"}, {"k", "▌ ⠋ worker"}, {"<End>", "▌ ○ loadtest"},
			{"<Home>", "▌ ✔ (Tiltfile)"}, {"<PgDn>", "▌ ○ loadtest"}, {"<PgUp>", "▌ ✔ (Tiltfile)"}, {"k", "▌ ✔ (Tiltfile)"},
		} {
			d.press(step.keys)
			d.shows(step.want)
		}
		d.press("jj<Left>")
		d.hides("✔ api")
		d.shows("▌▸ backend", "✔ web")
		d.press("<Right>")
		d.shows("▌▾ backend", "✔ api")
		d.press("<Enter>")
		d.hides("✔ api")
	})
}

func TestSelectionStaysOnItsName(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		d.press("jjjj")
		d.shows("▌ ✖ mailer")
		before := d.view
		d.view = func(now time.Time) Frame {
			f := before(now)
			rows := f.View.Rows
			rows[1], rows[3] = rows[3], rows[1]
			return f
		}
		d.changed <- struct{}{}
		d.after(time.Second)
		d.shows("▌ ✖ mailer")
		d.view = func(now time.Time) Frame {
			f := before(now)
			f.View.Rows = append(f.View.Rows[:3:3], f.View.Rows[4:]...) // mailer is gone
			return f
		}
		d.changed <- struct{}{}
		d.after(time.Second)
		d.shows("▌ ✔ api") // the row that took its place
	})
}

func TestNextErrorShowsItsLog(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		d.press("e")
		d.after(2 * frameTime)
		d.golden("card-120x34")
		d.shows("▌ ✖ mailer", "✖ mailer ─ crash loop ×4", "1 of 1")
		d.press("<Esc>")
		d.shows("─ mailer ─", "no such host", "1 line ─")
		d.hides("declared and not used")
		d.press("a")
		d.shows("─ all resources ─", "declared and not used")
	})
}

func TestLogSources(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		d.press("jjja2")
		d.after(time.Second)
		d.shows("─ worker ─", "[2 build]", "declared and not used")
		d.hides("picked job")
		d.press("3")
		d.after(time.Second)
		d.shows("[3 runtime]", "picked job 8812 (mail to 山田太郎 ✉️)")
		d.hides("declared and not used")
	})
}

func TestRequestes(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		d.press("jjt")
		d.shows("api will be updated")
		d.press("bhttp<Enter><End>t")
		d.shows("resource \"loadtest\" is disabled; enable it first: hone enable loadtest")
		d.press("b")
		d.shows("loadtest has no endpoint")
		if diff := cmp.Diff([]model.ManifestName{"api"}, d.triggered()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"http://localhost:8080/"}, d.opened); diff != "" {
			t.Error(diff)
		}
	})
}

func TestFailingBrowserIsTold(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		d.press("jjbhttp<Enter>")
		d.after(time.Second)
		d.shows("cannot open http://localhost:8080/: no browser")
	}, func(_ *driver, o *Options) {
		o.Open = func(context.Context, string) error { return errors.New("no browser") }
	})
}

func TestDetailsAndHelp(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		d.press("jjjj<Enter>")
		d.golden("details-120x34")
		d.press("<Esc>")
		d.shows("▌ ✖ mailer")
		d.press("?")
		d.golden("help-120x34")
		d.press("<End>")
		d.shows("hone v1.2.3")
		d.press("q")
		d.shows("▌ ✖ mailer")
		d.press("q")
		d.shows("Ctrl-C quits")
	})
}

func TestHelpNamesEveryKey(t *testing.T) {
	u := &ui{verbs: verbs(Options{Ask: nothing})}
	var all strings.Builder
	for _, line := range u.help(inTable) {
		all.WriteString(line.String() + "\n")
	}
	taken, names := map[string]string{}, map[string]bool{}
	for _, v := range u.verbs {
		if !strings.Contains(all.String(), v.help) {
			t.Errorf("the help lacks %q", v.help)
		}
		if names[v.name] {
			t.Errorf("two verbs are called %s", v.name)
		}
		names[v.name] = true
		for _, k := range v.keys {
			for _, in := range []place{inTable, inLog, inDetails, inText, inCard, inWhy, inPending, inRevisions} {
				if v.in&in == 0 {
					continue
				}
				id := fmt.Sprint(k, in)
				if other, ok := taken[id]; ok {
					t.Errorf("%s means both %q and %q", k, other, v.name)
				}
				taken[id] = v.name
			}
		}
	}
}

func TestFilter(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		d.press("/wrk")
		d.shows("filter: wrk", "worker")
		d.hides("mailer  ", "uncategorized")
		d.press("<Enter>")
		d.shows("showing wrk", "▌ ⠋ worker")
		d.press("<Esc>")
		d.shows("uncategorized")
		d.press("/is:failing<Enter>")
		d.hides("✔ api")
		d.press("/")
		d.press("<Backspace2>x<Esc>")
		d.shows("✔ api")
		d.press("/nothing<Enter>")
		d.shows(`no resource matches "nothing"`)
		d.press("te<Enter>b<Esc>")
		d.shows("✔ api")
	})
}

// manyLines adds numbered lines to the log.
func (d *driver) manyLines(resource string, from, to int) {
	for i := from; i <= to; i++ {
		d.logs.Append(logstore.Entry{Resource: model.ManifestName(resource), Source: logstore.SourceRuntime,
			Level: logstore.LevelInfo, Text: fmt.Sprintf("line %04d", i)})
	}
}

func TestLogFollowsAndPauses(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		d.manyLines("api", 1, 1000)
		d.after(time.Second)
		d.shows("line 1000", "1,010 lines", "follow ●")
		d.press("<Tab><PgUp>")
		d.shows("paused, 0 new lines", "line 0986")
		d.hides("line 1000")
		d.manyLines("api", 1001, 1007)
		d.after(time.Second)
		d.shows("paused, 7 new lines", "line 0986")
		d.hides("line 1001")
		d.press("j")
		d.hides("line 0972")
		d.press("<Home>")
		d.shows("Successfully loaded Tiltfile")
		d.press("<PgDn><PgDn>")
		d.shows("line 0020")
		d.press("<End>")
		d.shows("follow ●", "line 1007")
		d.press("k")
		d.shows("paused, 0 new lines")
		d.press("j")
		d.shows("follow ●", "line 1007")
		d.press("kkkl")
		d.shows("follow ●", "line 1007")
	})
}

func TestScrollingGoesThroughWrappedLines(t *testing.T) {
	playAt(t, newTerminal("UTF-8", 80, 24), shop(t), func(t *testing.T, d *driver) {
		d.logs.Append(logstore.Entry{Resource: "api", Level: logstore.LevelInfo, Text: "begin " + strings.Repeat("x ", 2000) + "finish"})
		d.after(time.Second)
		d.shows("finish")
		d.hides("begin")
		d.press("<Tab>")
		for range 90 {
			if strings.Contains(d.text(), "begin") {
				break
			}
			d.press("k")
		}
		d.shows("begin")
		for range 90 {
			d.press("j")
		}
		d.shows("finish", "follow ●")
	})
}

func TestForeignTextDoesNotSpoilTheScreen(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		for _, s := range []string{
			"\x1b[2J\x1b[Hcleared?", "\x1b]0;title\x07titled?", "tab\there", "10%\r100%", "bad \xff\xfe bytes", "日本語テキスト 👩‍👩‍👧‍👦 family",
			"\x1b[31mred\x1b[0m plain", strings.Repeat("long", 75_000),
		} {
			d.logs.Append(logstore.Entry{Resource: "api", Source: logstore.SourceRuntime, Level: logstore.LevelInfo, Text: s})
		}
		d.press("jjax") // one resource, full size
		d.press("<Home>")
		d.golden("foreign-120x34")
		d.press("<End>")
		d.shows("291808 more bytes", "hone  shop")
	})
}

func TestProgressReplacesItself(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		for i := range 200 {
			d.logs.Append(logstore.Entry{Resource: "api", Span: "build:api:3", Source: logstore.SourceBuild, Level: logstore.LevelInfo,
				Text: fmt.Sprintf("layer %d%%", i), ProgressID: "layer", ProgressDone: i == 199})
		}
		d.after(time.Second)
		d.shows("layer 199%")
		d.hides("layer 198%")
		d.shows("picked job") // the log before it
	})
}

func TestFind(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		d.manyLines("api", 1, 500)
		d.logs.Append(logstore.Entry{Resource: "web", Level: logstore.LevelInfo, Text: "needle"})
		d.manyLines("api", 501, 1000)
		d.press("fLINE 01")
		d.shows("find in log: LINE 01")
		d.press("<Enter>")
		d.after(time.Second)
		d.shows("line 0199", "find: LINE 01 100 of 100", "paused")
		d.press("N")
		d.after(time.Second)
		d.shows("line 0198")
		d.press("nn")
		d.after(time.Second)
		d.shows(`"LINE 01": this is the last match`)
		d.press("<Esc>fneedle<Enter>")
		d.after(time.Second)
		d.shows("web │ needle")
		d.press("<Esc><Esc>n")
		d.shows("no search text")
	})
}

func TestLogSizes(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		d.press("x")
		d.hides("NAME")
		d.press("x")
		d.golden("short-log-120x34")
		d.press("x")
		d.golden("shop-120x34")
	})
}

func TestSmallTerminalTakesTurns(t *testing.T) {
	playAt(t, newTerminal("UTF-8", 80, 18), shop(t), func(t *testing.T, d *driver) {
		d.shows("NAME")
		d.hides("all resources")
		d.press("<Tab>")
		d.shows("all resources")
		d.hides("NAME")
	})
}

func TestResize(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		for _, size := range [][2]int{{80, 24}, {50, 12}, {20, 5}, {1, 1}, {300, 80}, {120, 34}} {
			d.term.SetSize(size[0], size[1])
			if err := d.term.PostEvent(tcell.NewEventResize(size[0], size[1])); err != nil {
				t.Fatal(err)
			}
			d.after(time.Second)
			d.press("jk<Tab><Tab>")
		}
		d.press("<Home>")
		d.after(time.Second)
		d.shows("▌ ✔ (Tiltfile)", "CHANGED")
	})
}

func TestIdleScreenIsNotDrawn(t *testing.T) {
	playAt(t, newTerminal("UTF-8", 120, 34), quietShop(t), func(t *testing.T, d *driver) {
		d.after(2 * time.Minute)
		before := d.term.shows.Load()
		d.after(time.Minute)
		if n := d.term.shows.Load() - before; n > 4 {
			t.Errorf("an idle screen was drawn %d times in a minute", n)
		}
	})
}

// quietShop is a session in which nothing happens.
func quietShop(t *testing.T) store.View {
	s := hudtest.New()
	s.Open(model.Tiltfile{Manifests: []model.Manifest{{Name: "seed", K8s: &model.K8sTarget{}}}})
	return s.View(t.Context())
}

func TestFloodIsDrawnThirtyTimesASecond(t *testing.T) {
	playAt(t, newTerminal("UTF-8", 120, 34), quietShop(t), func(t *testing.T, d *driver) {
		before := d.term.shows.Load()
		for i := range 1000 {
			d.manyLines("api", i, i)
			d.after(time.Millisecond)
		}
		if n := d.term.shows.Load() - before; n < 20 || n > 35 {
			t.Errorf("drawn %d times in a second of flood", n)
		}
		d.after(time.Second)
		d.shows("line 0999")
	})
}

func TestAgesGoOnInAFlood(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		d.shows("11 s")
		for i := range 300 {
			d.manyLines("api", i, i)
			d.after(10 * time.Millisecond)
		}
		d.shows("14 s")
	})
}

func TestQuit(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		d.press("<Ctrl-C>")
		d.shows("stopping…")
		if d.quits != 1 {
			t.Errorf("quit %d times", d.quits)
		}
		d.press("<Ctrl-C>")
		<-d.done // without the context's end
	})
}

func TestPanicGivesTheTerminalBack(t *testing.T) {
	for _, tt := range []struct {
		name     string
		sabotage func(d *driver)
	}{
		{"in a frame", func(d *driver) {
			d.view = func(time.Time) Frame { panic("broken frame") }
			d.changed <- struct{}{}
		}},
		{"while drawing", func(d *driver) {
			old := d.view
			d.view = func(now time.Time) Frame {
				f := old(now)
				f.Details = func(model.ManifestName) (view.Details, bool) { panic("broken details") }
				return f
			}
			d.changed <- struct{}{}
			d.after(time.Second)
			d.term.InjectKey(tcell.KeyEnter, 0, tcell.ModNone)
		}},
		{"in a key", func(d *driver) { d.term.InjectKey(tcell.KeyRune, 't', tcell.ModNone) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			defer bug.Take(func(*bug.Report) {})()
			v := shop(t)
			synctest.Test(t, func(t *testing.T) {
				term := newTerminal("UTF-8", 120, 34)
				d := start(t, v, term, func(_ *driver, o *Options) {
					o.Ask = func(Request) (func(context.Context) error, error) { panic("broken request") }
				})
				tt.sabotage(d)
				<-d.done
				var p *bug.Report
				if err := d.stop(); !errors.As(err, &p) || !strings.Contains(err.Error(), "broken") || !strings.Contains(p.Stack, "goroutine") {
					t.Errorf("Run returned %v", err)
				}
				if !strings.Contains(p.Where, "screen.") {
					t.Errorf("the panic was in %s", p.Where)
				}
				if term.finished.Load() == 0 {
					t.Error("the terminal was not restored")
				}
			})
		})
	}
}

func TestTerminalThatGoesAwayEndsTheScreen(t *testing.T) {
	v := shop(t)
	synctest.Test(t, func(t *testing.T) {
		d := start(t, v, newTerminal("UTF-8", 120, 34))
		if err := d.term.PostEvent(tcell.NewEventError(errors.New("read /dev/tty: input/output error"))); err != nil {
			t.Fatal(err)
		}
		<-d.done
		if err := d.stop(); !errors.Is(err, ErrGone) {
			t.Errorf("Run returned %v", err)
		}
	})
}

func TestEndedContextShowsNothing(t *testing.T) {
	v := shop(t)
	synctest.Test(t, func(t *testing.T) {
		d := start(t, v, newTerminal("UTF-8", 120, 34), func(d *driver, _ *Options) { d.cancel() })
		<-d.done
		if err := d.stop(); err != nil {
			t.Error(err)
		}
	})
}
