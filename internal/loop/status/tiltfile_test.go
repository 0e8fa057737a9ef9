package status_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/api/page"
	"github.com/hone-dev/hone/internal/api/tables"
	"github.com/hone-dev/hone/internal/cli/cireport"
	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// evaluating are the places that show a wait of the evaluation.
var evaluating = map[string]func(t *testing.T, v store.View) string{
	"screen": func(_ *testing.T, v store.View) string {
		var text strings.Builder
		for _, span := range view.Build(v, v.Snapshot.At, 0).Rows[0].Update {
			text.WriteString(span.Text)
		}
		return text.String()
	},
	"page": func(_ *testing.T, v store.View) string {
		if c := page.Rows(v)[0].Current; c != nil && c.Progress != nil && !c.Progress.Since.IsZero() {
			return c.Progress.Waits
		}
		return ""
	},
	"get": func(t *testing.T, v store.View) string {
		return object(t, v, string(model.TiltfileName)).Status.Message
	},
	"wait": func(t *testing.T, v store.View) string {
		for _, c := range object(t, v, string(model.TiltfileName)).Status.Conditions {
			if c.Type == "UpToDate" {
				return c.Message
			}
		}
		return ""
	},
	"table": func(_ *testing.T, v store.View) (text string) {
		for _, k := range tables.All(state.Schema) {
			if k.Plural != state.Tiltfiles.Name() {
				continue
			}
			for i := range k.Items(v) {
				for _, c := range k.Columns {
					text += fmt.Sprint(c.Value(i.Make()))
				}
			}
		}
		return text
	},
	"report": func(_ *testing.T, v store.View) string {
		if p := cireport.Summarize(v, &cireport.Tally{}, cireport.Outcome{At: v.Snapshot.At}).Resources[0].Problem; p != nil {
			return p.Summary
		}
		return ""
	},
}

// TestEvaluation checks that each place shows a wait of the evaluation, until it is over.
func TestEvaluation(t *testing.T) {
	waits := state.TiltfileAwaits{What: "helm, which the Tiltfile runs", Since: statetest.Epoch}
	for _, tc := range []struct {
		name  string
		then  []store.Action
		waits bool
	}{
		{"it runs", nil, false},
		{"it waits", []store.Action{waits}, true},
		{"the wait is over", []store.Action{waits, state.TiltfileAwaits{}}, false},
		{"the evaluation is over", []store.Action{waits, state.TiltfileLoaded{At: statetest.Epoch}}, false},
		{"the wait comes too late", []store.Action{state.TiltfileLoaded{At: statetest.Epoch}, waits}, false},
		{"the next evaluation", []store.Action{waits, state.TiltfileStarted{At: statetest.Epoch.Add(time.Second)}}, false},
	} {
		v := statetest.New(statetest.Session, state.TiltfileStarted{At: statetest.Epoch}).Then(tc.then...).View()
		for place, text := range evaluating {
			if got := text(t, v); strings.Contains(got, "helm, which the Tiltfile runs") != tc.waits {
				t.Errorf("%s, %s: %q", tc.name, place, got)
			}
		}
	}
}
