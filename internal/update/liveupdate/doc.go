// Package liveupdate turns changed files into an update of a running container: it plans which files go where, which
// commands run and whether the change can be made in place at all, packs the files, and applies the plan with tar
// through Kubernetes exec or through a container engine's API.
//
// Make and InitialPlan decide; they change nothing and only look at the files that they are told about. An Updater
// carries a plan out in one container. Every error that comes out of the package falls into one Outcome, which says
// what the caller does next: show it, build a new image, or nothing because the work was cancelled.
//
// # Concurrency
//
// Updaters keep no state and may be used by any number of goroutines. An update that streams its archive starts one
// goroutine, which has ended when Update returns.
package liveupdate
