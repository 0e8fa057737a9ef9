// Package liveupdate turns changed files into an update of a running container: it plans which files go where, which
// commands run and whether the change can be made in place at all, packs the files, and applies the plan with tar
// through Kubernetes exec or through a container engine's API.
//
// Make and InitialPlan decide; they change nothing and look only at the files named to them. An Updater carries out a
// plan in one container. Every error from the package has one Outcome, which determines the caller's next step: show the
// error, build a new image, or do nothing because the work was cancelled.
//
// # Concurrency
//
// Updaters keep no state and are safe for concurrent use. An update that streams its archive starts one goroutine, which
// has ended when Update returns.
package liveupdate
