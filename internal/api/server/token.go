package server

import (
	"fmt"
	"net/http"

	"github.com/hone-dev/hone/internal/api/server/access"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/pkg/api"
)

// createToken handles POST /api/token. A page cannot create tokens: its rights end with its cookie.
func (s *Subscriber) createToken(w http.ResponseWriter, r *http.Request) {
	var req api.TokenRequest
	if !decode(w, r, &req) {
		return
	}
	if access.ByCookie(r.Context()) {
		fail(w, http.StatusForbidden, "a web page cannot create tokens")
		return
	}
	t, err := s.options.Grants.Create(req)
	if err != nil {
		code := http.StatusBadRequest
		if _, ok := problem.Of(err); ok {
			code = http.StatusConflict
		}
		failBy(w, code, err)
		return
	}
	s.options.Log.Info("token created", "name", t.Name, "allow", api.PermissionList(t.Allow), "expires", t.ExpiresAt)
	respond(w, t)
}

// tokens handles GET /api/tokens.
func (s *Subscriber) tokens(w http.ResponseWriter, _ *http.Request) {
	respond(w, api.TokenList{Tokens: s.options.Grants.List()})
}

// revokeToken handles POST /api/token/revoke.
func (s *Subscriber) revokeToken(w http.ResponseWriter, r *http.Request) {
	var req api.TokenRevocation
	if !decode(w, r, &req) {
		return
	}
	if !s.options.Grants.Revoke(req.Name) {
		failBy(w, http.StatusNotFound, problem.New(fmt.Sprintf("this session has no token %q", words.Clip(req.Name, access.MostEchoed)), "hone token list shows those that are valid"))
		return
	}
	s.options.Log.Info("token revoked", "name", req.Name)
	done(w)
}
