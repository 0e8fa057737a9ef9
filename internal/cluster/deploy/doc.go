// Package deploy brings the Kubernetes objects of a resource into a cluster and takes them out again: it injects built
// images and hone's marks into what the Tiltfile declares, applies the result server-side along a dependency graph,
// leaves alone what is unchanged, keeps a ledger of what it applied, and deletes only what hone made.
//
// # Reading order
//
// Inject turns a model.K8sTarget into the desired objects and is pure apart from asking the mapper which kinds are
// namespaced. Applier.Apply makes the cluster hold them. Ledger remembers identities, written before objects are
// touched. Applier.Collect deletes what a resource no longer declares, Applier.Delete what the user wants gone.
//
// # Concurrency
//
// Inject, Health and the naming functions are pure. An Applier may be used by several goroutines. The goroutines that
// Apply, Delete and Prefetch start (at most the configured parallelism, plus one per object that is waited for) are
// owned by the walk that started them: the call returns only after the last of them has ended, also when its context
// is cancelled. A Ledger serialises its writers, within the process and between processes of one machine.
package deploy
