package intent

import (
	"slices"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
)

// SetArguments evaluates the Tiltfile with the arguments args; changed is false if it has them already. An argument must not
// contain a redacted secret: callers that show redacted arguments put the secrets back first.
func SetArguments(v store.View, args []string) (a state.TiltfileArgsSet, changed bool, err error) {
	if slices.ContainsFunc(args, logstore.Redacted) {
		return a, false, invalid("an argument contains a redacted value: replace it with the actual value")
	}
	return state.TiltfileArgsSet{Args: args}, !slices.Equal(args, state.TheSession(v).Args), nil
}
