package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/loop/state"
)

// redactedMark is the beginning of the text that replaces a secret.
const redactedMark = "[redacted"

// setArgs handles POST /api/set_tiltfile_args, whose body is the list of the new arguments, as in Tilt. An argument that is
// sent back redacted at its previous position keeps its value.
func setArgs(src *source, w http.ResponseWriter, r *http.Request) {
	var args []string
	if !decode(w, r, &args) {
		return
	}
	v := src.View()
	was, redactor := state.TheSession(v).Args, src.Redactor(v)
	for i, a := range args {
		if i < len(was) && a == redactor.Text(was[i]) {
			args[i] = was[i]
		} else if strings.Contains(a, redactedMark) {
			fail(w, http.StatusBadRequest, "an argument holds a redacted value: write what it stands for")
			return
		}
	}
	if !slices.Equal(args, was) && !src.take(w, r, state.TiltfileArgsSet{Args: args}) {
		return
	}
	done(w)
}
