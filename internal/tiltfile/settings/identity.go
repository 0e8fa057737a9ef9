package settings

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/identity"
)

// The identity of a project is known before the Tiltfile is evaluated. So its functions only check that the Tiltfile was read as it means.

func (s *Settings) project(c *eval.Call) (starlark.Value, error) {
	var name string
	if err := c.Unpack("name", &name); err != nil {
		return nil, err
	}
	if err := identity.CheckName(name); err != nil {
		return nil, err
	}
	return nil, s.readAs(name, func(is identity.Identity) string { return is.Project })
}

func (s *Settings) ledgerSettings(c *eval.Call) (starlark.Value, error) {
	var url string
	if err := c.Unpack("url", &url); err != nil {
		return nil, err
	}
	return nil, s.readAs(url, func(is identity.Identity) string { return is.Ledger })
}

// readAs returns an error if the Tiltfile was not read as declaring a text.
func (s *Settings) readAs(text string, of func(identity.Identity) string) error {
	is, _, err := identity.Read(s.tiltfile)
	if err == nil && of(is) != text {
		err = fmt.Errorf("call it once, in the Tiltfile itself, outside of functions and conditions, with the text as it is: hone reads it before it evaluates the Tiltfile")
	}
	return err
}
