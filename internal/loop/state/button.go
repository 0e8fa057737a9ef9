package state

import (
	"slices"
	"time"

	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// Button is an entry of table buttons; its id is the button's name.
type Button struct {
	model.Button
	// Order is the place in the Tiltfile.
	Order int
	// Clicks counts the clicks, and Click is the newest; zero before the first.
	Clicks int
	Click  Click
}

// Click is one click of a button.
type Click struct {
	At time.Time
	// Inputs holds the text of every input by name.
	Inputs map[string]string
}

// ButtonClicked reports that the user clicked a button. Inputs is the result of model.Button.Resolve. The click is dated from
// when the store receives it. It is ignored if the button has been removed or disabled meanwhile.
type ButtonClicked struct {
	Button string
	Inputs map[string]string
}

func init() {
	store.On(Buttons, func(d *store.Draft[Button], a TiltfileLoaded) {
		if a.Err == "" {
			declareEach(d, a.Result.Buttons, func(b model.Button) (string, map[string]string) { return b.Name, b.Labels },
				func(was Button, order int, b model.Button) Button {
					was.Button, was.Order = b, order
					return was
				})
		}
	})
	store.On(Buttons, func(d *store.Draft[Button], a ButtonClicked) {
		d.Update(a.Button, func(b Button) Button {
			if !b.Disabled {
				b.Clicks++
				b.Click = Click{d.Now(), a.Inputs}
			}
			return b
		})
	})
}

// ButtonsInOrder returns the buttons in the order of the Tiltfile.
func ButtonsInOrder(v store.View) []Button {
	var out []Button
	for e := range Buttons.In(v).Refs() {
		out = append(out, e.Value)
	}
	slices.SortStableFunc(out, func(a, b Button) int { return a.Order - b.Order })
	return out
}
