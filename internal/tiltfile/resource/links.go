package resource

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/value"
	"github.com/hone-dev/hone/pkg/model"
)

// link is the result of link().
type link struct {
	value.Opaque
	model.Link
}

var _ starlark.HasAttrs = link{}

// Attr implements starlark.HasAttrs.
func (l link) Attr(name string) (starlark.Value, error) {
	switch name {
	case "url":
		return starlark.String(l.URL), nil
	case "name":
		return starlark.String(l.Name), nil
	}
	return nil, nil // the interpreter reports it, and suggests the attribute that was probably meant
}

// AttrNames implements starlark.HasAttrs.
func (link) AttrNames() []string { return []string{"name", "url"} }

// String shows the link as it was made.
func (l link) String() string { return fmt.Sprintf("link(%q, %q)", l.URL, l.Name) }

func newLinkValue(c *eval.Call) (starlark.Value, error) {
	var address, name string
	if err := c.Unpack("url", &address, "name??", &name); err != nil {
		return nil, err
	}
	l, err := newLink(address, name)
	return link{value.Opaque{Kind: "link"}, l}, err
}

// newLink checks an address; the default scheme is http.
func newLink(address, name string) (model.Link, error) {
	if address == "" {
		return model.Link{}, errors.New("the address of the link is empty")
	}
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	if u, err := url.Parse(address); err != nil || u.Host == "" && u.Path == "" {
		return model.Link{}, fmt.Errorf("%q is not an address", address)
	}
	return model.Link{URL: address, Name: name}, nil
}

// links takes a link, an address, or a list of those.
type links struct{ List []model.Link }

// Unpack implements starlark.Unpacker.
func (l *links) Unpack(v starlark.Value) error {
	for _, e := range value.OneOrMany(v) {
		switch e := e.(type) {
		case link:
			l.List = append(l.List, e.Link)
		case starlark.String:
			made, err := newLink(string(e), "")
			if err != nil {
				return err
			}
			l.List = append(l.List, made)
		default:
			return fmt.Errorf("got %s, want an address or link()", e.Type())
		}
	}
	return nil
}
