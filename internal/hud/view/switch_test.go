package view

import (
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/hud/hudtest"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// TestSwitched looks at the rows of resources that the user disables and enables.
func TestSwitched(t *testing.T) {
	now := hudtest.Start.Add(time.Hour)
	rowIn := func(v View, name model.ManifestName) string {
		for _, r := range v.Rows {
			if r.Name == name {
				return strings.TrimSpace(r.Update.String())
			}
		}
		return "no row"
	}
	before := Build(hudtest.Shop().View(t.Context()), now, 0)
	if got := rowIn(before, "loadtest"); got != "disabled" {
		t.Errorf("left out by the arguments: %q", got)
	}
	s := hudtest.Shop()
	s.At(41*time.Minute, state.ResourcesSwitched{On: []model.ManifestName{"loadtest"}, Off: []model.ManifestName{"docs"}})
	v := s.View(t.Context())
	after := Build(v, now, 0)
	if got := rowIn(after, "loadtest"); strings.HasPrefix(got, "disabled") {
		t.Errorf("enabled: %q", got)
	}
	if got := rowIn(after, "docs"); got != "disabled" {
		t.Errorf("disabled: %q", got)
	}
	if len(after.Rows) != len(before.Rows) {
		t.Errorf("%d rows, want %d", len(after.Rows), len(before.Rows))
	}
	details, ok := DetailsOf(v, "docs", now)
	if text := details.Text(100); !ok || !strings.Contains(text, "disabled") || len(details.Tabs[0].Lines) > 0 {
		t.Errorf("details:\n%s", text)
	}
}

// TestTakenDown looks at rows whose objects "hone down" has deleted: neither well nor failed, regardless of their state
// before.
func TestTakenDown(t *testing.T) {
	s := hudtest.Shop()
	s.At(41*time.Minute, state.ObjectsTakenDown{By: "hone down (pid 42)"})
	v := Build(s.View(t.Context()), hudtest.Start.Add(time.Hour), 0)
	n := 0
	for _, r := range v.Rows {
		if !strings.Contains(r.Update.String(), "deleted by hone down (pid 42), waits for a trigger") {
			continue
		}
		n++
		if r.Status != Idle || r.UpdateErr != "" {
			t.Errorf("%s is %v, %q", r.Name, r.Status, r.UpdateErr)
		}
	}
	if n < 5 {
		t.Errorf("%d rows are shown as deleted", n)
	}
}
