package ledger

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hone-dev/hone/internal/base/atomicfile"
	"github.com/hone-dev/hone/internal/base/problem"
)

// KeyVariable and KeyFileVariable are the environment variables with the user's keys, and with the file that has them.
const (
	KeyVariable     = "HONE_KEY"
	KeyFileVariable = "HONE_KEY_FILE"
)

const keySize = 32

// vault encrypts. The user's first key encrypts, and all of them decrypt, so that a key can be replaced. Without keys of the user, it
// uses a key of this machine, which it makes when it is first needed: others cannot read the result then.
type vault struct {
	keys [][]byte // of the user
	path string   // the file with the key of this machine
}

// openVault returns a vault with the keys in the environment. dir is the folder of this machine's ledgers.
func openVault(dir string, getenv func(string) string) (vault, error) {
	v := vault{path: filepath.Join(filepath.Dir(filepath.Clean(dir)), "keys", "ledger.key")}
	text, from := getenv(KeyVariable), KeyVariable
	if path := getenv(KeyFileVariable); text == "" && path != "" {
		raw, err := os.ReadFile(path)
		if err != nil {
			return v, problem.Wrap(err, "cannot read the key of the ledger", "correct "+KeyFileVariable+", or unset it")
		}
		text, from = string(raw), path
	}
	for n, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", \r\n", r) }) {
		key, err := base64.StdEncoding.DecodeString(word)
		if err != nil || len(key) != keySize {
			return v, problem.New(fmt.Sprintf("key %d in %s is not %d bytes in base64", n+1, from, keySize), "make a key: openssl rand -base64 32")
		}
		v.keys = append(v.keys, key)
	}
	return v, nil
}

// shared reports whether the user has given a key, which other machines can have, too.
func (v vault) shared() bool { return len(v.keys) > 0 }

// readOwn returns the key of this machine, or nil if there is none.
func (v vault) readOwn() ([]byte, error) {
	key, err := os.ReadFile(v.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the key of the ledgers: %w", err)
	case len(key) != keySize:
		return nil, problem.New("the key of the ledgers is damaged: "+v.path,
			"move it away; delete commands then get their variables from the Tiltfile or from hone's environment")
	}
	return key, nil
}

// key returns the key that encrypts. It makes one for this machine if there is none.
func (v vault) key() ([]byte, error) {
	if v.shared() {
		return v.keys[0], nil
	}
	if key, err := v.readOwn(); key != nil || err != nil {
		return key, err
	}
	if err := os.MkdirAll(filepath.Dir(v.path), 0o700); err != nil {
		return nil, fmt.Errorf("create the folder of keys: %w", err)
	}
	unlock, err := lockFile(v.path)
	if err != nil {
		return nil, fmt.Errorf("lock the key of the ledgers: %w", err)
	}
	defer unlock()
	if key, err := v.readOwn(); key != nil || err != nil {
		return key, err
	}
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // never fails
	if err := atomicfile.Write(v.path, key, 0o600); err != nil {
		return nil, fmt.Errorf("write the key of the ledgers: %w", err)
	}
	return key, nil
}

// readable returns the keys that may decrypt.
func (v vault) readable() ([][]byte, error) {
	own, err := v.readOwn()
	if own == nil {
		return v.keys, err
	}
	return append(v.keys[:len(v.keys):len(v.keys)], own), nil
}

func cipherOf(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// sealWith encrypts with a key. The result can be opened only for the same place.
func sealWith(key, raw []byte, place string) ([]byte, error) {
	box, err := cipherOf(key)
	if err != nil {
		return nil, err
	}
	return box.Seal(nil, nil, raw, []byte(place)), nil
}

// openWith decrypts the output of sealWith. ok is false if the key or the place is another one.
func openWith(key, sealed []byte, place string) (raw []byte, ok bool) {
	box, err := cipherOf(key)
	if err != nil {
		return nil, false
	}
	raw, err = box.Open(nil, nil, sealed, []byte(place))
	return raw, err == nil
}

// seal encrypts. The result can be opened only for the same place.
func (v vault) seal(raw []byte, place string) ([]byte, error) {
	key, err := v.key()
	if err != nil {
		return nil, err
	}
	return sealWith(key, raw, place)
}

// open decrypts the output of seal; nil if it was sealed with another key or for another place.
func (v vault) open(sealed []byte, place string) ([]byte, error) {
	keys, err := v.readable()
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		if raw, ok := openWith(key, sealed, place); ok {
			return raw, nil
		}
	}
	return nil, nil
}

// sealTexts encrypts texts for a document of JSON.
func (v vault) sealTexts(texts []string, place string) (string, error) {
	raw, err := json.Marshal(texts)
	if err != nil {
		return "", err
	}
	sealed, err := v.seal(raw, place)
	return base64.StdEncoding.EncodeToString(sealed), err
}

// openTexts decrypts the output of sealTexts; nil if it was sealed with another key or for another place, or is damaged.
func (v vault) openTexts(sealed, place string) (texts []string, err error) {
	if sealed == "" {
		return nil, nil
	}
	raw, err := base64.StdEncoding.DecodeString(sealed)
	if err != nil {
		return nil, nil //nolint:nilerr // it is damaged
	}
	if raw, err = v.open(raw, place); raw == nil || err != nil {
		return nil, err
	}
	_ = json.Unmarshal(raw, &texts) // nothing of it if it is damaged
	return texts, nil
}

// sum returns the keyed digest of a text, which reveals nothing about it.
func sum(key []byte, text []byte) string {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write(text) // never fails
	return hex.EncodeToString(mac.Sum(nil))
}

// keyID names a key in a document without revealing it.
func keyID(key []byte) []byte {
	id := sha256.Sum256(append([]byte("hone key "), key...))
	return id[:keyIDSize]
}

const keyIDSize = 8

// find returns the key of an id; nil if there is none.
func (v vault) find(id []byte) ([]byte, error) {
	keys, err := v.readable()
	for _, key := range keys {
		if bytes.Equal(keyID(key), id) {
			return key, nil
		}
	}
	return nil, err
}
