// Package v1alpha1 defines the kinds of the API group tilt.dev/v1alpha1 as a session of hone serves them. The names of kinds and
// fields are the same as in Tilt, so that existing scripts work. Objects are not namespaced: they belong to the session as a whole.
//
// New fields may be added; existing fields keep their names and meanings. Times are taken from the clock of the session's machine
// and are written in UTC.
package v1alpha1

// The group and version of all kinds here.
const (
	Group   = "tilt.dev"
	Version = "v1alpha1"
)
