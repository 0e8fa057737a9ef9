package logstore

import "strings"

// authorityEnds are the characters that end the part of a URL between "://" and the path, in running text.
const authorityEnds = "/?# \t\r\n\"'`<>"

// HideUserinfo replaces the password in each URL of a text: "pg://me:[redacted]@host/db". URLs of the web carry tokens as user names, too, so
// all before the "@" is replaced: "https://[redacted]@host/x.git". A reference to a variable stays.
func HideUserinfo(text string) string {
	var b strings.Builder
	done := 0
	for at := nextURL(text, 0); at >= 0; at = nextURL(text, at) {
		from, to := credential(text, at)
		at = to
		if from == to {
			continue
		}
		b.WriteString(text[done:from])
		b.WriteString(RedactedMark + "]")
		done = to
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// nextURL returns the position after the next "://" of a text from a position on, or -1.
func nextURL(text string, from int) int {
	i := strings.Index(text[from:], "://")
	if i < 0 {
		return -1
	}
	return from + i + len("://")
}

// credential returns the place of the credential in the URL whose host or user begins at a position. Without one, both ends are the same.
func credential(text string, at int) (from, to int) {
	authority := text[at:]
	if end := strings.IndexAny(authority, authorityEnds); end >= 0 {
		authority = authority[:end]
	}
	end := strings.LastIndexByte(authority, '@')
	if end < 0 || isDigest(authority[end+1:]) {
		return at, at
	}
	user, password, both := strings.Cut(authority[:end], ":")
	web := isWeb(text[:at-len("://")])
	switch {
	case !both && !web:
		return at, at
	case !both:
		password = user
	}
	if password == "" || password[0] == '$' {
		return at, at
	}
	if web {
		return at, at + end
	}
	return at + end - len(password), at + end
}

// isDigest reports whether a text begins with the digest of an image: some addresses of images have no path.
func isDigest(text string) bool {
	return strings.HasPrefix(text, "sha256:") || strings.HasPrefix(text, "sha512:")
}

// isWeb reports whether a text ends with the scheme of the web, on its own or within another one, such as "git+https".
func isWeb(text string) bool {
	tail := strings.ToLower(text[max(0, len(text)-len("https")):])
	return strings.HasSuffix(tail, "http") || strings.HasSuffix(tail, "https")
}
