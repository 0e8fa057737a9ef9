package extension

import "strings"

// Scheme is the prefix of the names of extensions in load statements.
const Scheme = "ext://"

// EmbeddedPath is the path under which an extension that is part of hone runs. There is no such file.
func EmbeddedPath(name string) string { return Scheme + name + "/" + Entry }

// IsEmbeddedPath reports whether a path belongs to an extension that is part of hone.
func IsEmbeddedPath(path string) bool { return strings.HasPrefix(path, Scheme) }

// EmbeddedName is the name of the extension that runs under an embedded path.
func EmbeddedName(path string) string {
	return strings.TrimSuffix(strings.TrimPrefix(path, Scheme), "/"+Entry)
}
