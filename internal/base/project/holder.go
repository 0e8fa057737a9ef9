package project

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/hone-dev/hone/internal/base/atomicfile"
	"github.com/hone-dev/hone/internal/base/problem"
)

// holderFile keeps the name of this place, beside the folder of the records. Two places may have the same user, host and path, such as
// containers from one image, so part of the name is random.
const holderFile = "holder"

// holders returns the names under which this place holds the objects of a project: the given name, or the name of the ledger that it
// shares with other places, and its own. The caller holds the lock of the registry.
func (r *Registry) holders(ledger string) ([]string, error) {
	own, err := r.ownHolder()
	if err == nil && r.as == "" && ledger != "" {
		return []string{sharedHolder(ledger), own}, nil
	}
	switch {
	case err != nil || r.as == "" || r.as == own:
		return []string{own}, err
	case strings.ContainsFunc(r.as, func(c rune) bool { return !unicode.IsGraphic(c) || unicode.IsSpace(c) }) || len(r.as) > 100:
		return nil, problem.New(fmt.Sprintf("HONE_HOLDER is no name: %q", r.as), "use at most 100 letters, digits and signs without spaces: HONE_HOLDER=shop-ci")
	case r.as == "true": // the mark of versions without holders
		return nil, problem.New("nothing can be held by the name true", "choose another one: HONE_HOLDER=shop-ci")
	}
	return []string{r.as, own}, nil
}

// sharedHolder returns the name of all places that keep their records in one storage.
func sharedHolder(ledger string) string {
	sum := sha256.Sum256([]byte(ledger))
	return "ledger-" + hex.EncodeToString(sum[:4])
}

// ownHolder reads the name of this place, which is made up at its first use.
func (r *Registry) ownHolder() (string, error) {
	path := filepath.Join(filepath.Dir(r.dir), holderFile)
	raw, err := os.ReadFile(path)
	if name := strings.TrimSpace(string(raw)); err == nil && name != "" {
		return name, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	name := newHolder()
	return name, atomicfile.Write(path, []byte(name+"\n"), 0o600)
}

// newHolder returns a name that people recognise: alice@laptop-3f2a9c41.
func newHolder() string {
	who, host := "someone", "somewhere"
	if u, err := user.Current(); err == nil && u.Username != "" {
		who = u.Username
	}
	if name, err := os.Hostname(); err == nil && name != "" {
		host = name
	}
	b := make([]byte, 4)
	_, _ = rand.Read(b)
	return plain(who) + "@" + plain(host) + "-" + hex.EncodeToString(b)
}

// plain replaces the characters that names of users and hosts do not have on every system, and shortens the name.
func plain(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("._-", c) {
			return c
		}
		return '-'
	}, s[:min(len(s), 40)])
}
