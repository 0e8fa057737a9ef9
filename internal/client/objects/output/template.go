package output

import (
	"os"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
)

// content returns the argument of a format, which may be the path of a file.
func content(format, of string) (string, error) {
	if !strings.HasSuffix(format, "file") {
		return of, nil
	}
	text, err := os.ReadFile(of)
	if err != nil {
		return "", problem.Wrap(err, "cannot read the template", "name a file: -o "+format+"=PATH")
	}
	return string(text), nil
}
