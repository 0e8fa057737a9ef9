package deploy

import "github.com/hone-dev/hone/internal/cluster/ledger"

// Memory is a ledger with notes about the objects that were applied: their declarations, the state in which adopted ones were found, and
// the fields that are left to others. Like the ledger, it is safe for concurrent use.
type Memory struct{ *ledger.Ledger }
