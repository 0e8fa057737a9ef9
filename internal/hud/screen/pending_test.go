package screen

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/hud/view"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// TestConfirmPlan: waiting changes are made only after the user has seen and confirmed their effect.
func TestConfirmPlan(t *testing.T) {
	var v store.View
	synctest.Test(t, func(t *testing.T) { v = asking().View(t.Context()) })
	play := func(t *testing.T, keys func(d *driver, hold chan<- error)) *driver {
		var d *driver
		var hold chan error
		playAt(t, newTerminal("UTF-8", 120, 34), v, func(_ *testing.T, is *driver) { d = is; keys(d, hold) }, func(_ *driver, o *Options) {
			hold = make(chan error) // of the bubble
			planned(o)
			made := o.Plan
			o.Plan = func(ctx context.Context) (view.Plan, error) {
				select {
				case err := <-hold:
					if err != nil {
						return view.Plan{}, err
					}
				case <-ctx.Done():
					return view.Plan{}, ctx.Err()
				}
				return made(ctx)
			}
		})
		return d
	}
	t.Run("in time", func(t *testing.T) {
		d := play(t, func(d *driver, hold chan<- error) {
			d.shows("2 updates and the deletion of cart wait for you", "P shows what would be done")
			d.press("P")
			d.shows("asking…")
			d.press("y")
			d.shows("the plan is being made")
			hold <- nil
			d.after(2 * frameTime)
			d.shows("~ update", "spec.replicas: 2 → 3", "by kubectl-set", "- delete", "1 to update, 1 to delete, 1 unchanged")
			d.press("y")
			d.shows("confirmed")
		})
		if diff := cmp.Diff([]store.Action{state.ChangesConfirmed{Names: []model.ManifestName{"web", "e2e"}}}, d.asked); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
	})
	t.Run("without a plan", func(t *testing.T) {
		d := play(t, func(d *driver, hold chan<- error) {
			d.press("P")
			hold <- errors.New("the API server is away")
			d.after(2 * frameTime)
			d.shows("the API server is away")
			d.press("y")
			d.shows("there is no plan to confirm")
		})
		if len(d.asked) > 0 {
			t.Errorf("asked %v", d.asked)
		}
	})
}
