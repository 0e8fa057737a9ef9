package deploy

import (
	"context"

	"github.com/hone-dev/hone/internal/base/logstore"
)

// Warnings routes the warnings that the API server sends along with its answers (deprecated versions, pod security …)
// into the log of the resource whose request caused them. Set it as the WarningHandlerWithContext of the rest.Config.
// It drops warnings of requests that do not come from this package.
type Warnings struct{}

type loggerKey struct{}

// withLogger returns a context whose requests report warnings about the named object to l.
func withLogger(ctx context.Context, l logstore.Logger, object string) context.Context {
	return context.WithValue(ctx, loggerKey{}, warningSink{l, object})
}

type warningSink struct {
	l      logstore.Logger
	object string
}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext. Code 299 is the only one that Kubernetes uses.
func (Warnings) HandleWarningHeaderWithContext(ctx context.Context, code int, _, text string) {
	sink, ok := ctx.Value(loggerKey{}).(warningSink)
	if !ok || code != 299 || text == "" {
		return
	}
	logstore.Warnf(sink.l, "%s: %s", sink.object, text)
}
