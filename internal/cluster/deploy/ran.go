package deploy

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"

	"github.com/hone-dev/hone/pkg/model"
)

// A digest of a command decides whether it is the command that ran last. The digest needs the key of the ledgers, so
// that it reveals nothing about the values of secrets in the command's environment.

// SetRan notes the commands that have run for a resource, and their inputs.
func (l *Ledger) SetRan(resource model.ManifestName, what ...any) error {
	key, err := vaultOf(filepath.Dir(l.path)).make()
	if err != nil {
		return err
	}
	sum, err := sumOf(key, what)
	if err != nil {
		return err
	}
	return l.change(func(c content) { c.ran[resource] = sum })
}

// Ran reports whether a command has run for a resource before, and whether it was the same one with the same inputs.
func (l *Ledger) Ran(resource model.ManifestName, what ...any) (before, same bool, err error) {
	l.mu.Lock()
	c, err := l.current()
	l.mu.Unlock()
	if err != nil || c.ran[resource] == "" {
		return false, false, err
	}
	key, err := vaultOf(filepath.Dir(l.path)).read()
	if err != nil || key == nil {
		return true, false, err
	}
	sum, err := sumOf(key, what)
	return true, sum == c.ran[resource], err
}

func sumOf(key []byte, what []any) (string, error) {
	raw, err := json.Marshal(what)
	if err != nil {
		return "", err
	}
	h := hmac.New(sha256.New, key)
	h.Write(raw)
	return hex.EncodeToString(h.Sum(nil)), nil
}
