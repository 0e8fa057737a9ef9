// Package stream is the subscriber that prints log lines as they come, for terminals without a screen, pipes and CI.
//
// # Concurrency
//
// Subscriber.Run works on the goroutine that calls it and starts none. Its reading position outlives a restart, so that
// no line is printed twice or left out.
package stream
