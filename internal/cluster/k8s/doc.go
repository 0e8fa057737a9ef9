// Package k8s is hone's thin client of a Kubernetes cluster: it reads the kubeconfig, says what kind of cluster it is, and
// offers exec, port connections, logs and watches in hone's own terms, so that client-go stays inside this package.
//
// Interface is what consumers should ask for; Client is the real thing, k8stest.Fake the one for tests. The conformance
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
// k8stest.Conformance runs on the fake always, and with HONE_TEST_CLUSTER set on a real cluster, once directly and once
// through a proxy that lets no WebSocket through.
package k8s
