package stdlib

import (
	"errors"
	"strings"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/tiltfile/dialect"
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/internal/tiltfile/value"
)

func failWith(c *eval.Call) (starlark.Value, error) {
	msg, err := message(c)
	if err != nil {
		return nil, err
	}
	return nil, eval.Failure(msg)
}

func warn(c *eval.Call) (starlark.Value, error) {
	var msg value.Text
	if err := c.Unpack("msg", &msg); err != nil {
		return nil, err
	}
	c.Warn(fault.Site{}, "%s", msg.Value)
	return nil, nil
}

func exit(c *eval.Call) (starlark.Value, error) {
	var code starlark.Value
	if err := c.Unpack("code??", &code); err != nil {
		return nil, err
	}
	if code != nil {
		if err := dialect.FewText(code); err != nil {
			return nil, err
		}
		logstore.Infof(c.Log, "%s", value.PlainText(code))
	}
	return nil, eval.ErrExit
}

// message joins positional arguments as print does.
func message(c *eval.Call) (string, error) {
	sep := " "
	for _, kw := range c.Kwargs {
		if kw[0] != starlark.String("sep") {
			return "", errors.New("it takes values to print, and sep=")
		}
		var t value.Text
		if err := t.Unpack(kw[1]); err != nil {
			return "", err
		}
		sep = t.Value
	}
	words := make([]string, len(c.Args))
	for i, a := range c.Args {
		if err := dialect.FewText(a); err != nil {
			return "", err
		}
		words[i] = value.PlainText(a)
	}
	return strings.Join(words, sep), nil
}
