package docker

import (
	"context"
	gofs "io/fs"
	"os"
	"time"

	"github.com/tonistiigi/fsutil/types"

	"github.com/hone-dev/hone/pkg/model"
)

// ContextFile is a file, a folder or a link of a build context, as the engine gets it.
type ContextFile struct {
	// Name is relative to the context, with slashes.
	Name string
	Mode gofs.FileMode
	// Link is the target of a link.
	Link     string
	Size     int64
	Modified time.Time
}

// EachContextFile calls each with the entries of a build context, in the order of the names. An error of each ends the walk. A
// context that cannot be read is a problem.
func EachContextFile(ctx context.Context, dir string, ignores []model.Ignore, each func(ContextFile) error) error {
	files, err := newContextFS(dir, ignores, new(gone))
	if err != nil {
		return contextProblem(dir, err)
	}
	return files.Walk(ctx, "", func(_ string, entry gofs.DirEntry, err error) error {
		if err != nil || entry == nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		st, ok := info.Sys().(*types.Stat)
		if !ok {
			return nil
		}
		return each(ContextFile{Name: st.Path, Mode: os.FileMode(st.Mode), Link: st.Linkname, Size: st.Size, Modified: time.Unix(0, st.ModTime)})
	})
}
