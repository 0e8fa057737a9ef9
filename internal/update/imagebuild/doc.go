// Package imagebuild builds images and delivers them to the cluster: it rewrites Dockerfiles so that they are based on
// the images that were just built, runs docker_build through the engine and custom_build through the user's command,
// names images after their content, and delivers them in the fastest way that the cluster offers.
//
// # Concurrency
//
// Builder and Deliverer keep no state in memory and are safe for concurrent use. Build and Deliver block until their work, the
// goroutines and the processes that they started are done, and end early when their context does.
package imagebuild
