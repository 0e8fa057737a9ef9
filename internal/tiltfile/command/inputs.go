package command

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/tiltfile/file"
)

// Inputs are the files that determine the output of a command, together with its arguments, its environment and the
// program itself. A command without known inputs runs in every evaluation.
type Inputs struct {
	// Paths are files and folders; a folder stands for everything in it. They need not exist.
	Paths []string
	// Templates means that the files are helm templates. Some of those print the time or random values; then the inputs
	// are unknown.
	Templates bool
}

// errUnknown means that the output of a command depends on inputs that are not known.
var errUnknown = errors.New("the inputs of the command are not known")

// The limits of the inputs to hash. A command with more input runs every time.
const (
	mostInputBytes = 64 << 20
	mostInputFiles = 20_000
)

// fingerprint returns the hash of everything that determines the output of a command, or errUnknown.
func (p Command) fingerprint() (string, error) {
	if p.Inputs == nil {
		return "", errUnknown
	}
	in := p.Inputs()
	if in == nil {
		return "", errUnknown
	}
	h := inputHash{Hash: sha256.New(), seen: map[string]bool{}}
	if err := h.program(p.Path, filepath.Base(p.Argv[0])); err != nil {
		return "", err
	}
	h.texts(p.Argv)
	h.texts(p.Environ)
	h.texts([]string{p.Dir, p.Stdin})
	h.templates = in.Templates
	if h.templates && slices.ContainsFunc(p.Argv, func(s string) bool { return impure([]byte(s)) }) {
		return "", errUnknown
	}
	for _, path := range in.Paths {
		h.texts([]string{path})
		if err := h.path(path); err != nil {
			return "", err
		}
	}
	return string(h.Sum(nil)), nil
}

// inputHash hashes the inputs of a command.
type inputHash struct {
	hash.Hash
	templates bool
	bytes     int64
	files     int
	// seen holds the folders that enclose the one being read, with links resolved, so that circular links end.
	seen map[string]bool
}

// texts hashes a list so that no other list has the same hash.
func (h *inputHash) texts(list []string) {
	h.number(len(list))
	for _, s := range list {
		h.number(len(s))
		_, _ = io.WriteString(h, s) // a hash does not fail
	}
}

func (h *inputHash) number(n int) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	h.Write(b[:])
}

// program hashes the identity of the program. Only a native program that is called by its own name is known to be that
// program: a script may read anything, and a launcher, such as a version manager's, may start anything.
func (h *inputHash) program(path, name string) error {
	full, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(filepath.Base(full), strings.TrimSuffix(name, ".exe")) || !native(full) {
		return errUnknown
	}
	info, err := os.Stat(full)
	if err != nil {
		return err
	}
	h.texts([]string{full, fmt.Sprint(info.Size(), info.ModTime().UnixNano()), fileIdentity(info)})
	return nil
}

// native reports whether a file is machine code: ELF, Mach-O in its variants, or PE.
func native(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 4)
	if _, err := io.ReadFull(f, head); err != nil {
		return false
	}
	for _, magic := range []string{"\x7fELF", "\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe", "MZ"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true
		}
	}
	return false
}

// path hashes a file, or a folder with everything in it; links are followed. A missing file is an input too.
func (h *inputHash) path(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		h.texts([]string{"none"})
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return h.folder(path)
	case !info.Mode().IsRegular():
		return errUnknown
	}
	return h.file(path)
}

func (h *inputHash) folder(path string) error {
	full, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	if h.seen[full] {
		h.texts([]string{"circle", full})
		return nil
	}
	h.seen[full] = true
	defer delete(h.seen, full)
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	h.texts([]string{"folder"})
	h.number(len(entries))
	for _, e := range entries {
		h.texts([]string{e.Name()})
		if err := h.path(filepath.Join(path, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (h *inputHash) file(path string) error {
	data, err := file.Read(path, mostInputBytes)
	if err != nil {
		return err
	}
	h.bytes += int64(len(data))
	h.files++
	if h.bytes > mostInputBytes || h.files > mostInputFiles || h.templates && impure(data) {
		return errUnknown
	}
	sum := sha256.Sum256(data)
	h.texts([]string{"file", string(sum[:])})
	return nil
}

// impureCall matches functions of helm's templates whose result depends on more than the chart: randomness, time, the
// cluster, the network.
var impureCall = regexp.MustCompile(`\b(now|ago|uuidv4|rand[A-Z]\w*|rand(Int|Bytes)|gen(PrivateKey|CA|CAWithKey|SelfSignedCert|SelfSignedCertWithKey|SignedCert|SignedCertWithKey)|shuffle|htpasswd|bcrypt|encryptAES|lookup|getHostByName)\b`)

// impure reports whether a text, or the contents of a gzipped archive, call such a function in a template.
func impure(data []byte) bool {
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return true
		}
		defer z.Close()
		if data, err = io.ReadAll(io.LimitReader(z, mostInputBytes)); err != nil || len(data) == mostInputBytes {
			return true
		}
	}
	for {
		_, rest, ok := bytes.Cut(data, []byte("{{"))
		if !ok {
			return false
		}
		action, after, _ := bytes.Cut(rest, []byte("}}"))
		if impureCall.Match(action) {
			return true
		}
		data = after
	}
}
