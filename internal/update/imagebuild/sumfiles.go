package imagebuild

import (
	"context"
	"encoding/hex"

	"github.com/hone-dev/hone/pkg/model"
)

// SumFiles returns a sum of the content of the files that something depends on.
func SumFiles(ctx context.Context, spec model.WatchSpec) (string, error) {
	in := newInputs()
	err := in.watched(ctx, spec, "")
	return hex.EncodeToString(in.to.Sum(nil)), err
}
