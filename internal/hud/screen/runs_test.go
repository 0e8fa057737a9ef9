package screen

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

// TestPreviousRunIsThatOfTheSameContainer: not the run of another container or pod; a run that the session has not seen is read
// from the cluster.
func TestPreviousRunIsThatOfTheSameContainer(t *testing.T) {
	var asked string
	none := problem.New("container main of pod new has no previous run", "It has not been restarted")
	answer := func(_ context.Context, of model.ContainerRef) ([]string, error) {
		asked = of.Namespace + "/" + of.Pod + "/" + of.Name
		if of.Pod == "new" {
			return nil, none
		}
		return []string{"first line", "the last words"}, nil
	}
	for _, tt := range []struct{ name, span, shows, asked string }{
		{"in the log", "pod:default/x/main:2", "x/main run 1 line 0", ""},
		{"only in the cluster", "pod:default/y/main:7", "the last words", "default/y/main"},
		{"nowhere", "pod:default/new/main:1", "container main of pod new has no previous run", "default/new/main"},
	} {
		for _, key := range []string{"ep", "el{"} {
			t.Run(tt.name+" "+key, func(t *testing.T) {
				asked = ""
				play(t, func(t *testing.T, d *driver) {
					for _, of := range []string{"x/main:1", "x/sidecar:1", "old/main:1", "x/main:2", "y/main:7", "new/main:1"} {
						for i := range 40 {
							name, run := of[:len(of)-2], of[len(of)-1:]
							d.logs.Append(logstore.Entry{Resource: "service-003", Span: "pod:default/" + of, Source: logstore.SourceRuntime,
								Level: logstore.LevelInfo, Text: fmt.Sprintf("%s run %s line %d", name, run, i)})
						}
					}
					d.cards(manyRows(5, 3), view.Card{Resource: "service-003", Aspect: view.AspectRuntime, Title: "crash loop ×4", Span: tt.span})
					d.press(key)
					d.after(time.Second)
					d.shows(tt.shows)
					if asked != tt.asked {
						t.Errorf("asked for %q, want %q", asked, tt.asked)
					}
				}, func(_ *driver, o *Options) { o.Previous = answer })
			})
		}
	}
}

// TestErrorOfASaveIsOnScreenInEveryView, with the file that was saved.
func TestErrorOfASaveIsOnScreenInEveryView(t *testing.T) {
	for _, keys := range []string{"", "z", "<Tab>z", "<Enter>", "?", "w", "xx"} {
		t.Run(keys, func(t *testing.T) {
			play(t, func(t *testing.T, d *driver) {
				rows := manyRows(3)
				rows[1].Changed = hudtest.ShopTime // watched, whatever the log shows
				d.cards(rows)
				for n := 1; n < 3; n++ {
					d.logs.Append(logstore.Entry{Resource: "service-001", Span: fmt.Sprintf("build:service-001:%d", n), Source: logstore.SourceBuild,
						Level: logstore.LevelInfo, Text: fmt.Sprintf("1 File Changed: [cart/handler%d.go]", n)})
					d.manyLines("service-001", 1, 20)
				}
				d.logs.Append(logstore.Entry{Resource: "service-001", Source: logstore.SourceRuntime, Level: logstore.LevelError, Text: "panic: nil map"})
				d.press("j" + keys)
				d.after(3 * time.Second)
				d.shows("✖ service-001", "panic: nil map", "after a save of handler2.go", "e shows it")
			})
		})
	}
}
