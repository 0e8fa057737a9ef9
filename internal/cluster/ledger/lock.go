package ledger

import (
	"github.com/hone-dev/hone/internal/base/filelock"
)

// lockFile takes the lock of a file that several processes write. The wait does not end with the context of the
// operation that writes: applied objects must be recorded even if that operation is cancelled.
func lockFile(path string) (unlock func(), err error) {
	ctx, cancel := patience()
	defer cancel()
	return filelock.Lock(ctx, path+".lock")
}
