package waterfall

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/pkg/api"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func after(seconds float64) time.Time {
	return epoch.Add(time.Duration(seconds * float64(time.Second)))
}

func evaluated(from, to float64) []api.Event {
	return []api.Event{{Time: after(from), Type: "tiltfile-started", Resource: "(Tiltfile)", Tiltfile: &api.TiltfileEvent{}},
		{Time: after(to), Type: "tiltfile-loaded", Resource: "(Tiltfile)", Tiltfile: &api.TiltfileEvent{}}}
}

func hold(at float64, name, reason string, on ...string) api.Event {
	text := ""
	if reason != "" {
		text = "waits for a reason"
	}
	return api.Event{Time: after(at), Type: "resource-held", Resource: name, Hold: &api.HoldEvent{Reason: reason, Text: text, On: on}}
}

// updated are the events of an update with a build and an apply. A time of readiness of zero means that it fails.
func updated(name string, from, built, to, ready float64) []api.Event {
	u := &api.UpdateEvent{Steps: []api.UpdateStep{{Kind: "build", Image: "img", TookMs: api.Milliseconds((built - from) * 1000)}, {Kind: "apply", TookMs: api.Milliseconds((to - built) * 1000)}}}
	out := []api.Event{{Time: after(from), Type: "update-started", Resource: name, Update: &api.UpdateEvent{}}, {Time: after(to), Type: "update-finished", Resource: name, Update: u}}
	if ready == 0 {
		u.Error = "boom"
		return out
	}
	return append(out, api.Event{Time: after(ready), Type: "resource-ready", Resource: name, Ready: &api.ReadyEvent{}})
}

// pulled is the event of a pull that was reported at a time.
func pulled(at float64, name string, took float64) []api.Event {
	return []api.Event{{Time: after(at), Type: "image-pulled", Resource: name, Pull: &api.PullEvent{Pod: "p", Image: "img", TookMs: api.Milliseconds(took * 1000)}}}
}

// ahead are the events of an update that only builds images.
func ahead(name string, from, to float64) []api.Event {
	u := &api.UpdateEvent{BuildOnly: true, Steps: []api.UpdateStep{{Kind: "build", Image: "img", TookMs: api.Milliseconds((to - from) * 1000)}}}
	return []api.Event{{Time: after(from), Type: "update-started", Resource: name, Update: &api.UpdateEvent{BuildOnly: true}},
		{Time: after(to), Type: "update-finished", Resource: name, Update: u}}
}

// layers adds a transfer of layers to the update that ends with events.
func layers(update []api.Event, from, to float64) []api.Event {
	for _, e := range update {
		if e.Type == "update-finished" {
			e.Update.LayersAhead = append(e.Update.LayersAhead, api.LayersAhead{Image: "img", FromMs: api.Milliseconds(from * 1000), TookMs: api.Milliseconds((to - from) * 1000)})
		}
	}
	return update
}

func all(parts ...[]api.Event) (out []api.Event) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

var one = func(e api.Event) []api.Event { return []api.Event{e} }

func TestText(t *testing.T) {
	for name, list := range map[string][]api.Event{
		"chain": all(evaluated(0, 1), one(hold(1, "api", "waiting-for-dep", "db")), one(hold(1, "web", "waiting-for-dep", "api")), updated("db", 1, 3, 3.5, 5),
			one(hold(5, "api", "")), updated("api", 5, 9, 9.5, 10), one(hold(10, "web", "")), updated("web", 10, 11, 11.5, 12)),
		"built ahead": all(evaluated(0, 1), one(hold(1, "api", "waiting-for-dep", "db")), updated("db", 1, 3, 3.5, 8), ahead("api", 1, 5), one(hold(5, "api", "waiting-for-dep", "db")),
			one(hold(8, "api", "")), updated("api", 8, 8, 9, 10)),
		"layers ahead": all(evaluated(0, 1), layers(ahead("web", 1, 3), 0.5, 4), layers(updated("api", 1, 6, 6.5, 8), 0, 3)),
		"side by side": all(evaluated(0, 1), updated("db", 1, 3, 3.5, 5), updated("api", 1, 6, 6.5, 8)),
		"pulled": all(evaluated(0, 1), pulled(0.5, "db", 10), updated("db", 1, 3, 4, 12), pulled(9, "db", 4), pulled(10, "db", 2), pulled(12.2, "db", 1),
			updated("api", 1, 2, 3, 4), pulled(4.5, "api", 9)),
		"failed": all(evaluated(0, 1), updated("db", 1, 3, 3.5, 4), updated("api", 1, 6, 6.5, 0)),
		"slot": all(evaluated(0, 1), one(hold(1, "web", "waiting-for-slot", "db", "api")), updated("db", 1, 7, 7.5, 20), updated("api", 1, 4, 4.5, 6),
			one(hold(4.5, "web", "")), updated("web", 4.5, 20, 21, 22)),
		"unfinished":     all(evaluated(0, 1), one(hold(1, "web", "waiting-for-cluster"))),
		"wait in a ring": all(evaluated(0, 1), one(hold(1, "a", "waiting-for-dep", "b")), one(hold(1, "b", "waiting-for-dep", "a"))),
		"by hand":        all(evaluated(0, 1), one(hold(1, "web", "manual")), updated("db", 1, 3, 3.5, 5)),
		"a second one":   all(evaluated(0, 1), updated("db", 1, 3, 3.5, 5), evaluated(10, 11), updated("db", 11, 12, 13, 14)),
		"gap":            all(one(api.Event{Time: after(0), Type: "gap", Gap: &api.GapEvent{Missed: 7}}), updated("db", 1, 3, 3.5, 5)),
		"nothing":        nil,
	} {
		t.Run(name, func(t *testing.T) {
			w := Of(list, after(30))
			addsUp(t, w)
			var got bytes.Buffer
			if err := w.Text(&got); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// addsUp checks that the critical path covers the whole time, without gaps.
func addsUp(t *testing.T, w Waterfall) {
	t.Helper()
	at := w.Start
	for _, p := range w.Critical {
		if !p.Start.Equal(at) || !p.End.After(p.Start) {
			t.Errorf("the piece %v of %s does not begin at %s", p.Span, p.Resource, at)
		}
		at = p.End
	}
	if len(w.Rows) > 0 && !at.Equal(w.End) {
		t.Errorf("the path ends at %s, want %s", at, w.End)
	}
}

// TestCriticalPathAddsUp tries random events, also some that no session emits.
func TestCriticalPathAddsUp(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		name := func() string { return "r" + strconv.Itoa(r.IntN(5)) }
		var list []api.Event
		at := 0.0
		for range r.IntN(60) {
			at += float64(r.IntN(5)) / 4
			e := api.Event{Time: after(at), Resource: name()}
			switch r.IntN(7) {
			case 6:
				e.Type, e.Pull = "image-pulled", &api.PullEvent{TookMs: api.Milliseconds(r.IntN(4000))}
			case 0:
				e.Type, e.Update = "update-started", &api.UpdateEvent{}
			case 1:
				e.Type, e.Update = "update-finished", &api.UpdateEvent{Cancelled: r.IntN(4) == 0, BuildOnly: r.IntN(4) == 0, Steps: []api.UpdateStep{{Kind: "build", TookMs: api.Milliseconds(r.IntN(3000))}}}
			case 2:
				e.Type, e.Ready = "resource-ready", &api.ReadyEvent{}
			case 3:
				e.Resource, e.Type, e.Tiltfile = "(Tiltfile)", []string{"tiltfile-started", "tiltfile-loaded"}[r.IntN(2)], &api.TiltfileEvent{}
			default:
				e.Hold = &api.HoldEvent{Reason: []string{"", "waiting-for-dep"}[r.IntN(2)], On: []string{name(), name()}}
			}
			list = append(list, e)
		}
		w := Of(list, after(at+1))
		addsUp(t, w)
		toTheEnd(t, w.API())
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// toTheEnd checks that the critical path of a waterfall for programs has no gap, and that no bar is longer than the whole.
func toTheEnd(t *testing.T, w api.Waterfall) {
	t.Helper()
	at := api.Milliseconds(0)
	for _, s := range w.Critical {
		named := s.Kind == Other || s.Resource != ""
		if s.FromMs != at || !named || s.Text == "" {
			t.Errorf("%+v does not begin at %g", s, at)
		}
		at = s.ToMs
	}
	if at != w.TookMs {
		t.Errorf("the critical path ends at %g, and the start at %g", at, w.TookMs)
	}
	for _, r := range w.Rows {
		for _, s := range r.Spans {
			if s.FromMs < 0 || s.ToMs > w.TookMs || s.ToMs < s.FromMs {
				t.Errorf("%s: %+v", r.Resource, s)
			}
		}
	}
}
