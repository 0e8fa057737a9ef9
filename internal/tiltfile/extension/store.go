package extension

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/adrg/xdg"

	"github.com/hone-dev/hone/internal/base/atomicfile"
	"github.com/hone-dev/hone/internal/base/filelock"
	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
)

// Store keeps copies of extension repositories in a folder. Its fields must not change while it is used.
type Store struct {
	// Dir is the folder, absolute; it need not exist yet.
	Dir string
	// Env ("K=V") is added to the environment of git, and wins; git itself is looked up in its PATH.
	Env []string
	// Log receives a line for each fetch, since it takes time; it may be nil.
	Log logstore.Logger

	// silence and limit override stall and fetchLimit, in tests.
	silence, limit time.Duration
}

// DefaultDir is the folder of the user's store.
func DefaultDir() string { return filepath.Join(xdg.DataHome, "hone", "extensions") }

// Checkout is a copy of a repository.
type Checkout struct {
	// Dir is the folder of its files.
	Dir string
	// Commit is the commit that was checked out; empty for folders, whose history does not matter.
	Commit string
	// Pin is the file that records the commit in use. It changes when the repository is refreshed; empty for folders.
	Pin string
}

// pin is the content of the file next to a repository's copies.
type pin struct {
	URL     string    `json:"url"`
	Ref     string    `json:"ref,omitempty"`
	Commit  string    `json:"commit"`
	Fetched time.Time `json:"fetched"`
}

// Checkout returns a copy of a repository, and fetches it if there is none yet. It waits for another process that is
// fetching the same repository. Errors that the user can fix are problems.
func (s *Store) Checkout(ctx context.Context, r Repo) (Checkout, error) {
	if dir, ok := r.folder(); ok {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return Checkout{}, problem.New(fmt.Sprintf("extension repository %q: there is no folder %s", r.Name, dir),
				"correct the url of v1alpha1.extension_repo")
		}
		return Checkout{Dir: dir}, nil
	}
	if c, ok := s.cached(r); ok {
		return c, nil
	}
	return s.locked(ctx, r, func() (Checkout, error) {
		if c, ok := s.cached(r); ok { // another process was faster
			return c, nil
		}
		return s.fetch(ctx, r)
	})
}

// Refresh fetches the present state of a repository and makes later checkouts use it. changed reports whether the
// commit differs from the one before. Folders are always up to date.
func (s *Store) Refresh(ctx context.Context, r Repo) (c Checkout, changed bool, err error) {
	if _, ok := r.folder(); ok {
		c, err = s.Checkout(ctx, r)
		return c, false, err
	}
	before, _ := s.cached(r)
	c, err = s.locked(ctx, r, func() (Checkout, error) { return s.fetch(ctx, r) })
	return c, err == nil && c.Commit != before.Commit, err
}

// Cached is a repository of which the store has a copy.
type Cached struct {
	Repo   Repo
	Commit string
	// Fetched is the time of the copy.
	Fetched time.Time
}

// List returns the repositories in the store, sorted by address. They have no names: only Tiltfiles give names.
func (s *Store) List() ([]Cached, error) {
	pins, err := filepath.Glob(filepath.Join(s.Dir, "repos", "*", pinName))
	if err != nil {
		return nil, err
	}
	var out []Cached
	for _, file := range pins {
		if p, err := readPin(file); err == nil {
			out = append(out, Cached{Repo{URL: p.URL, Ref: p.Ref}, p.Commit, p.Fetched})
		}
	}
	slices.SortFunc(out, func(a, b Cached) int { return strings.Compare(a.Repo.String(), b.Repo.String()) })
	return out, nil
}

// pinName is the name of the pin in a repository's folder; next to it are the copies, each named after its commit.
const pinName = "pin.json"

var unsafeInNames = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// home is the folder of a repository's copies: readable, and different for each address and reference.
func (s *Store) home(r Repo) string {
	sum := sha256.Sum256([]byte(r.URL + "\x00" + r.Ref))
	name := strings.Trim(unsafeInNames.ReplaceAllString(path.Base(strings.TrimSuffix(r.URL, ".git")), "-"), "-.")
	return filepath.Join(s.Dir, "repos", name+"-"+hex.EncodeToString(sum[:6]))
}

func (s *Store) cached(r Repo) (Checkout, bool) {
	file := filepath.Join(s.home(r), pinName)
	p, err := readPin(file)
	if err != nil {
		return Checkout{}, false
	}
	c := Checkout{Dir: filepath.Join(s.home(r), p.Commit), Commit: p.Commit, Pin: file}
	_, err = os.Stat(c.Dir)
	return c, err == nil
}

func readPin(file string) (pin, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return pin{}, err
	}
	var p pin
	if err := json.Unmarshal(data, &p); err != nil {
		return p, err
	}
	if !commitText.MatchString(p.Commit) {
		return p, errors.New("the commit is invalid")
	}
	return p, nil
}

// locked calls fn while it holds the lock that lets only one process fetch the repository.
func (s *Store) locked(ctx context.Context, r Repo, fn func() (Checkout, error)) (Checkout, error) {
	home := s.home(r)
	if err := os.MkdirAll(home, 0o755); err != nil {
		return Checkout{}, problem.Wrap(err, "cannot keep copies of extension repositories in "+s.Dir,
			"make the folder writable, or set XDG_DATA_HOME to one that is")
	}
	unlock, err := filelock.Lock(ctx, home+".lock")
	if err != nil {
		return Checkout{}, fmt.Errorf("wait for the fetch of %s by another process: %w", r, err)
	}
	defer unlock()
	return fn()
}

// fetch copies the present state of the repository, and pins it.
func (s *Store) fetch(ctx context.Context, r Repo) (Checkout, error) {
	if s.Log != nil {
		logstore.Infof(s.Log, "Fetching extensions from %s", r)
	}
	home := s.home(r)
	tmp, err := os.MkdirTemp(home, ".fetch-")
	if err != nil {
		return Checkout{}, fmt.Errorf("fetch extensions from %s: %w", r, err)
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	commit, err := s.clone(ctx, r, tmp)
	if err != nil {
		return Checkout{}, err
	}
	dir := filepath.Join(home, commit)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		err = os.Rename(tmp, dir)
		if err != nil {
			return Checkout{}, fmt.Errorf("fetch extensions from %s: %w", r, err)
		}
	}
	old, _ := s.cached(r)
	file := filepath.Join(home, pinName)
	if err := writePin(file, pin{r.URL, r.Ref, commit, time.Now().UTC().Truncate(time.Second)}); err != nil {
		return Checkout{}, fmt.Errorf("fetch extensions from %s: %w", r, err)
	}
	dropCopies(home, commit, old.Commit)
	return Checkout{Dir: dir, Commit: commit, Pin: file}, nil
}

func writePin(file string, p pin) error {
	data, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(file, append(data, '\n'), 0o600)
}

// dropCopies removes all copies except the newest and the one before it, which a running session may still read. It
// also removes the leftovers of killed processes. A copy that cannot be removed only costs space.
func dropCopies(home string, keep ...string) {
	entries, err := os.ReadDir(home)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsDir() && !slices.Contains(keep, e.Name()) {
			_ = os.RemoveAll(filepath.Join(home, e.Name()))
		}
	}
}

// place makes a folder atomically; if another process places the same folder first, that one stays.
func (s *Store) place(dir string, fill func(tmp string) error) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), ".new-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	if err := fill(tmp); err != nil {
		return err
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	if err := os.Rename(tmp, dir); err != nil {
		if _, statErr := os.Stat(dir); statErr != nil {
			return err
		}
	}
	return nil
}
