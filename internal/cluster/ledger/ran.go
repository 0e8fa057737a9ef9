package ledger

import (
	"encoding/json"

	"github.com/hone-dev/hone/pkg/model"
)

// A digest of a command decides whether it is the command that ran last. The digest needs the key of the ledgers, so
// that it reveals nothing about the values of secrets in the command's environment.

// SetRan notes the commands that have run for a resource, and their inputs.
func (l *Ledger) SetRan(resource model.ManifestName, what ...any) error {
	raw, err := json.Marshal(what)
	if err != nil {
		return err
	}
	digest, err := l.Digest(raw)
	if err != nil {
		return err
	}
	return l.change(func(c *content) { c.ran[resource] = digest })
}

// Ran reports whether a command has run for a resource before, and whether it was the same one with the same inputs.
func (l *Ledger) Ran(resource model.ManifestName, what ...any) (before, same bool, err error) {
	c, err := l.content()
	if err != nil || c.ran[resource] == "" {
		return false, false, err
	}
	raw, err := json.Marshal(what)
	if err != nil {
		return true, false, err
	}
	same, err = l.Digests(raw, c.ran[resource])
	return true, same, err
}

// Digest returns the digest of a text, which reveals nothing about it to those who do not have the key of the ledger.
func (l *Ledger) Digest(text []byte) (string, error) {
	key, err := l.vault.key()
	if err != nil {
		return "", err
	}
	return sum(key, text), nil
}

// Digests reports whether a digest is the digest of a text, made with a key that is known.
func (l *Ledger) Digests(text []byte, digest string) (bool, error) {
	keys, err := l.vault.readable()
	if err != nil {
		return false, err
	}
	for _, key := range keys {
		if sum(key, text) == digest {
			return true, nil
		}
	}
	return false, nil
}
