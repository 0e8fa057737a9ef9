package sessions

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// maxName keeps names short enough to type, and the paths of sockets within the system's limit.
const maxName = 32

// validName matches valid names. Other files in the folder are not treated as files of sessions.
var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// ValidName reports whether a session can have the name: lower-case letters, digits and hyphens, at most 32 characters.
func ValidName(name string) bool { return len(name) <= maxName && validName.MatchString(name) }

// baseName returns a name derived from the folder of a Tiltfile.
func baseName(tiltfile string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(filepath.Base(filepath.Dir(tiltfile))) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	name := b.String()
	name = strings.Trim(name[:min(len(name), maxName)], "-")
	if name == "" {
		return "session"
	}
	return name
}

// candidate returns the n-th name to try: shop, shop-2, shop-3 …
func candidate(base string, n int) string {
	if n == 1 {
		return base
	}
	return fmt.Sprintf("%s-%d", base, n)
}
