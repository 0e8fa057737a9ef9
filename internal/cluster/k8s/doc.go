// Package k8s is a thin client of a Kubernetes cluster: it reads the kubeconfig, detects the kind of cluster, and
// offers exec, port connections, logs and watches in hone's own types, so that client-go stays inside this package.
//
// Consumers should accept Interface. Client implements it for a real cluster, k8stest.Fake for tests. The conformance
// suite in k8stest runs on both.
//
// # Concurrency
//
// All methods of Client are safe for use by several goroutines. The Watch methods block until their context is done and
// own every goroutine that they start; their callbacks are called one at a time. Exec waits for its goroutines, except
// for one that is blocked inside the caller's Stdin. The connections that DialPod returns belong to a tunnel per pod; the
// Client owns the tunnels, and Close ends them and waits for them.
//
// # Testing
//
// k8stest.Conformance always runs on the fake. With HONE_TEST_CLUSTER set it also runs on a real cluster, once directly
// and once through a proxy that blocks WebSockets.
package k8s
