package access

import (
	"context"
	"net/http"
	"slices"

	"github.com/hone-dev/hone/pkg/api"
)

// Actor is the one who makes a request.
type Actor struct {
	// Name is Owner, Page, or the name of a token.
	Name string
	// Allow are the permissions of a token; the owner needs none.
	Allow []api.Permission
	// token is the secret of a token with a part of the owner's rights.
	token string
}

type actorKey struct{}

// ActorOf returns the actor of a request that has come through Guard. Any other request has an actor who may do nothing.
func ActorOf(ctx context.Context) Actor {
	a, _ := ctx.Value(actorKey{}).(Actor)
	return a
}

// ByCookie reports whether a browser's cookie has let a request in.
func ByCookie(ctx context.Context) bool { return ActorOf(ctx).Name == Page }

// Owns reports whether the actor has all rights.
func (a Actor) Owns() bool { return a.Name == Owner || a.Name == Page }

// May reports whether the actor has a permission.
func (a Actor) May(p api.Permission) bool { return a.Owns() || slices.Contains(a.Allow, p) }

// Delegate gives a request, which a handler makes on behalf of an actor, the actor's token. The requests of an owner have none.
func (a Actor) Delegate(r *http.Request) {
	if a.token != "" {
		r.Header.Set("Authorization", "Bearer "+a.token)
	}
}
