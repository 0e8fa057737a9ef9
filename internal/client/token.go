package client

import (
	"context"
	"net/http"

	"github.com/hone-dev/hone/pkg/api"
)

// As returns a client for the same session whose requests have the rights of a token; an empty token leaves the client as it is.
func (c *Client) As(token string) *Client {
	if token == "" {
		return c
	}
	as := newClient(c.Session, token, c.dial)
	as.OnSlow = c.OnSlow
	return as
}

// CreateToken creates a token with a part of the owner's rights.
func (c *Client) CreateToken(ctx context.Context, r api.TokenRequest) (t api.Token, err error) {
	err = c.ask(ctx, http.MethodPost, "/api/token", r, &t)
	return t, err
}

// Tokens returns the tokens that CreateToken has created and that are valid, without their secrets.
func (c *Client) Tokens(ctx context.Context) (all api.TokenList, err error) {
	err = c.ask(ctx, http.MethodGet, "/api/tokens", nil, &all)
	return all, err
}

// RevokeToken ends a token, with the requests that it is used for.
func (c *Client) RevokeToken(ctx context.Context, name string) error {
	return c.ask(ctx, http.MethodPost, "/api/token/revoke", api.TokenRevocation{Name: name}, nil)
}

// Kubeconfig returns a kubeconfig that reads the namespaces of the session.
func (c *Client) Kubeconfig(ctx context.Context, r api.KubeconfigRequest) (k api.Kubeconfig, err error) {
	err = c.askWithin(ctx, updateTimeout, http.MethodPost, "/api/kubeconfig", r, &k)
	return k, err
}
