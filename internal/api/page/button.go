package page

import (
	"strconv"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// Buttons returns the buttons of the Tiltfile as the API shows them, in its order.
func Buttons(v store.View) []api.Button {
	out := []api.Button{}
	for _, b := range state.ButtonsInOrder(v) {
		shown := api.Button{Name: b.Name, Text: b.Text, ComponentType: string(b.Place.Type), ComponentID: b.Place.Component,
			IconName: b.IconName, IconSVG: b.IconSVG, Disabled: b.Disabled, RequiresConfirmation: b.RequiresConfirmation,
			InputsAsModal: b.InputsAsModal, Clicks: b.Clicks, LastClickedAt: b.Click.At}
		for _, in := range b.Inputs {
			shown.Inputs = append(shown.Inputs, input(in))
		}
		out = append(out, shown)
	}
	return out
}

func input(in model.Input) api.Input {
	out := api.Input{Name: in.Name, Label: in.Label, Type: string(in.Kind), Default: in.Default, Placeholder: in.Placeholder, Choices: in.Choices}
	switch in.Kind {
	case model.InputBool:
		out.Default = strconv.FormatBool(in.On)
	case model.InputHidden:
		out.Default = ""
	case model.InputText, model.InputChoice: // the default is shown as it is
	}
	return out
}
