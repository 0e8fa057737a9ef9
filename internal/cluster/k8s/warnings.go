package k8s

import (
	"context"
	"log/slog"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// maxWarnings bounds the different warnings that are recorded and shown.
const maxWarnings = 1000

// warnings passes each different warning of the API server to a function once.
type warnings struct {
	warn func(string)

	mu   sync.Mutex
	seen map[string]bool // guarded by mu
}

func newWarnings(warn func(string)) *warnings {
	return &warnings{warn: warn, seen: map[string]bool{}}
}

// HandleWarningHeaderWithContext implements client-go's warning handler. 299 is the only code that Kubernetes uses.
func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, code int, _, text string) {
	if w.warn == nil || code != 299 || text == "" {
		return
	}
	w.mu.Lock()
	fresh := !w.seen[text] && len(w.seen) < maxWarnings
	if fresh {
		w.seen[text] = true
	}
	w.mu.Unlock()
	if fresh {
		w.warn(text)
	}
}

// RouteKlog sends everything that client-go logs to logger, and nothing to stderr. A nil logger drops it. It changes
// process-wide state: call it once, before the first client is made.
func RouteKlog(logger *slog.Logger) {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	klog.LogToStderr(false)
	klog.SetLoggerWithOptions(logr.FromSlogHandler(logger.Handler()), klog.ContextualLogger(true))
}

// quiet returns ctx with a logger that drops client-go's messages: callers receive the errors as return values.
func quiet(ctx context.Context) context.Context { return klog.NewContext(ctx, logr.Discard()) }
