package deploy

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/atomicfile"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// The arguments and the environment of a delete command may hold secrets, and a later session has to run the command although
// the Tiltfile may be broken or no longer declare it. So the ledger stores the names of the variables in clear text, and
// their values and the arguments only encrypted. The key is in a separate file, in another folder, and never in a ledger. If
// the key is lost, only the names remain: the command then runs with arguments from the Tiltfile and values from the Tiltfile or
// the environment, or is refused.

const keySize = 32

// clearVariable is stored in clear text: it is a path, and without it a command would work on another cluster.
const clearVariable = "KUBECONFIG"

// vault encrypts with the key in a file. The file is created when it is first needed.
type vault struct{ path string }

// vaultOf returns the vault of the ledgers in a folder.
func vaultOf(dir string) vault {
	return vault{filepath.Join(filepath.Dir(filepath.Clean(dir)), "keys", "ledger.key")}
}

// read returns the key, or nil if there is none.
func (v vault) read() ([]byte, error) {
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

// make returns the key. It creates one if there is none.
func (v vault) make() ([]byte, error) {
	if key, err := v.read(); key != nil || err != nil {
		return key, err
	}
	if err := os.MkdirAll(filepath.Dir(v.path), 0o700); err != nil {
		return nil, fmt.Errorf("create the folder of keys: %w", err)
	}
	unlock, err := lockBeside(v.path)
	if err != nil {
		return nil, fmt.Errorf("lock the key of the ledgers: %w", err)
	}
	defer unlock()
	if key, err := v.read(); key != nil || err != nil {
		return key, err
	}
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // never fails
	if err := atomicfile.Write(v.path, key, 0o600); err != nil {
		return nil, fmt.Errorf("write the key of the ledgers: %w", err)
	}
	return key, nil
}

func cipherOf(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// seal encrypts variables. The result can be opened only for the same place.
func (v vault) seal(variables []string, place string) (string, error) {
	key, err := v.make()
	if err != nil {
		return "", err
	}
	raw, err := json.Marshal(variables)
	if err != nil {
		return "", err
	}
	sealed, err := sealWith(key, raw, place)
	return base64.StdEncoding.EncodeToString(sealed), err
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

// open decrypts variables. ok is false if they were sealed with another key.
func (v vault) open(sealed, place string) (variables []string, ok bool, err error) {
	key, err := v.read()
	if key == nil || err != nil {
		return nil, false, err
	}
	raw, err := base64.StdEncoding.DecodeString(sealed)
	if err != nil {
		return nil, false, nil //nolint:nilerr // ok is false
	}
	if raw, ok = openWith(key, raw, place); !ok {
		return nil, false, nil
	}
	return variables, json.Unmarshal(raw, &variables) == nil, nil
}

// place identifies the command of a resource to the vault.
func (l *Ledger) place(name model.ManifestName) string {
	return l.key.Cluster + "\x00" + string(name)
}

// argvPlace identifies its arguments.
func (l *Ledger) argvPlace(name model.ManifestName) string { return l.place(name) + "\x00argv" }

// secretsPlace identifies the values in it that are not shown.
func (l *Ledger) secretsPlace(name model.ManifestName) string { return l.place(name) + "\x00secrets" }

// namedPlace identifies those of them that are also names of the project.
func (l *Ledger) namedPlace(name model.ManifestName) string { return l.place(name) + "\x00named" }

// onDisk returns the form of a command in the file.
func (l *Ledger) onDisk(name model.ManifestName, cmd model.Cmd) (commandOnDisk, error) {
	out := commandOnDisk{Dir: cmd.Dir, EchoOff: cmd.EchoOff}
	var err error
	if len(cmd.Argv) > 0 {
		if out.Command, err = vaultOf(filepath.Dir(l.path)).seal(cmd.Argv, l.argvPlace(name)); err != nil {
			return out, err
		}
	}
	if err = l.sealSecrets(name, cmd, &out); err != nil {
		return out, err
	}
	var secret []string
	for _, kv := range cmd.Env {
		switch variable, _, known := strings.Cut(kv, "="); {
		case known && variable == clearVariable:
			out.Clear = append(out.Clear, kv)
		default:
			out.Variables = append(out.Variables, variable)
			if known {
				secret = append(secret, kv)
			}
		}
	}
	if len(secret) == 0 {
		return out, nil
	}
	out.Sealed, err = vaultOf(filepath.Dir(l.path)).seal(secret, l.place(name))
	return out, err
}

// sealSecrets adds the values that are not shown to the form of a command in the file.
func (l *Ledger) sealSecrets(name model.ManifestName, cmd model.Cmd, out *commandOnDisk) (err error) {
	if len(cmd.Secrets) == 0 {
		return nil
	}
	var parts, named []string
	for _, s := range cmd.Secrets {
		parts = append(parts, s.Name, s.Key, s.Value)
		if s.Named {
			named = append(named, s.Value)
		}
	}
	box := vaultOf(filepath.Dir(l.path))
	if out.Secrets, err = box.seal(parts, l.secretsPlace(name)); err != nil {
		return err
	}
	out.Named, err = box.seal(named, l.namedPlace(name))
	return err
}

// openSecrets returns what sealSecrets has added; nothing if it cannot be read.
func (l *Ledger) openSecrets(name model.ManifestName, c commandOnDisk) (secrets []model.Secret, err error) {
	if c.Secrets == "" {
		return nil, nil
	}
	box := vaultOf(filepath.Dir(l.path))
	parts, _, err := box.open(c.Secrets, l.secretsPlace(name))
	if err != nil {
		return nil, err
	}
	named, _, err := box.open(c.Named, l.namedPlace(name))
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, value := range named {
		names[value] = true
	}
	for part := range slices.Chunk(parts, 3) {
		secrets = append(secrets, model.Secret{Name: part[0], Key: part[1], Value: part[2]})
	}
	model.NameSecrets(secrets, names)
	return secrets, nil
}

// fromDisk returns a command with its environment: KEY=value, or only KEY if the value cannot be read. It has no arguments if they
// cannot be read. stale is true if the file has some of that in clear text, as in earlier formats.
func (l *Ledger) fromDisk(name model.ManifestName, c commandOnDisk) (cmd model.Cmd, stale bool, err error) {
	cmd = model.Cmd{Argv: c.Argv, Dir: c.Dir, EchoOff: c.EchoOff, Env: slices.Concat(c.Clear, c.Env)}
	box := vaultOf(filepath.Dir(l.path))
	if c.Command != "" {
		if cmd.Argv, _, err = box.open(c.Command, l.argvPlace(name)); err != nil {
			return cmd, false, err
		}
	}
	if cmd.Secrets, err = l.openSecrets(name, c); err != nil {
		return cmd, false, err
	}
	var opened []string
	if c.Sealed != "" {
		if opened, _, err = box.open(c.Sealed, l.place(name)); err != nil {
			return cmd, false, err
		}
	}
	for _, variable := range c.Variables {
		if !slices.ContainsFunc(opened, func(kv string) bool { return strings.HasPrefix(kv, variable+"=") }) {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, opened...)
	return cmd, c.clear(), nil
}

// clear reports whether a command is stored in clear text.
func (c commandOnDisk) clear() bool { return len(c.Argv)+len(c.Env) > 0 }

// sealedMark is the file that marks a folder without ledgers that have commands in clear text.
const sealedMark = ".sealed-commands"

// sealAll rewrites the ledgers of a folder in which an earlier version of hone stored commands in clear text. It includes
// the ledgers of other projects, which may never be opened again. Files that cannot be read stay unchanged.
func sealAll(dir string) error {
	mark := filepath.Join(dir, sealedMark)
	if _, err := os.Stat(mark); err == nil {
		return nil
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		var f ledgerFile
		if err != nil || json.Unmarshal(raw, &f) != nil || !slices.ContainsFunc(slices.Collect(maps.Values(f.Commands)), commandOnDisk.clear) {
			continue
		}
		l := &Ledger{key: LedgerKey{Cluster: f.Cluster, Project: f.Project}, path: path}
		if err := l.change(func(content) {}); err != nil {
			return fmt.Errorf("encrypt the commands in %s: %w", path, err)
		}
	}
	return os.WriteFile(mark, nil, 0o600)
}
