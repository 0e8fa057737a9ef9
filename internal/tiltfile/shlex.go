package tiltfile

import (
	"regexp"
	"strings"

	"go.starlark.net/starlark"
)

var shellSafe = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// quoteWord makes one word of a shell of any text.
func quoteWord(c *call) (starlark.Value, error) {
	var s text
	if err := c.unpack("s", &s); err != nil {
		return nil, err
	}
	if shellSafe.MatchString(s.value) {
		return starlark.String(s.value), nil
	}
	return starlark.String("'" + strings.ReplaceAll(s.value, "'", `'"'"'`) + "'"), nil
}
