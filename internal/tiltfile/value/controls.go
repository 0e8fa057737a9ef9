package value

import (
	"strings"
	"unicode"
)

// HasControls reports whether a name has line breaks or other control characters, or characters that change the direction of the
// text. On a screen, such a name would look like another one.
func HasControls(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Bidi_Control) })
}
