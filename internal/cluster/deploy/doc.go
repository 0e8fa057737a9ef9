// Package deploy applies the Kubernetes objects of a resource to a cluster and deletes them again: it injects built
// images and hone's marks into the declared objects, applies the result server-side along a dependency graph, skips
// unchanged objects, keeps a ledger of the applied objects, and deletes only objects that hone made.
//
// # Reading order
//
// Inject turns a model.K8sTarget into the desired objects. It is pure except that it asks the mapper which kinds are
// namespaced. Applier.Apply applies them to the cluster. Ledger records the identities of objects before they are
// touched, and stores beside them the declarations that were applied last. Applier.Collect deletes the objects that a
// resource no longer declares, Applier.Delete the objects that the user wants to delete. Applier.Preview predicts the
// effects of Apply and Collect.
//
// # Concurrency
//
// Inject, Health and the naming functions are pure. An Applier may be used by several goroutines. The goroutines that
// Apply, Delete and Prefetch start (at most the configured parallelism, plus one per object that is waited for) are
// owned by the walk that started them: the call returns only after the last of them has ended, also when its context
// is cancelled. A Ledger serialises its writers, within the process and between processes of one machine.
package deploy
