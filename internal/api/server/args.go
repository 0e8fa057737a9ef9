package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/loop/state"
)

// redactedMark begins what stands for a secret.
const redactedMark = "[redacted"

// setArgs answers POST /api/set_tiltfile_args, whose body is a list of the new arguments, as Tilt's is. An argument that
// comes back redacted in the place where it was stays what it is.
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
