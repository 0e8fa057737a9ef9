// Package watch reports which files of which targets have changed: file events, ignore rules and settling.
//
// It reports at two granularities. A Watcher reports a change as soon as the file is complete, without any waiting,
// which suits live updates. A Settler collects those reports and releases them when the source tree has come to rest,
// which suits builds.
//
// A Watcher compares the files on disk with their last known state: an event is only a reason to look. So a file that
// was touched, rewritten with the same content, or restored before the next look has not changed; and events that the
// system dropped cost a comparison of the trees, not a missed change. A Spec may request touched files, too.
//
// Watcher.Sync is a fence: when it returns, the sink has every change that was made before the call. On Linux, macOS and the BSDs, one queue of
// the system holds the events of all folders in their order, and Sync puts a mark behind them. Windows has a buffer for each folder;
// there, Sync compares all files. Folders without events, such as those of remote file systems, are compared everywhere.
//
// # Concurrency
//
// New starts nothing. Watcher.Run owns the goroutine that reads the back end and the one that hashes files; it waits for both
// before it returns, and calls the sink from its own goroutine only. It reads many paths in a few goroutines, and waits for them.
// Set, Problems and Run may be called from different goroutines. Settler.Run starts no goroutine. Matchers may be shared.
//
// # Testing
//
// The behaviour table runs over both back ends on Linux: the raw inotify one and the portable one over fsnotify. So does a test of
// Sync that makes random changes, also with a back end that has no order of events, and with one that has none. The
// matcher is fuzzed against the library whose semantics it promises. A Settler keeps time with package time alone, so it
// runs under testing/synctest.
package watch
