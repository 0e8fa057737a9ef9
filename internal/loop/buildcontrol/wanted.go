package buildcontrol

import (
	"github.com/hone-dev/hone/internal/loop/store"
)

// Wanted returns the resources that want an update, whether it may begin or something holds it, in the order of the Tiltfile.
func Wanted(v store.View) (out []Candidate) {
	d := gather(v, nil)
	for _, r := range d.resources {
		if r.reason != 0 && !r.leaving {
			out = append(out, d.candidate(r))
		}
	}
	return out
}
