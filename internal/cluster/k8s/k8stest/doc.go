// Package k8stest provides an in-memory cluster for tests, and a conformance suite that runs on it and on the real
// client.
//
// # Concurrency
//
// Fake is safe for use by several goroutines. Its watches run in the goroutine of the caller; the handlers of DialPod
// run in separate goroutines, which Fake.Close waits for.
package k8stest
