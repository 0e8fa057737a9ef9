package intent

import (
	"fmt"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
)

// Click clicks a button. Inputs that are not given have their defaults; model.Button.Resolve documents the values that they take.
func Click(v store.View, button string, inputs map[string]any) (state.ButtonClicked, error) {
	b := state.Buttons.In(v).Ref(button)
	switch {
	case b == nil:
		return state.ButtonClicked{}, unknownButton(v, button)
	case b.Value.Disabled:
		return state.ButtonClicked{}, &Refusal{Impossible, fmt.Errorf("button %q is disabled", words.Clip(button, quoted))}
	}
	resolved, err := b.Value.Resolve(inputs)
	if err != nil {
		return state.ButtonClicked{}, &Refusal{Invalid, err}
	}
	return state.ButtonClicked{Button: button, Inputs: resolved}, nil
}

func unknownButton(v store.View, name string) error {
	var all []string
	for _, b := range state.ButtonsInOrder(v) {
		all = append(all, b.Name)
	}
	if len(all) == 0 {
		return &Refusal{Unknown, problem.New("the Tiltfile declares no buttons", "declare one: load('ext://uibutton', 'cmd_button')")}
	}
	return NoSuch("button", name, all)
}
