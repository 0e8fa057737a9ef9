package deploy

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/hone-dev/hone/pkg/model"
)

// The declaration that was applied last is stored beside the ledger, one file for each object, encrypted with the key of the
// ledgers. It only explains: it distinguishes a changed declaration from a changed cluster. So a file that is missing, cannot be
// opened, or is older than the object in the cluster is no error. The values of a Secret are not in it, only a digest of each, made
// with the same key.

// digestMark begins the digest of a value of a Secret.
const digestMark = "hmac-sha256:"

// appliedDir returns the folder of the last applied declarations for the ledger in a file.
func appliedDir(ledger string) string { return strings.TrimSuffix(ledger, ".json") + ".applied" }

// appliedFile returns the file of an object.
func (l *Ledger) appliedFile(id model.ObjectID) string {
	sum := sha256.Sum256([]byte(placeOf(id)))
	return filepath.Join(appliedDir(l.path), hex.EncodeToString(sum[:16]))
}

// placeOf identifies an object to the vault.
func placeOf(id model.ObjectID) string {
	return strings.Join([]string{"applied", id.Group, id.Kind, id.Namespace, id.Name}, "\x00")
}

// Remember stores an object as it was applied. If it was not written because it was up to date, it is stored only if nothing is
// stored yet. A crash of the machine may lose it.
func (l *Ledger) Remember(desired *unstructured.Unstructured, written bool) error {
	path := l.appliedFile(IDOf(desired))
	if !written {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
	}
	if err := l.remember(path, desired); err != nil {
		return fmt.Errorf("store what was applied to %s: %w", title(IDOf(desired)), err)
	}
	return nil
}

func (l *Ledger) remember(path string, desired *unstructured.Unstructured) error {
	if isSecret(desired) {
		key, err := vaultOf(filepath.Dir(l.path)).make()
		if err != nil {
			return err
		}
		desired = desired.DeepCopy()
		model.EachSecretValue(desired.Object, func(_ []string, values map[string]any, name string) {
			values[name] = digestMark + digest(key, fmt.Sprint(values[name]))
		})
	}
	raw, err := desired.MarshalJSON()
	if err != nil {
		return err
	}
	return l.seal(path, placeOf(IDOf(desired)), raw)
}

// Written returns when an object was last applied and written; the zero time if that is unknown.
func (l *Ledger) Written(id model.ObjectID) time.Time {
	info, err := os.Stat(l.appliedFile(id))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// Remembered returns a new copy of an object as it was applied last; nil if that is unknown. For a Secret, it knows only the values
// that one of the others has, too. In place of each other value stands its digest, which equals no value.
func (l *Ledger) Remembered(id model.ObjectID, others ...*unstructured.Unstructured) *unstructured.Unstructured {
	raw := l.unseal(l.appliedFile(id), placeOf(id))
	u := &unstructured.Unstructured{}
	if raw == nil || u.UnmarshalJSON(raw) != nil {
		return nil
	}
	if isSecret(u) {
		key, err := vaultOf(filepath.Dir(l.path)).read()
		if err != nil {
			return nil
		}
		undigest(key, u, others)
	}
	return u
}

// undigest replaces the digests in a remembered Secret with values that the API server accepts: with the value in others that has
// the digest, or with the encoded digest itself where there is none.
func undigest(key []byte, remembered *unstructured.Unstructured, others []*unstructured.Unstructured) {
	for _, path := range model.SecretMaps {
		values, _, _ := unstructured.NestedFieldNoCopy(remembered.Object, path...)
		digests, _ := values.(map[string]any)
		for name, value := range digests {
			text := fmt.Sprint(value)
			if !strings.HasPrefix(text, digestMark) { // an annotation that is no copy
				continue
			}
			digests[name] = base64.StdEncoding.EncodeToString([]byte(text))
			for _, o := range others {
				if o == nil {
					continue
				}
				has, ok, _ := unstructured.NestedFieldNoCopy(o.Object, append(slices.Clone(path), name)...)
				if ok && text == digestMark+digest(key, fmt.Sprint(has)) {
					digests[name] = has
				}
			}
		}
	}
}

// secretAt reports whether the field at a path of a Secret may hold secret values. values are the texts that the field may have.
func secretAt(path fieldpath.Path, values ...any) bool {
	var names, texts []string
	for _, e := range path {
		if e.FieldName == nil {
			break
		}
		names = append(names, *e.FieldName)
	}
	for _, v := range values {
		if text, ok := v.(string); ok {
			texts = append(texts, text)
		}
	}
	return model.SecretPath(names, texts...)
}

// secretValues returns the fields of a Secret that hold values.
func secretValues(u *unstructured.Unstructured) map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, field := range []string{"data", "stringData"} {
		if values, ok := u.Object[field].(map[string]any); ok {
			out[field] = values
		}
	}
	return out
}

func digest(key []byte, value string) string {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(value)) // never fails
	return hex.EncodeToString(mac.Sum(nil))
}

// forget removes the stored declarations of objects that no longer have a record.
func (l *Ledger) forget(before, after content) error {
	left := map[model.ObjectID]bool{}
	for _, list := range before.objects {
		for _, r := range list {
			left[r.ObjectID] = true
		}
	}
	for _, list := range after.objects {
		for _, r := range list {
			delete(left, r.ObjectID)
		}
	}
	for id := range left {
		for _, file := range []string{l.appliedFile(id), l.foundFile(id), l.acceptedFile(id)} {
			if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("forget what was applied: %w", err)
			}
		}
	}
	if len(after.objects) == 0 {
		_ = os.Remove(appliedDir(l.path)) // unless something else is in it
	}
	return nil
}

// takeApplied moves the stored declarations from another ledger's folder into this one's. Files that exist here already stay.
func (l *Ledger) takeApplied(from *Ledger) error {
	old, mine := appliedDir(from.path), appliedDir(l.path)
	entries, err := os.ReadDir(old)
	if len(entries) == 0 {
		return ignoreMissing(err)
	}
	if err := os.MkdirAll(mine, 0o700); err != nil {
		return err
	}
	for _, e := range entries {
		if _, err := os.Stat(filepath.Join(mine, e.Name())); err == nil {
			continue
		}
		if err := os.Rename(filepath.Join(old, e.Name()), filepath.Join(mine, e.Name())); err != nil {
			return err
		}
	}
	return os.RemoveAll(old)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
