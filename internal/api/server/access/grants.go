package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/pkg/api"
)

const (
	// mostGrants bounds the tokens that are valid at a time.
	mostGrants = 256
)

// The names of the actors who have all rights: the owner's programs, and the owner's web page. No token can have these names.
const (
	Owner = "owner"
	Page  = "page"
)

// grantName is the form of a token's name, which is shown in logs and on screens.
var grantName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

// Grants are the tokens of a session with a part of its owner's rights. Only their hashes are kept, in memory, so they end with the
// session. Its methods may be called from any goroutine.
type Grants struct {
	mu  sync.Mutex
	all []grant // guarded by mu; oldest first
}

type grant struct {
	api.Token
	hash [sha256.Size]byte
	// valid is done once the token has expired or was revoked.
	valid  context.Context
	revoke context.CancelFunc
}

// Create returns a new token of at least 128 random bits.
func (g *Grants) Create(req api.TokenRequest) (api.Token, error) {
	if err := check(req); err != nil {
		return api.Token{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.expireLocked()
	switch {
	case slices.ContainsFunc(g.all, named(req.Name)):
		return api.Token{}, problem.New(fmt.Sprintf("there is a token %q already", req.Name), "revoke it first: hone token revoke "+req.Name)
	case len(g.all) >= mostGrants:
		return api.Token{}, problem.New(fmt.Sprintf("there are %d tokens already", len(g.all)), "revoke those that are no longer needed: hone token list shows them")
	}
	now, secret := time.Now(), rand.Text()
	t := api.Token{Name: req.Name, Allow: granted(req.Allow), CreatedAt: now, ExpiresAt: now.Add(req.ForMs.Duration())}
	valid, revoke := context.WithDeadline(context.Background(), t.ExpiresAt)
	g.all = append(g.all, grant{t, sha256.Sum256([]byte(secret)), valid, revoke})
	t.Token = secret
	return t, nil
}

// granted returns permissions in their order of documentation, with status.
func granted(allow []api.Permission) (all []api.Permission) {
	for _, d := range api.Permissions {
		if d.Permission == api.PermissionStatus || slices.Contains(allow, d.Permission) {
			all = append(all, d.Permission)
		}
	}
	return all
}

// check returns an error if no token can be as requested.
func check(req api.TokenRequest) error {
	if !grantName.MatchString(req.Name) || req.Name == Owner || req.Name == Page {
		return fmt.Errorf("name: %q is no name of a token: use up to 63 letters, digits, dots, hyphens and underscores", words.Clip(req.Name, MostEchoed))
	}
	for _, p := range req.Allow {
		if !api.Grantable(p) {
			var all []api.Permission
			for _, d := range api.Permissions {
				all = append(all, d.Permission)
			}
			return fmt.Errorf("allow: %q is none of %s", words.Clip(string(p), MostEchoed), api.PermissionList(all))
		}
	}
	if req.ForMs <= 0 || req.ForMs > api.LongestToken {
		return fmt.Errorf("for: a token is valid for up to %.0f hours", api.LongestToken.Duration().Hours())
	}
	return nil
}

func named(name string) func(grant) bool { return func(g grant) bool { return g.Name == name } }

// List returns the valid tokens, the oldest first, without their secrets.
func (g *Grants) List() []api.Token {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.expireLocked()
	all := []api.Token{}
	for _, o := range g.all {
		all = append(all, o.Token)
	}
	return all
}

// Revoke ends a token, with the requests that it is used for, and reports whether it was valid.
func (g *Grants) Revoke(name string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.expireLocked()
	i := slices.IndexFunc(g.all, named(name))
	if i < 0 {
		return false
	}
	g.all[i].revoke()
	g.all = slices.Delete(g.all, i, i+1)
	return true
}

// End ends all tokens.
func (g *Grants) End() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, o := range g.all {
		o.revoke()
	}
	g.all = nil
}

// of returns the actor of a secret. It compares hashes, so that the duration reveals nothing about the tokens.
func (g *Grants) of(secret string) (a Actor, valid context.Context, ok bool) {
	if g == nil {
		return a, nil, false
	}
	hash := sha256.Sum256([]byte(secret))
	g.mu.Lock()
	defer g.mu.Unlock()
	g.expireLocked()
	i := slices.IndexFunc(g.all, func(o grant) bool { return o.hash == hash })
	if i < 0 {
		return a, nil, false
	}
	return Actor{Name: g.all[i].Name, Allow: g.all[i].Allow, token: secret}, g.all[i].valid, true
}

func (g *Grants) expireLocked() {
	g.all = slices.DeleteFunc(g.all, func(o grant) bool { return o.valid.Err() != nil })
}
