package ledger

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/hone-dev/hone/internal/cluster/storage"
)

// Key names the ledger of one project in one cluster.
type Key struct {
	// Cluster is the UID of the namespace kube-system, so that a cluster that was recreated under the same name does
	// not inherit the records of its predecessor. If the user may not read that namespace, it is another name that
	// stays the same for the cluster's lifetime.
	Cluster string
	// Project is the ID of a project.
	Project string
}

func (k Key) check() error {
	complete := k.Cluster != "" && k.Project != ""
	isName := !strings.ContainsAny(k.name(), `/\`) && storage.CheckName(k.head()) == nil
	if !complete || !isName {
		return fmt.Errorf("ledger key %+v: cluster and project must be set and free of slashes", k)
	}
	return nil
}

func (k Key) name() string { return k.Cluster + "-" + k.Project }

// head is the name of the document with the records.
func (k Key) head() string { return k.name() + headSuffix }

const headSuffix = ".json"

// revision is the name of the document with the objects of a revision.
func (k Key) revision(n int) string { return fmt.Sprintf("%s%08d", k.revisions(), n) }

// revisions begins the names of the documents of all revisions.
func (k Key) revisions() string { return k.name() + ".revisions/" }

// notes is the name of the document, or of the folder, with the notes.
func (k Key) notes() string { return k.name() + ".applied" }

// lease is the name of the document with the lease of a namespace.
func (k Key) lease(namespace string) string {
	return k.leases() + cmp.Or(namespace, "default")
}

// leases begins the names of all leases.
func (k Key) leases() string { return k.name() + ".leases/" }
