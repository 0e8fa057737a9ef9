// Package podregistry keeps a registry of images in a namespace of a cluster, for clusters whose nodes know no other one.
//
//	builder's pod ── push ──▶ Service hone-registry:5000 ──▶ the registry's pod
//	hone          ── stream of the API server ─────────────▶ (the same pod)
//	node          ── pull ───▶ localhost:PORT of the node ──▶ a relay on that node ──▶ the Service
//
// Container runtimes pull from their loopback interface without TLS and without settings. So each node has a relay: a pod of a DaemonSet that
// runs the same program as a cache of the registry, with a port of the node's loopback interface. Nothing listens on other interfaces of the
// nodes, and a relay takes no images: only pods of the cluster can push.
//
// # Concurrency
//
// A Registry may be used by several goroutines. One goroutine brings the pods up, for all that wait for them; Close ends it, and waits for it.
package podregistry
