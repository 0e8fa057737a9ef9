// Package operation carries out the changes that a command or a session makes outside of hone: it plans, records, applies and
// deletes the nodes of one graph on any runtime: the API server of Kubernetes, Docker Compose, or this machine.
//
// # Reading order
//
// A Runtime knows how to plan, record, apply, await and delete its own items. Nodes name an item of a runtime, and the nodes that it
// needs. New checks that they form no cycle. Plan, Apply and Delete walk the graph; Delete walks it backwards.
//
// # Concurrency
//
// Plan, Apply and Delete call the runtimes from the goroutines of a walk (package dag), which end before the call returns. A runtime
// is called for several items at the same time, but not for one item.
package operation
