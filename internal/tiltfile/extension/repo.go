package extension

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
)

// DefaultRepo is the name of the repository for every name for which no other is declared.
const DefaultRepo = "default"

// PublicURL is the address of the default repository, unless the Tiltfile declares another.
const PublicURL = "https://github.com/tilt-dev/tilt-extensions"

// Public is the default repository of a Tiltfile that declares none.
var Public = Repo{Name: DefaultRepo, URL: PublicURL}

// Repo is a repository of extensions: each of its folders with a Tiltfile is an extension.
type Repo struct {
	// Name is the name by which extensions refer to it; DefaultRepo is special.
	Name string
	// URL is its address: https://, http://, ssh:// or user@host:path for git, file:///path for a folder of this
	// machine.
	URL string
	// Ref is the branch, tag or commit to use; empty means the repository's default branch. Folders have none.
	Ref string
	// LoadHost is the first part of the names in this repository: with "shop", ext://shop/db is its folder db.
	LoadHost string
	// GitSubpath is the folder of the repository that contains the extensions; empty means its top.
	GitSubpath string
}

// Extension gives a folder of a repository a name of its own.
type Extension struct {
	Name string
	// RepoName is the name of a Repo; empty means DefaultRepo.
	RepoName string
	// RepoPath is the folder in the repository; empty means Name.
	RepoPath string
}

// scpForm is the short form of ssh addresses, "git@host:path".
var scpForm = regexp.MustCompile(`^[A-Za-z0-9._-]+@[A-Za-z0-9.-]+:[^:].*$`)

// check refuses a repository that cannot be used.
func (r Repo) check() error {
	if r.Name == "" {
		return errors.New("the name of the repository is empty")
	}
	if strings.HasPrefix(r.Ref, "-") || strings.ContainsAny(r.Ref, " \t\n:") {
		return fmt.Errorf("ref: %q is not a branch, a tag or a commit", r.Ref)
	}
	if r.GitSubpath != "" {
		if err := checkPath(r.GitSubpath); err != nil {
			return fmt.Errorf("git_subpath: %w", err)
		}
	}
	if r.LoadHost != "" {
		if err := checkPath(r.LoadHost); err != nil {
			return fmt.Errorf("load_host: %w", err)
		}
	}
	if dir, ok := r.folder(); ok {
		if !filepath.IsAbs(dir) {
			return problem.New(fmt.Sprintf("url: %s is not absolute", r.URL),
				fmt.Sprintf("url='file://' + os.path.abspath('%s')", dir))
		}
		return nil
	}
	if scpForm.MatchString(r.URL) {
		return nil
	}
	u, err := url.Parse(r.URL)
	if err == nil && u.Host != "" && slices.Contains([]string{"https", "http", "ssh"}, u.Scheme) {
		return nil
	}
	return fmt.Errorf("url: %q is not the address of a repository, such as %q or \"file:///home/me/extensions\"", logstore.HideUserinfo(r.URL), PublicURL)
}

// folder returns the folder that a file:// address names.
func (r Repo) folder() (string, bool) {
	dir, ok := strings.CutPrefix(r.URL, "file://")
	return filepath.FromSlash(dir), ok
}

// String describes the repository for people, without the password that its address may hold.
func (r Repo) String() string {
	if r.Ref == "" {
		return logstore.HideUserinfo(r.URL)
	}
	return fmt.Sprintf("%s at %s", logstore.HideUserinfo(r.URL), r.Ref)
}

// checkPath refuses names that would lead out of a repository.
func checkPath(name string) error {
	if !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\\:\x00") {
		return fmt.Errorf("%q is not a name such as \"restart_process\" or \"tests/golang\"", name)
	}
	return nil
}
