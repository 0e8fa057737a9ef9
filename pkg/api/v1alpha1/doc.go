// Package v1alpha1 holds the kinds of the API group tilt.dev/v1alpha1 as a session of hone serves them: the names of the
// kinds and of their fields are those that scripts know. Objects belong to the session as a whole; there are no namespaces.
//
// Fields may be added; those that are there keep their names and meanings. Times are those of the session's machine, in UTC
// where they are written as text.
package v1alpha1

// The group and version of all kinds here.
const (
	Group   = "tilt.dev"
	Version = "v1alpha1"
)
