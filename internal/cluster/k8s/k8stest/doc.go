// Package k8stest has an in-memory cluster for tests, and the conformance suite that holds it to what the real client
// does.
//
// # Concurrency
//
// Fake is safe for use by several goroutines. Its watches run in the goroutine of the caller; the handlers of DialPod run
// in goroutines of their own, which Fake.Close waits for.
package k8stest
