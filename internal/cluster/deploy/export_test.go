package deploy

// WithParallelism bounds the number of objects that one call works on at a time.
func WithParallelism(n int) Option { return func(a *Applier) { a.parallelism = n } }
