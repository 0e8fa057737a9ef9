// Package e2e drives the hone binary on a real engine and a real cluster, as a user would. It holds tests only.
//
// The tests need HONE_TEST_CLUSTER=1 and the kubeconfig of a development cluster, and the tests of the update mode "container" also
// need HONE_TEST_DOCKER_KUBECONFIG, the kubeconfig of a cluster whose pods run in the engine; make test sets up all of this. Each
// test works in a namespace and on ports of its own, waits on conditions, and leaves nothing behind.
package e2e
