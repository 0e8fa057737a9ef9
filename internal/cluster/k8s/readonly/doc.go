// Package readonly lets other programs read a cluster, and nothing more. It gives a ServiceAccount the role view, which leaves Secrets out, in
// some namespaces, and makes kubeconfigs with tokens for it.
//
// # After a killed session
//
// A note in a folder of this machine names everything that an Access is about to create, before it creates it. The Access holds a lock on the
// note, which the kernel releases however the session ends. So Sweep tells abandoned notes for sure, and deletes their objects. Objects are
// deleted only with the UID of their creation, or with the label of their Access.
//
// The package starts no goroutine. The methods of an Access may be called from any goroutine.
package readonly
