package server

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/api/server/access"
	"github.com/hone-dev/hone/internal/api/server/rest"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// permitted lets a request through whose actor has the permission that the route needs.
func (r route) permitted() http.HandlerFunc {
	_, at, _ := strings.Cut(r.pattern, " ")
	return asking(r.needs, path.Base(at), r.serve)
}

// permitted lets requests for objects through: everyone may read them, and write with PermissionWrite.
func permitted(objects http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		needs := api.PermissionWrite
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			needs = api.PermissionStatus
		}
		asking(needs, words.Clip(strings.ToLower(r.Method)+" "+r.URL.Path, access.MostEchoed), objects.ServeHTTP)(w, r)
	}
}

// requestKey is the key of the name of a request in its context.
type requestKey struct{}

// asking lets a request through whose actor has a permission. The name of the request is for events.
func asking(needs api.Permission, name string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a := access.ActorOf(r.Context())
		if !a.May(needs) {
			forbid(w, r, a, needs)
			return
		}
		next(w, r.WithContext(context.WithValue(r.Context(), requestKey{}, name)))
	}
}

// forbid refuses a request for lack of a permission.
func forbid(w http.ResponseWriter, r *http.Request, a access.Actor, needs api.Permission) {
	p := problem.New(fmt.Sprintf("token %q does not allow %s", a.Name, needs),
		fmt.Sprintf("create one that does: hone token create --allow %s,%s", api.PermissionList(a.Allow), needs))
	if needs == api.PermissionOwner {
		p = problem.New(fmt.Sprintf("token %q does not allow this: only the owner of the session may do it", a.Name), "")
	}
	if strings.HasPrefix(r.URL.Path, "/api/") {
		failBy(w, http.StatusForbidden, p)
		return
	}
	rest.Refuse(w, r, http.StatusForbidden, strings.TrimSuffix(p.Summary+"; "+p.Mend, "; "))
}

// sign adds the actor of a request to its actions. It implements rest.Writer.Sign.
func sign(ctx context.Context, actions []store.Action) []store.Action {
	actor := access.ActorOf(ctx)
	name, _ := ctx.Value(requestKey{}).(string)
	made := state.RequestMade{By: actor.Name, Request: name}
	signed, wanted := make([]store.Action, 0, len(actions)+1), false
	for _, a := range actions {
		names, wants := concerns(a)
		made.Resources = append(made.Resources, names...)
		wanted = wanted || wants
		signed = append(signed, by(actor, a))
	}
	if !wanted || actor.Name == "" {
		return signed
	}
	return append([]store.Action{made}, signed...)
}

// by notes the name of a token in an action whose updates bear it.
func by(actor access.Actor, action store.Action) store.Action {
	if actor.Owns() {
		return action
	}
	switch a := action.(type) {
	case state.ResourcesTriggered:
		a.By = actor.Name
		return a
	case state.ChangesConfirmed:
		a.By = actor.Name
		return a
	}
	return action
}

// concerns returns the resources that an action of a request is about. wants is false if the action is only the client's own business, as
// which screen it shows, and not a change that others want to know of.
func concerns(action store.Action) (names []model.ManifestName, wants bool) {
	switch a := action.(type) {
	case state.ScreenOpened, state.ScreenMoved, state.ScreenClosed, state.DeployLockTaken, state.DeployLockReleased:
		return nil, false
	case state.ResourcesTriggered:
		names = a.Names
	case state.ResourcesRestarted:
		names = a.Names
	case state.ResourcesRestored:
		names = a.Names
	case state.ChangesConfirmed:
		names = a.Names
	case state.TriggerModeChosen:
		names = a.Names
	case state.DriftAccepted:
		names = slices.Sorted(maps.Keys(a.Fields))
	case state.ResourcesSwitched:
		names = slices.Concat(a.On, a.Off)
	case state.ForwardsChosen:
		names = []model.ManifestName{a.Resource}
	}
	return names, true
}
