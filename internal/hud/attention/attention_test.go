package attention

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/pkg/model"
)

// statuses are the letters of a scene: one for each resource, which are called a, b, c…
var statuses = map[rune]view.Status{'u': view.Updating, 'w': view.Waiting, 'v': view.Well, '!': view.Warning, 'x': view.Failed, '?': view.Unknown, 'o': view.Idle}

func viewOf(t *testing.T, letters string) view.View {
	t.Helper()
	v := view.View{Header: view.Header{Project: "shop"}}
	n := &v.Header.Counts
	for i, l := range letters {
		status, ok := statuses[l]
		if !ok {
			t.Fatalf("no status is written %q", l)
		}
		r := view.Row{Name: model.ManifestName(rune('a' + i)), Status: status, Update: view.Cell{{Text: "ok"}}, Runtime: view.Cell{{Text: "running"}}}
		if status == view.Failed {
			r.RuntimeErr, r.Runtime = "exit 1", view.Cell{{Text: "crash loop ×4", Tone: view.Bad}}
		}
		v.Rows = append(v.Rows, r)
		*map[view.Status]*int{view.Updating: &n.Updating, view.Waiting: &n.Waiting, view.Well: &n.Well, view.Warning: &n.Well,
			view.Failed: &n.Failed, view.Unknown: &n.Unknown, view.Idle: &n.Idle}[status]++
	}
	return v
}

func TestMessages(t *testing.T) {
	for _, tt := range []struct {
		name string
		// scene are steps "SECONDS STATUSES"; "here" after them means that the user is here.
		scene []string
		want  []string // "SECONDS MESSAGE"
	}{
		{"nothing happens", []string{"0 vv", "60 vv"}, nil},
		{"what was so at first is no news", []string{"0 xv", "5 xv"}, nil},
		{"a resource that was well fails", []string{"0 vv", "5 xv", "6 xv"}, []string{"5 ✖ a: crash loop ×4"}},
		{"an update makes it fail, however short", []string{"0 v", "5 u", "6 x"}, []string{"6 ✖ a: crash loop ×4"}},
		{"a start makes it fail", []string{"0 v", "5 u", "6 w", "8 x"}, []string{"8 ✖ a: crash loop ×4"}},
		{"a short update ends", []string{"0 v", "5 u", "14 v"}, nil},
		{"a long update ends", []string{"0 v", "5 u", "47 v"}, []string{"47 ✔ a is ready (42 s)"}},
		{"a long update with warnings", []string{"0 v", "5 u", "47 !"}, []string{"47 ✔ a is ready (42 s)"}},
		{"an update is long with the start after it", []string{"0 o", "1 u", "4 w", "13 v"}, []string{"13 ✔ a is ready (12 s)"}},
		{"a long update of a resource that never was well fails", []string{"0 o", "1 u", "20 x"}, []string{"20 ✖ a: crash loop ×4"}},
		{"a short update of a resource that never was well fails", []string{"0 x", "1 u", "4 x"}, nil},
		{"what fails again is no news", []string{"0 v", "5 x", "20 v", "30 x", "40 v", "50 x"}, []string{"5 ✖ a: crash loop ×4"}},
		{"unless it had recovered", []string{"0 v", "5 x", "20 v", "90 x"}, []string{"5 ✖ a: crash loop ×4", "90 ✖ a: crash loop ×4"}},
		{"or the user has been here", []string{"0 v", "5 x", "20 v", "25 v here", "30 x"}, []string{"5 ✖ a: crash loop ×4", "30 ✖ a: crash loop ×4"}},
		{"the user is here", []string{"0 v here", "5 x here", "6 x", "20 x"}, nil},
		{"several at once", []string{"0 vvv", "5 xxx"}, []string{"5 ✖ a: crash loop ×4, 2 more"}},
		{"several within a few seconds", []string{"0 vvvv", "5 xvvv", "6 xxvv", "7 xxxv", "9 xxxv", "10 xxxx", "11 xxxx"},
			[]string{"5 ✖ a: crash loop ×4", "10 ✖ b: crash loop ×4, 2 more"}},
		{"what waits is told without another event", []string{"0 vv", "5 xv", "6 xx", "7 xx", "10 xx"}, []string{"5 ✖ a: crash loop ×4", "10 ✖ b: crash loop ×4"}},
		{"what waits is dropped when the user comes", []string{"0 vv", "5 xv", "6 xx", "7 xx here", "20 xx"}, []string{"5 ✖ a: crash loop ×4"}},
		{"many become ready: told when all have", []string{"0 oooo", "1 uuww", "20 vuuw", "30 vvuu", "60 vvvv"}, []string{"60 ✔ a is ready (19 s), 3 more"}},
		{"a failure does not wait for them", []string{"0 voo", "1 vuu", "20 xvu", "60 xvv"}, []string{"20 ✖ a: crash loop ×4", "60 ✔ b is ready (19 s), 1 more"}},
		{"what does not answer any more", []string{"0 v", "5 ?", "20 v"}, nil},
		{"well, then waiting, then failing", []string{"0 v", "5 w", "6 x"}, []string{"6 ✖ a: crash loop ×4"}},
		{"disabled", []string{"0 v", "5 o"}, nil},
		{"a resource comes and goes", []string{"0 v", "5 vx", "6 v", "7 vx"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var w Watch
			var got []string
			start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
			for _, step := range tt.scene {
				var seconds int
				var letters, where string
				if _, err := fmt.Sscan(step+" .", &seconds, &letters, &where); err != nil {
					t.Fatal(err)
				}
				now := start.Add(time.Duration(seconds) * time.Second)
				if m := w.Look(viewOf(t, letters), where != "here", now).Message; m != "" {
					got = append(got, fmt.Sprintf("%d %s", seconds, m))
				}
				if d, ok := w.Due(now); ok && (d <= 0 || d > Pause) {
					t.Errorf("%s: due in %v", step, d)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTitleAndProgress(t *testing.T) {
	for _, tt := range []struct {
		name     string
		letters  string // for two seconds
		title    string
		progress Progress
	}{
		{"well", "vv!", "✔ shop – hone", NoProgress},
		{"failing", "vxx", "✖ 2 shop – hone", Failing},
		{"failing and working", "vxu", "✖ 1 shop – hone", Working},
		{"working", "vuu", "● 2 shop – hone", Working},
		{"waiting", "vw", "◌ shop – hone", NoProgress},
		{"unknown", "v?", "? 1 shop – hone", NoProgress},
		{"nothing yet", "", "◌ shop – hone", NoProgress},
		{"nothing started", "oo", "◌ shop – hone", NoProgress},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var w Watch
			now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
			if first := w.Look(viewOf(t, tt.letters), false, now); first.Progress == Working || strings.Contains(first.Title, "●") {
				t.Errorf("an update is shown at once: %+v", first)
			}
			if diff := cmp.Diff(Said{Title: tt.title, Progress: tt.progress}, w.Look(viewOf(t, tt.letters), false, now.Add(2*time.Second))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	far := view.Header{Project: "shop", Box: "dev@box", Counts: view.Counts{Well: 1}}
	if got := new(Watch).Look(view.View{Header: far}, false, time.Time{}).Title; got != "✔ shop on dev@box – hone" {
		t.Errorf("of another machine: %q", got)
	}
	if got := new(Watch).Look(view.View{}, false, time.Time{}).Title; got != "hone" {
		t.Errorf("before the Tiltfile is known: %q", got)
	}
	if got := new(Watch).Look(view.View{Header: view.Header{Project: "a\x1b]2;b\ac", Counts: view.Counts{Well: 1}}}, false, time.Time{}).Title; strings.ContainsAny(got, "\x1b\a") {
		t.Errorf("%q", got)
	}
}

// TestEnding: the resources of an ending session stop one by one, which is no news.
func TestEnding(t *testing.T) {
	var w Watch
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	w.Look(viewOf(t, "v"), true, now)
	v := viewOf(t, "x")
	v.Header.Ending = true
	if got := w.Look(v, true, now.Add(time.Minute)).Message; got != "" {
		t.Errorf("%q", got)
	}
}

// TestLongMessage: a long reason does not hide the number of further failures.
func TestLongMessage(t *testing.T) {
	var w Watch
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	w.Look(viewOf(t, "vv"), true, now)
	v := viewOf(t, "xx")
	v.Rows[0].Runtime = view.Cell{{Text: strings.Repeat("long ", 100)}}
	if got := w.Look(v, true, now.Add(time.Minute)).Message; len(got) > longest+10 || !strings.HasSuffix(got, "…, 1 more") {
		t.Errorf("%q", got)
	}
}
