// Package imagebuild makes images and brings them to the cluster: it rewrites Dockerfiles so that they are based on what was
// just built, runs docker_build through the engine and custom_build through the user's command, names images after their
// content, and delivers them the fastest way that the cluster offers.
//
// # Concurrency
//
// Builder and Deliverer hold no state of their own and may be used by several goroutines. Build and Deliver block until
// their work, the goroutines and the processes that they started are done, and end early when their context does.
package imagebuild
