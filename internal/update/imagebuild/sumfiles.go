package imagebuild

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/zeebo/xxh3"

	"github.com/hone-dev/hone/pkg/model"
)

// SumFiles returns a sum of the content of the files that something depends on.
func SumFiles(ctx context.Context, spec model.WatchSpec) (string, error) {
	in := inputs{to: sha256.New(), look: xxh3.New()}
	err := in.watched(ctx, spec, "")
	return hex.EncodeToString(in.to.Sum(nil)), err
}
