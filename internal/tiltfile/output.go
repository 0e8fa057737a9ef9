package tiltfile

import (
	"errors"
	"strings"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/base/logstore"
)

// errExit ends the evaluation of every file without being an error.
var errExit = errors.New("exit")

// failure is what fail() says. It stands alone: the user wrote it for the user.
type failure string

func (f failure) Error() string { return string(f) }

func failBuiltin(c *call) (starlark.Value, error) {
	msg, err := c.message()
	if err != nil {
		return nil, err
	}
	return nil, failure(msg)
}

func warnBuiltin(c *call) (starlark.Value, error) {
	var msg text
	if err := c.unpack("msg", &msg); err != nil {
		return nil, err
	}
	c.warn(site{}, "%s", msg.value)
	return nil, nil
}

func exitBuiltin(c *call) (starlark.Value, error) {
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
func (c *call) message() (string, error) {
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

// plainText is a value as print shows it: strings and blobs without quotes.
func plainText(v starlark.Value) string {
	if t, ok := starlark.AsString(v); ok {
		return t
	}
	return v.String()
}
