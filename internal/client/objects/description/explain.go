package description

import (
	"fmt"
	"io"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/client/objects"
)

// maxDepth limits the depth of the nested fields that are shown.
const maxDepth = 20

// Explanation selects the subject and the form of an explanation.
type Explanation struct {
	// Of is a kind, optionally with the path of a field after a dot: "cmds.spec.args".
	Of string
	// APIVersion is the group and version of the kind, if several kinds have the same name.
	APIVersion string
	// Recursive also lists the nested fields.
	Recursive bool
	// Format is plaintext, or json for the session's schema.
	Format string
}

// Explain writes the session's documentation of a kind or of one of its fields.
func Explain(s *objects.Client, e Explanation, out io.Writer) error {
	k, path, err := e.split(s)
	if err != nil {
		return err
	}
	if e.Format == "json" {
		return writeSchema(s, k, path, out)
	}
	return writeFields(s, k, path, e.Recursive, out)
}

// split separates the kind from the field. Group names also contain dots, so the kind is the longest prefix that names one.
func (e Explanation) split(s *objects.Client) (objects.Kind, []string, error) {
	words := strings.Split(strings.TrimSuffix(e.Of, "."), ".")
	if e.APIVersion != "" {
		group, version, ok := strings.Cut(e.APIVersion, "/")
		if !ok {
			return objects.Kind{}, nil, problem.New(fmt.Sprintf("%q is not a group and version", e.APIVersion), "for example: --api-version tilt.dev/v1alpha1")
		}
		k, err := s.Kind(words[0] + "." + version + "." + group)
		return k, words[1:], err
	}
	for n := len(words); n > 1; n-- {
		if k, err := s.Kind(strings.Join(words[:n], ".")); err == nil {
			return k, words[n:], nil
		}
	}
	k, err := s.Kind(words[0])
	return k, words[1:], err
}
