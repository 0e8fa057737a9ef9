package server

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/api/server/access"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/suggest"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// trigger answers POST /api/trigger.
func trigger(src *source, w http.ResponseWriter, r *http.Request) {
	var req api.TriggerRequest
	if !decode(w, r, &req) {
		return
	}
	names, err := known(src.View(), req.ManifestNames)
	if err != nil {
		failBy(w, http.StatusNotFound, err)
		return
	}
	if _, ok := src.hand(w, state.ResourcesTriggered{Names: names}); ok {
		done(w)
	}
}

// known returns the names in a trigger request, if all of them exist.
func known(v store.View, asked []string) ([]model.ManifestName, error) {
	if len(asked) == 0 {
		return nil, errors.New("name at least one resource")
	}
	all := []string{string(model.TiltfileName)}
	for _, e := range state.Ordered(v) {
		all = append(all, e.ID)
	}
	var names []model.ManifestName
	for _, n := range asked {
		if e, ok := state.Resources.In(v).Get(n); ok && !e.Value.Enabled {
			return nil, problem.New(fmt.Sprintf("resource %q is disabled", n), "enable it first: hone enable "+n)
		}
		if !slices.Contains(all, n) {
			return nil, unknown("resource", n, all)
		}
		names = append(names, model.ManifestName(n))
	}
	return names, nil
}

// listedNames is the maximum number of names that a mend lists.
const listedNames = 10

// unknown is the problem that a request names something that does not exist; all are the names that do.
func unknown(what, name string, all []string) *problem.Problem {
	listed := strings.Join(all[:min(len(all), listedNames)], ", ")
	mend := "there are: " + listed
	switch more := len(all) - listedNames; {
	case len(all) == 0:
		mend = "there are none at all"
	case more > 0:
		mend += fmt.Sprintf(", and %d more", more)
	}
	return problem.New(fmt.Sprintf("no %s is called %q", what, words.Clip(name, access.MostEchoed)), suggest.Mend(name, all, mend))
}
