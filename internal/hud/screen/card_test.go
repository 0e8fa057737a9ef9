package screen

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

// cards replaces rows and cards of the view.
func (d *driver) cards(rows []view.Row, cards ...view.Card) {
	before := d.view
	d.view = func(now time.Time) Frame {
		f := before(now)
		f.View.Rows, f.View.Cards = rows, cards
		return f
	}
	d.changed <- struct{}{}
	d.after(time.Second)
}

func TestCards(t *testing.T) {
	play(t, func(_ *testing.T, d *driver) {
		d.logs.Append(logstore.Entry{Resource: "service-003", Span: "pod:x", Source: logstore.SourceRuntime, Level: logstore.LevelError,
			Text: "FATAL smtp: no such host"})
		for i := range 3 {
			d.logs.Append(logstore.Entry{Resource: "service-003", Span: "pod:y", Source: logstore.SourceRuntime, Level: logstore.LevelInfo, Text: fmt.Sprintf("another run %d", i)})
		}
		d.cards(manyRows(5, 1, 3),
			view.Card{Resource: "service-001", Title: "the update failed", Cause: []string{"go build: exit 1"}, Output: "main.go:41:2: unused\n",
				Helps: []string{"correct it"}, Waiting: [][]model.ManifestName{resourceNames("web"), resourceNames("e2e")}},
			view.Card{Resource: "service-003", Aspect: view.AspectRuntime, Title: "crash loop ×4", Span: "pod:x"})
		d.press("e")
		d.shows("▌ ✖ service-001", "✖ service-001 ─ the update failed", "1 of 2", "go build: exit 1", "main.go:41:2: unused",
			"What helps: correct it", "Waiting for it: service-001 → web → e2e")
		d.press("e")
		d.shows("▌ ✖ service-003", "crash loop ×4", "2 of 2", "FATAL smtp: no such host")
		d.hides("What helps")
		d.press("e")
		d.shows("1 of 2")
		d.press("E")
		d.shows("2 of 2")
		d.press("l")
		d.shows("─ service-003 ─", "FATAL smtp", "another run 0", "paused")
		d.hides("2 of 2")
		d.press("<Esc><Esc>e")
		d.shows("1 of 2") // the failure of the selected resource was seen already
		d.press("<Enter>")
		d.shows("this resource no longer exists")
		d.press("<Esc>e")
		d.cards(manyRows(5))
		d.shows("this failure is gone")
		d.press("e")
		d.shows("nothing is failing")
		d.hides("this failure is gone")
	})
}

// TestCardOfARunWhoseLinesHaveAnotherSpan shows the output of a container whose first two runs were over before its log was
// opened.
func TestCardOfARunWhoseLinesHaveAnotherSpan(t *testing.T) {
	play(t, func(_ *testing.T, d *driver) {
		began := time.Now().Truncate(time.Second)
		for _, l := range []struct {
			at             time.Time
			container, say string
		}{
			{began.Add(-2 * time.Second), "main", "panic: in the first run"},
			{began, "side", "panic: in the sidecar"},
			{began, "main", "panic: in the second run"},
		} {
			d.logs.Append(logstore.Entry{Time: l.at, Resource: "service-003", Span: "pod:default/p/" + l.container + ":c1", Source: logstore.SourceRuntime,
				Level: logstore.LevelInfo, Text: l.say, Pod: "p", Container: l.container})
		}
		d.cards(manyRows(5, 3), view.Card{Resource: "service-003", Aspect: view.AspectRuntime, Title: "crash loop ×1", Span: "pod:default/p/main:c2",
			Run: &view.Run{Pod: "p", Container: "main", Began: began}})
		d.press("e")
		d.shows("crash loop ×1")
		_, card, _ := strings.Cut(d.text(), "crash loop ×1")
		if !strings.Contains(card, "in the second run") || strings.Contains(card, "first") || strings.Contains(card, "sidecar") {
			t.Errorf("the card:\n%s", card)
		}
	})
}

func TestCardThatDoesNotFitScrolls(t *testing.T) {
	playAt(t, newTerminal("UTF-8", 60, 10), shop(t), func(_ *testing.T, d *driver) {
		var causes []string
		for i := range 30 {
			causes = append(causes, fmt.Sprintf("cause %02d of a failure that has a lot to say for itself and more", i))
		}
		d.cards(manyRows(2, 1), view.Card{Resource: "service-001", Title: "the update failed", Cause: causes})
		d.press("e")
		d.shows("cause 00")
		d.hides("cause 29")
		d.press("G")
		d.shows("cause 29")
		d.press("gj")
		d.hides("cause 00 of a failure that has a lot to say for itself")
		d.press("q")
		d.hides("cause")
	})
}

func TestRunsOfAContainer(t *testing.T) {
	play(t, func(_ *testing.T, d *driver) {
		for run := range 3 {
			for i := range 40 {
				d.logs.Append(logstore.Entry{Resource: "service-003", Span: fmt.Sprintf("pod:default/x/main:%d", run), Source: logstore.SourceRuntime,
					Level: logstore.LevelInfo, Text: fmt.Sprintf("run %d line %d", run, i)})
			}
		}
		d.cards(manyRows(5, 3), view.Card{Resource: "service-003", Aspect: view.AspectRuntime, Title: "crash loop ×4", Span: "pod:default/x/main:2"})
		d.press("el")
		d.shows("─ service-003 ─", "run 2 line 0", "paused")
		d.press("{")
		d.shows("run 1 line 0")
		d.press("{{")
		d.shows("no earlier run")
		d.press("}")
		d.shows("run 1 line 0")
		d.press("<Esc><Esc><Esc>eep")
		d.shows("run 1 line 0")
	})
}

// TestErrorBeforeTheRowHasTurned asks for the error of a resource whose update is not over yet: the log does not change until
// hone knows whether the resource fails.
func TestErrorBeforeTheRowHasTurned(t *testing.T) {
	for _, tt := range []struct {
		name string
		play func(d *driver, waiting []view.Row)
	}{
		{"it fails", func(d *driver, _ []view.Row) {
			d.cards(manyRows(3, 1), view.Card{Resource: "service-001", Aspect: view.AspectRuntime, Title: "crash loop"})
			d.shows("✖ service-001 ─ crash loop")
		}},
		{"it becomes well", func(d *driver, _ []view.Row) {
			d.cards(manyRows(3))
			d.after(wantedTime + messageTime)
			d.shows("▌ ✔ service-001", "paused", "FATAL no such host")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			play(t, func(_ *testing.T, d *driver) {
				rows := manyRows(3)
				rows[1].Status, rows[1].Changed = view.Waiting, hudtest.ShopTime
				d.press("a") // the log of another resource
				d.cards(rows)
				d.changed <- struct{}{}
				d.after(spansTime / 4)
				for n := 1; n < 3; n++ {
					d.logs.Append(logstore.Entry{Resource: "service-001", Span: fmt.Sprintf("build:service-001:%d", n), Source: logstore.SourceBuild, Level: logstore.LevelInfo, Text: "update"})
					d.manyLines("service-001", 1, 50)
				}
				d.changed <- struct{}{} // the second update has begun
				d.after(spansTime / 4)
				d.logs.Append(logstore.Entry{Resource: "service-001", Source: logstore.SourceRuntime, Level: logstore.LevelError, Text: "FATAL no such host"})
				d.manyLines("service-001", 50, 150)
				d.after(spansTime)
				d.press("e")
				d.shows("▌ ✔ service-000", "service-001 has just written an error")
				d.hides("paused")
				tt.play(d, rows)
			})
		})
	}
}

// TestLinesOfACard shows only the lines that can tell why, and the place where the failure begins.
func TestLinesOfACard(t *testing.T) {
	write := func(d *driver, level logstore.Level, texts ...string) {
		for _, s := range texts {
			d.logs.Append(logstore.Entry{Resource: "service-001", Span: "build:1", Source: logstore.SourceBuild, Level: level, Text: s})
		}
	}
	card := view.Card{Resource: "service-001", Title: "the deploy failed", Span: "build:1", Cause: []string{"apply deployment/api: it is invalid"}}
	for _, tt := range []struct {
		name         string
		part         view.LogPart
		output       string
		shows, hides []string
	}{
		{"objects that the server refuses", view.ErrorsOfLastStep, "", []string{"▌ ✖ service-001", "Warning of the server is an error"}, []string{"✖ error of the build", "applied something", "Build Failed"}},
		{"a command that deploys", view.LastStep, "on its output: exit status 3\n", []string{"Error: INSTALLATION FAILED"}, []string{"✖ error of the build", "Build Failed"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			play(t, func(_ *testing.T, d *driver) {
				write(d, logstore.LevelInfo, "STEP 1/2 — Building Dockerfile: [api]")
				write(d, logstore.LevelError, "error of the build that was tried again")
				write(d, logstore.LevelInfo, "STEP 2/2 — Deploying", "applied something")
				if tt.part == view.LastStep {
					write(d, logstore.LevelInfo, "Error: INSTALLATION FAILED: no chart")
				} else {
					write(d, logstore.LevelError, "Warning of the server is an error")
				}
				write(d, logstore.LevelError, "Build Failed: apply deployment/api: it is invalid")
				c := card
				c.Part, c.Output = tt.part, tt.output
				d.cards(manyRows(5, 1), c)
				d.press("ezz")
				d.shows(tt.shows...)
				_, box, _ := strings.Cut(d.text(), "─ the deploy failed")
				for _, s := range tt.hides {
					if strings.Contains(box, strings.TrimPrefix(s, "✖ ")) {
						t.Errorf("the card has %q:\n%s", s, box)
					}
				}
			})
		})
	}
}

// TestCardOfWhatAResourceWaitsFor: a resource that only waits has no card of its own.
func TestCardOfWhatAResourceWaitsFor(t *testing.T) {
	file := filepath.Join(t.TempDir(), "App.tsx")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	play(t, func(_ *testing.T, d *driver) {
		d.cards(manyRows(6, 1, 5), view.Card{Resource: "service-005", Title: "the update failed"},
			view.Card{Resource: "service-001", Title: "the update failed", Output: "src/App.tsx:41:3: no such name\n",
				Waiting: [][]model.ManifestName{resourceNames("service-002", "service-003"), resourceNames("service-004")}})
		located(d, file)
		d.press("jjjj")
		d.shows("▌ ✔ service-004")
		d.press("e")
		d.after(time.Second)
		d.shows("▌ ✖ service-001", "2 of 2", "Waiting for it: App.tsx:41 → service-001 → service-002, service-003 → service-004")
	})
}

// TestCardOfAConsequence: a failure that another one has caused has no card of its own either. Its card, if it is open when that
// is found, becomes the card of the cause.
func TestCardOfAConsequence(t *testing.T) {
	play(t, func(_ *testing.T, d *driver) {
		crash := func(name model.ManifestName) view.Card {
			return view.Card{Resource: name, Aspect: view.AspectRuntime, Title: "crash loop ×4", Cause: []string{"container main exited with code 1"}}
		}
		d.cards(manyRows(6, 1, 4), crash("service-004"))
		d.press("e")
		d.shows("▌ ✖ service-004", "service-004 ─ crash loop ×4", "1 of 1")
		cause := crash("service-001")
		for _, n := range resourceNames("service-004", "web", "api", "e2e", "shop", "mail", "queue") {
			cause.Consequences = append(cause.Consequences, view.Consequence{Resource: n, Title: "crash loop ×4", Cause: "container main exited with code 1"})
		}
		d.cards(manyRows(6, 1, 4), cause)
		d.shows("service-001 ─ crash loop ×4", "1 of 1", "Failed after it: service-004, crash loop ×4: container main exited with code 1",
			"                 web, crash loop ×4", "shop, crash loop ×4", "2 more")
		d.hides("mail")
		d.press("<Esc>gjjjj")
		d.shows("▌ ✖ service-004")
		d.press("e")
		d.shows("▌ ✖ service-001", "service-001 ─ crash loop ×4")
	})
}

// located maps every name in the output to a file.
func located(d *driver, file string) {
	before := d.view
	d.view = func(now time.Time) Frame {
		f := before(now)
		f.Locate = func(model.ManifestName, string) []string { return []string{file} }
		return f
	}
	d.changed <- struct{}{}
	d.after(time.Second)
}
