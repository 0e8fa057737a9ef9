package tiltfile

import (
	"errors"
	"strings"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/base/logstore"
)

func failWith(c *call) (starlark.Value, error) {
	msg, err := message(c)
	if err != nil {
		return nil, err
	}
	return nil, failure(msg)
}

func warn(c *call) (starlark.Value, error) {
	var msg text
	if err := c.unpack("msg", &msg); err != nil {
		return nil, err
	}
	c.warn(site{}, "%s", msg.value)
	return nil, nil
}

func exit(c *call) (starlark.Value, error) {
	var code starlark.Value
	if err := c.unpack("code??", &code); err != nil {
		return nil, err
	}
	if code != nil {
		logstore.Infof(c.log, "%s", plainText(code))
	}
	return nil, errExit
}

// message joins positional arguments as print does.
func message(c *call) (string, error) {
	sep := " "
	for _, kw := range c.kwargs {
		if kw[0] != starlark.String("sep") {
			return "", errors.New("it takes values to print, and sep=")
		}
		var t text
		if err := t.Unpack(kw[1]); err != nil {
			return "", err
		}
		sep = t.value
	}
	words := make([]string, len(c.args))
	for i, a := range c.args {
		words[i] = plainText(a)
	}
	return strings.Join(words, sep), nil
}
