// Package logquery is the language in which people select log lines, on the screen, on the page, in commands and in the API. Words must
// all match:
//
//	word             a part of the text as it is seen, regardless of letter case
//	"some words"     the same, with blanks
//	/…/              a regular expression
//	level:warn       lines of at least this level
//	source:build     lines of builds, or of the runtime
//	container:, pod: a part of the name
//	since:5m         lines of the last five minutes, or since a time such as 2026-01-02T15:04:05Z
//	status>=500      a field of a JSON or logfmt line
//
// An exclamation mark before a word excludes its matches.
package logquery
