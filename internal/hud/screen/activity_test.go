package screen

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

// volumes is a log that counts.
type volumes struct {
	Logs
	of map[model.ManifestName]logstore.Volume
}

func (v volumes) Volumes(_ logstore.Source, to []logstore.Volume) []logstore.Volume {
	for name, one := range v.of {
		one.Resource = name
		to = append(to, one)
	}
	return to
}

// TestActivity plays the output of a program: each step is a time after the start, an action of the program or the user, and the
// badge after it.
func TestActivity(t *testing.T) {
	steady := "0s line; 60s line; 120s line; 180s line; 240s line; "
	for _, tc := range []struct{ name, steps, want string }{
		{"what was there before counts as seen", "0s look", ""},
		{"a line soon after another is no activity", "0s line; 30s line", ""},
		{"a line after a pause is activity", "0s line; 60s line", "lines"},
		{"also if it was written before", "31s line", "lines"},
		{"an error is activity at any time", "0s line; 1s error", "errors"},
		{"an error outlasts lines", "0s line; 1s error; 90s line", "errors"},
		{"an error after lines", "0s line; 60s line; 61s error", "errors"},
		{"what is looked at is seen", "0s line; 1s error; 2s see", ""},
		{"what is written while it is shown is seen", "0s line; 1s see; 2s error; 3s leave", ""},
		{"what comes afterwards is not", "0s line; 1s see; 2s leave; 3s error", "errors"},
		{"a dropped log begins again", "0s line; 1s drop; 2s error", "errors"},
		{"silence begins after two minutes", steady + "359s look", "lines"},
		{"and is counted in minutes", steady + "361s look; 425s look", "lines silent 3m0s"},
		{"a line ends it", steady + "400s line", "lines"},
		{"an hour later it is the usual state", steady + "361s look; 3840s look", "lines"},
		{"who writes now and then is never silent", "0s line; 60s line; 180s line; 240s line; 300s line; 500s look", "lines"},
		{"silence of what is updated means nothing", steady + "250s update; 500s look", "lines"},
		{"nor that of what fails", steady + "250s fail; 500s look", "lines"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
			v := volumes{of: map[model.ManifestName]logstore.Volume{"web": {Lines: 7, Errors: 2}, "api": {Lines: 1}}}
			a := newActivity(v)
			other, rows := []model.ManifestName{"api"}, []view.Row{{Name: "web", Status: view.Well}, {Name: "late"}}
			a.see(other)
			a.look(start.Add(-time.Minute / 2))
			shown := func() string {
				a.annotate(rows)
				s := map[view.Unseen]string{view.UnseenLines: "lines", view.UnseenErrors: "errors"}[a.unseen("web")]
				if rows[0].Silent > 0 {
					s += fmt.Sprint(" silent ", rows[0].Silent)
				}
				return s
			}
			for step := range strings.SplitSeq(tc.steps, "; ") {
				after, what, _ := strings.Cut(step, " ")
				d, err := time.ParseDuration(after)
				if err != nil {
					t.Fatal(err)
				}
				now, web := start.Add(d), v.of["web"]
				switch what {
				case "line":
					web.Lines++
				case "error":
					web.Lines, web.Errors = web.Lines+1, web.Errors+1
				case "drop":
					web = logstore.Volume{}
				case "see":
					a.see([]model.ManifestName{"web"})
				case "leave":
					a.see(other)
				case "update":
					rows[0].Changed = now
				case "fail":
					rows[0].Status = view.Failed
				case "look":
				default:
					t.Fatalf("unknown step %q", step)
				}
				v.of["web"] = web
				before := shown() // actions of the user or the session show without a look
				if changed, _ := a.look(now); changed != (shown() != before) {
					t.Errorf("%s: a look says that something changed: %v; before %q, now %q", step, changed, before, shown())
				}
			}
			if got := shown(); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// TestUnseenErrorsAreMarked shows the badges where the user sees them: api is selected, worker and web are not.
func TestUnseenErrorsAreMarked(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		write := func(name model.ManifestName, level logstore.Level) {
			d.logs.Append(logstore.Entry{Resource: name, Source: logstore.SourceRuntime, Level: level, Text: "a line of " + string(name)})
			d.after(2 * glanceTime)
		}
		badge := func(name string) string {
			_, after, _ := strings.Cut(d.line(" "+name+" "), name)
			return strings.Fields(after)[0]
		}
		d.press("<Home>jj")
		write("web", logstore.LevelInfo)
		if got := badge("web"); got != "in" {
			t.Errorf("after a line, web has %q", got)
		}
		write("web", logstore.LevelError)
		if got := badge("web"); got != "•" {
			t.Errorf("after an error, web has %q", got)
		}
		d.after(quietTime)
		write("docs", logstore.LevelInfo)
		write("worker", logstore.LevelInfo)
		d.golden("unseen")
	})
}

// TestSilenceIsShown lets web write every minute, and then stop.
func TestSilenceIsShown(t *testing.T) {
	play(t, func(t *testing.T, d *driver) {
		still := d.view(hudtest.ShopTime)
		still.View.Rows = slices.DeleteFunc(still.View.Rows, func(r view.Row) bool { return r.Status == view.Updating })
		still.View.Refresh = time.Hour
		d.view = func(time.Time) Frame { return still }
		d.changed <- struct{}{}
		d.after(2 * glanceTime) // lines before the first glance count as seen
		for range steadyMinutes {
			d.logs.Append(logstore.Entry{Resource: "web", Source: logstore.SourceRuntime, Level: logstore.LevelInfo, Text: "GET /healthz"})
			d.after(time.Minute)
			d.hides("silent")
		}
		before := d.term.shows.Load()
		d.after(2 * time.Minute)
		d.shows("running 1/1  silent 3 m")
		if n := d.term.shows.Load() - before; n > 4 {
			t.Errorf("%d drawings for two lines that change", n)
		}
		d.after(time.Hour)
		d.hides("silent")
	})
}
