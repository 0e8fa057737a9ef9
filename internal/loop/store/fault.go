package store

import (
	"os"
	"strings"
	"sync"
)

// HONE_FAULT=NAME:panic makes the subscriber NAME panic on its first start, so that people and tests can see how a running
// session copes with a crash (reference check C6).
var faults = sync.OnceValue(func() *faultSet {
	f := &faultSet{pending: map[string]bool{}}
	for _, one := range strings.Split(os.Getenv("HONE_FAULT"), ",") {
		if name, ok := strings.CutSuffix(one, ":panic"); ok {
			f.pending[name] = true
		}
	}
	return f
})

type faultSet struct {
	mu      sync.Mutex
	pending map[string]bool
}

func fault(name string) error {
	f := faults()
	f.mu.Lock()
	hit := f.pending[name]
	delete(f.pending, name)
	f.mu.Unlock()
	if hit {
		panic("fault asked for by HONE_FAULT")
	}
	return nil
}
