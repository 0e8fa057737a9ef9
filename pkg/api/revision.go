package api

import "time"

// Revision is one state of a project that was applied, as the ledger records it.
type Revision struct {
	// Number is 1 for the first revision of a project, and never given twice.
	Number int `json:"number"`
	// Cluster is the context of the declared cluster that it was applied to; empty for the project's own. The revisions of each cluster have
	// numbers of their own.
	Cluster string `json:"cluster,omitempty"`
	RevisionOrigin
	Phase RevisionPhase `json:"phase"`
	// Began and Ended are times by the clock of the machine that applied it.
	Began time.Time `json:"began,omitzero"`
	Ended time.Time `json:"ended,omitzero"`
	RevisionCounts
	// Objects is the number of recorded objects.
	Objects int `json:"objects"`
	// Failures are the resources whose last update has failed, divided by spaces.
	Failures string `json:"failures,omitempty"`
}

// RevisionOrigin says where a revision comes from.
type RevisionOrigin struct {
	// Run and Evaluation identify the operation: the session, and the number of its evaluation of the Tiltfile.
	Run        string `json:"run,omitempty"`
	Evaluation int    `json:"evaluation,omitempty"`
	// Command is the command that made the revision; empty for a project that was applied before there were revisions.
	Command string `json:"command,omitempty"`
	// By is the user and the machine.
	By string `json:"by,omitempty"`
	// Commit is the commit of the working tree, if it is under version control. Uncommitted is set if tracked files differed from it.
	Commit      string `json:"commit,omitempty"`
	Uncommitted bool   `json:"uncommitted,omitempty"`
	// Tiltfile is the path of the Tiltfile from the root of the working tree; without version control, its name. Digest is the digest of
	// the files that its evaluation has read: equal files have equal digests on every machine.
	Tiltfile string `json:"tiltfile,omitempty"`
	Digest   string `json:"digest,omitempty"`
}

// Same reports whether two revisions come from one operation.
func (o RevisionOrigin) Same(p RevisionOrigin) bool {
	return o.Run == p.Run && o.Evaluation == p.Evaluation
}

// RevisionPhase says how far a revision has come. It informs only: a process that was killed leaves the phase that it wrote last.
type RevisionPhase string

// The phases of a revision.
const (
	RevisionApplying  RevisionPhase = "applying"
	RevisionSucceeded RevisionPhase = "succeeded"
	RevisionFailed    RevisionPhase = "failed"
	RevisionCancelled RevisionPhase = "cancelled"
)

// RevisionCounts are the numbers of objects that a revision has made, changed and deleted. Forgotten ones stay in the cluster and are no
// longer the project's.
type RevisionCounts struct {
	Created   int `json:"created,omitempty"`
	Changed   int `json:"changed,omitempty"`
	Deleted   int `json:"deleted,omitempty"`
	Forgotten int `json:"forgotten,omitempty"`
}

// OnlyForgot reports whether all objects that the revision no longer has stay in the cluster.
func (c RevisionCounts) OnlyForgot() bool { return c.Forgotten > 0 && c.Deleted == 0 }
