package deploy

import (
	"context"
	"fmt"
	"time"

	"github.com/hone-dev/hone/internal/base/filelock"
)

// lockPatience bounds the wait of a write for the write of another process. A write takes milliseconds: a process
// that holds the lock for longer is suspended, or its disk is stuck.
const lockPatience = 30 * time.Second

// lockBeside takes the lock of a file that several processes write. The wait does not end with the context of the
// operation that writes: applied objects must be recorded even if that operation is cancelled.
func lockBeside(path string) (unlock func(), err error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), lockPatience, fmt.Errorf("another process has held it for %s", lockPatience))
	defer cancel()
	return filelock.Lock(ctx, path+".lock")
}
