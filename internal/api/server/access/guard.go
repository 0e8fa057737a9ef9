package access

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/words"
)

// Rules decide which requests are let through.
type Rules struct {
	// Token is the token that a request must have. Without a token, every listener that is not Local refuses all requests, so
	// that a missing token never gives access.
	Token string
	// Local is set for a listener that only the owner's programs can reach, under any host name: a unix socket. A request to it needs
	// no token. With one, it has the rights of the token.
	Local bool
	// Grants are further tokens, with a part of the owner's rights; nil for none.
	Grants *Grants
	// Hosts are names of this machine in addition to localhost and its addresses, such as the value of --host.
	Hosts []string
	// Cookie is the name of the cookie that lets a browser in. Ports share cookies, so sessions need different ones. A browser
	// gets the cookie for a ticket of Tickets, or for the token; nil Tickets let no browser in.
	Cookie  string
	Tickets *Tickets
	// Refuse answers a request that may not come in.
	Refuse func(w http.ResponseWriter, r *http.Request, code int, text string)
}

// Guard lets only those requests through that the rules allow, with deadlines for their bodies and answers.
func Guard(rules Rules, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(rules.Token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limit(w, r)
		headers(w.Header())
		if code, text := rules.refusal(r); code != 0 {
			refuse(w, r, rules, code, text)
			return
		}
		if welcome(w, r, rules, want) {
			return
		}
		actor, valid, ok := rules.actor(r, want)
		if !ok {
			w.Header().Set("WWW-Authenticate", `Bearer realm="hone"`)
			refuse(w, r, rules, http.StatusUnauthorized, "show a token of this session: Authorization: Bearer TOKEN")
			return
		}
		ctx, cancel := context.WithCancel(context.WithValue(r.Context(), actorKey{}, actor))
		defer cancel()
		if valid != nil { // a request does not outlive its token
			defer context.AfterFunc(valid, cancel)()
		}
		r = r.WithContext(ctx)
		know(r.Context())
		// The handlers do not need the token. Without it, they cannot leak it by accident.
		r.Header.Del("Authorization")
		r.Header.Del("Cookie")
		next.ServeHTTP(w, r)
	})
}

// refuse ends the connection too: a client that is not let in need not be kept.
func refuse(w http.ResponseWriter, r *http.Request, rules Rules, code int, text string) {
	w.Header().Set("Connection", "close")
	rules.Refuse(w, r, code, text)
}

func limit(w http.ResponseWriter, r *http.Request) {
	c := http.NewResponseController(w)
	now := time.Now()
	_ = c.SetWriteDeadline(now.Add(3 * WriteTimeout))
	if r.ContentLength != 0 {
		_ = c.SetReadDeadline(now.Add(bodyTimeout))
	}
}

// policy allows the page only the features of this server that it needs: no inline code, nothing from other hosts, no frames.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// headers keep browsers from guessing types, from showing answers inside of other pages, and from keeping them. No header allows
// pages of other origins to read an answer.
func headers(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
}

// refusal returns why a request is refused, independent of its token; code is 0 if it is not.
func (rules Rules) refusal(r *http.Request) (code int, text string) {
	switch origin := r.Header.Get("Origin"); {
	case !rules.Local && rules.Token == "":
		return http.StatusUnauthorized, "this listener has no token, and refuses every request"
	case !rules.Local && !rules.ours(r.Host):
		return http.StatusForbidden, fmt.Sprintf("host %q is not this machine", words.Clip(r.Host, MostEchoed))
	case len(r.Header.Values("Origin")) > 1 || origin != "" && (rules.Local || origin != scheme(r.Context())+"://"+r.Host):
		return http.StatusForbidden, fmt.Sprintf("origin %q may not use this API", words.Clip(origin, MostEchoed))
	}
	// Browsers send the site of origin even for requests without an Origin header, such as those for images and scripts.
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return http.StatusForbidden, "pages of others may not use this API"
	}
	switch {
	case len(r.RequestURI) > maxPath:
		return http.StatusRequestURITooLong, "the path is too long"
	case !clean(r.URL):
		return http.StatusBadRequest, "the path is not in its plain form"
	case r.Method == http.MethodConnect || r.Method == http.MethodTrace:
		return http.StatusMethodNotAllowed, "this is no proxy"
	case (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.ContentLength != 0:
		return http.StatusBadRequest, "a request for reading has no body"
	}
	return 0, ""
}

// ours reports whether a Host header names this machine: by address, as localhost or by one of the given names. Anyone can make
// other names resolve to this machine.
func (rules Rules) ours(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	} else if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		host = host[1 : len(host)-1]
	}
	return strings.EqualFold(host, "localhost") || net.ParseIP(host) != nil ||
		slices.ContainsFunc(rules.Hosts, func(h string) bool { return h != "" && strings.EqualFold(h, host) })
}

// clean reports whether a path means one thing only, however often it is decoded and cleaned: programs have been tricked by
// paths that a guard and a handler read differently.
func clean(u *url.URL) bool {
	p := u.Path
	if !strings.HasPrefix(p, "/") || u.Opaque != "" || strings.ContainsAny(p, "\\\x00") {
		return false
	}
	if c := path.Clean(p); c != p && c+"/" != p {
		return false
	}
	escaped := strings.ToLower(u.EscapedPath())
	return !strings.Contains(escaped, "%2f") && !strings.Contains(escaped, "%2e") && !strings.Contains(escaped, "%25")
}

// actor returns the actor of a request: by its token, by the cookie, or by the listener. valid is done once a token that is not the
// session's own has ended. Comparisons take constant time, so the duration reveals nothing about the tokens.
func (rules Rules) actor(r *http.Request, want [sha256.Size]byte) (a Actor, valid context.Context, ok bool) {
	owner := Actor{Name: Owner}
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		token = strings.TrimSpace(token)
		if rules.Token != "" && same(token, want) {
			return owner, nil, true
		}
		return rules.Grants.of(token)
	}
	if rules.Local {
		return owner, nil, true
	}
	if rules.Cookie == "" || rules.Tickets == nil {
		return a, nil, false
	}
	c, err := r.Cookie(rules.Cookie)
	return Actor{Name: Page}, nil, err == nil && same(c.Value, sha256.Sum256([]byte(rules.Tickets.cookie)))
}

func same(token string, want [sha256.Size]byte) bool {
	got := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// welcome exchanges the ticket in "/?ticket=", or the token in "/?token=", for a cookie, and reports whether that was the request.
// The browser is sent to an address without either.
func welcome(w http.ResponseWriter, r *http.Request, rules Rules, want [sha256.Size]byte) bool {
	logsIn := rules.Cookie != "" && rules.Tickets != nil
	if !logsIn || r.URL.Path != "/" || r.Method != http.MethodGet {
		return false
	}
	query, to := r.URL.Query(), "/"
	if !same(query.Get("token"), want) {
		var ok bool
		if to, ok = rules.Tickets.redeem(query.Get("ticket")); !ok {
			return false
		}
	}
	http.SetCookie(w, &http.Cookie{Name: rules.Cookie, Value: rules.Tickets.cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: scheme(r.Context()) == "https"})
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
	return true
}

// MostEchoed bounds the bytes of a client's text that an answer repeats.
const MostEchoed = 100
