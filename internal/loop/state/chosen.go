package state

import (
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// ChosenIn returns a predicate for the resources that an operation on a Tiltfile concerns: all of them, including resources that
// are no longer declared, or a choice of the declared ones. An operation on a choice leaves all other resources as they are.
func ChosenIn(tf model.Tiltfile) func(model.ManifestName) bool {
	enabled := EnabledNames(tf)
	return func(name model.ManifestName) bool { return enabled == nil || enabled[name] }
}

// Chosen is ChosenIn for a session, in which the user switches resources, too. A resource that has left the Tiltfile is still
// chosen if the session has run it.
func Chosen(v store.View) func(model.ManifestName) bool {
	all := TheTiltfile(v).Result.Enabled == nil
	return func(name model.ManifestName) bool {
		e := Resources.In(v).Ref(string(name))
		if e == nil {
			return all
		}
		r, stays := Staying(e)
		return r.Enabled || all && !stays
	}
}
