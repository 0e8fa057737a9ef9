package liveupdate

import (
	"context"
	"os"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/pkg/model"
)

// Report is the result of an update in one container, as far as it got. Each time is the end of a stage of model.Stages;
// the zero time means that the stage did not take place.
type Report struct {
	// Files were copied and Deletes deleted; Same needed neither. Bytes is the size of the copied files.
	Files, Deletes, Same int
	Bytes                int64
	Sent, Applied        time.Time
	Ran, Restarted       time.Time
}

// applied returns the report of a plan whose files were unpacked while they were sent, so that only the end is known.
func applied(plan Plan, bytes int64) Report {
	return Report{Files: len(plan.Copies), Deletes: len(plan.Deletes), Bytes: bytes, Applied: time.Now()}
}

// Run runs the commands with RunAll and notes when that ended.
func (r *Report) Run(
	ctx context.Context, c model.ContainerRef, runs []model.Run, log logstore.Logger,
	exec func(context.Context, model.Cmd) error,
) error {
	if len(runs) == 0 {
		return nil
	}
	err := RunAll(ctx, c, runs, log, exec)
	r.Ran = time.Now()
	return err
}

// contents returns the present size in bytes of the files among the copies.
func contents(copies []Copy) int64 {
	var n int64
	for _, c := range copies {
		if info, err := os.Lstat(c.Local); err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
	}
	return n
}
