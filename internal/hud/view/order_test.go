package view

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/pkg/model"
)

func rowNames(rows []Row) string {
	var out []string
	for _, r := range rows {
		out = append(out, string(r.Name))
	}
	return strings.Join(out, " ")
}

func TestArrange(t *testing.T) {
	v := Build(hudtest.Shop().View(t.Context()), hudtest.ShopTime, 0)
	rows := v.Rows
	for order, want := range map[Order]string{
		ByGroup:     "(Tiltfile) api worker mailer web e2e uncategorized migrate docs seed loadtest",
		AlertsFirst: "mailer e2e worker (Tiltfile) api web uncategorized migrate docs seed loadtest",
		ByName:      "(Tiltfile) api docs e2e loadtest mailer migrate seed uncategorized web worker",
		ByChange:    "worker api web mailer migrate docs uncategorized (Tiltfile) e2e seed loadtest",
	} {
		if got := rowNames(Arrange(rows, order)); got != want {
			t.Errorf("%s:\n got %s\nwant %s", order, got, want)
		}
	}
	if got := rowNames(rows); got != rowNames(Build(hudtest.Shop().View(t.Context()), hudtest.ShopTime, 0).Rows) {
		t.Errorf("Arrange has changed its argument: %s", got)
	}
	seen := map[string]bool{}
	for o := ByGroup; !seen[o.String()]; o = o.Next() {
		seen[o.String()] = true
	}
	if len(seen) != 4 {
		t.Errorf("orders: %v", seen)
	}
}

// TestAlertsFirst has a row of each kind, worst last.
func TestAlertsFirst(t *testing.T) {
	rows := []Row{{Name: "idle", Status: Idle}, {Name: "well", Status: Well}, {Name: "well2", Status: Well}, {Name: "warning", Status: Warning},
		{Name: "updating", Status: Updating}, {Name: "waiting", Status: Waiting}, {Name: "unknown", Status: Unknown},
		{Name: "failing", Status: Failed, PortErr: "x"}, {Name: "updating-what-fails", Status: Updating, RuntimeErr: "x"}}
	want := "failing updating-what-fails unknown waiting updating warning well well2 idle"
	if got := rowNames(Arrange(rows, AlertsFirst)); got != want {
		t.Errorf("got %s", got)
	}
}

// TestGroupsSortAsPeopleDo: group2 comes before group10, and no label last.
func TestGroupsSortAsPeopleDo(t *testing.T) {
	var tf model.Tiltfile
	for i, label := range []string{"group10", "group2", "", "Group1", "group1", "group02", "group1-b", "group1-a10", "group1-a9"} {
		m := model.Manifest{Name: model.ManifestName(fmt.Sprintf("r%d", i)), AutoInit: true, Local: &model.LocalTarget{}}
		if label != "" {
			m.Labels = []string{label}
		}
		tf.Manifests = append(tf.Manifests, m)
	}
	s := hudtest.New()
	s.Open(tf)
	v := Build(s.View(t.Context()), hudtest.Start.Add(time.Minute), 0)
	var got []string
	for _, r := range v.Rows[1:] {
		got = append(got, r.Group)
	}
	want := []string{"Group1", "group1", "group1-a9", "group1-a10", "group1-b", "group02", "group2", "group10", ""}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("rows: %s", d)
	}
	got = nil
	for _, g := range Groups(Arrange(v.Rows, ByName)) {
		got = append(got, g.Name)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("groups: %s", d)
	}
}

func TestCompare(t *testing.T) {
	sorted := []string{"", "a", "a0", "a00", "a1", "a01", "a2", "a9z", "a10", "a10b", "a99999999999999999999", "a100000000000000000000", "b"}
	for i, a := range sorted {
		for j, b := range sorted {
			if got := Compare(a, b); (got < 0) != (i < j) && !strings.HasPrefix(a, "a0") && !strings.HasPrefix(b, "a0") || (got == 0) != (i == j) || got != -Compare(b, a) {
				t.Errorf("Compare(%q, %q) = %d", a, b, got)
			}
		}
	}
}

// FuzzCompare checks that sorting can rely on the comparison.
func FuzzCompare(f *testing.F) {
	f.Add("a1", "a01", "a10")
	f.Add("1a", "01", "10")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		if Compare(a, b) != -Compare(b, a) || (Compare(a, b) == 0) != (a == b) {
			t.Errorf("%q and %q: %d, %d", a, b, Compare(a, b), Compare(b, a))
		}
		s := []string{a, b, c}
		slices.SortFunc(s, Compare)
		if Compare(s[0], s[1]) > 0 || Compare(s[1], s[2]) > 0 || Compare(s[0], s[2]) > 0 {
			t.Errorf("not an order: %q", s)
		}
	})
}

func TestGroups(t *testing.T) {
	v := Build(hudtest.Shop().View(t.Context()), hudtest.ShopTime, 0)
	want := []Group{{Name: "backend", Members: 3, Failing: 1, Updating: 1}, {Name: "frontend", Members: 2, Waiting: 1}, {Members: 5}}
	got := Groups(v.Rows)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	var tones []Tone
	for _, g := range got {
		tones = append(tones, g.Tone())
	}
	if d := cmp.Diff([]Tone{Bad, Warn, Dim}, tones); d != "" {
		t.Error(d)
	}
	if len(Groups(nil)) != 0 {
		t.Error("groups of nothing")
	}
}
