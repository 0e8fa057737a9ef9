package stdlib

import (
	"regexp"
	"strings"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/value"
)

var shellSafe = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// quoteWord quotes any text as one word of a shell.
func quoteWord(c *eval.Call) (starlark.Value, error) {
	var s value.Text
	if err := c.Unpack("s", &s); err != nil {
		return nil, err
	}
	if shellSafe.MatchString(s.Value) {
		return starlark.String(s.Value), nil
	}
	return starlark.String("'" + strings.ReplaceAll(s.Value, "'", `'"'"'`) + "'"), nil
}
