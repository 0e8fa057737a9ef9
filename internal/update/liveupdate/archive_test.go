package liveupdate

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// put writes a file below dir.
func put(t *testing.T, dir, name string, data []byte, mode os.FileMode) string {
	t.Helper()
	p := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, data, mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(p, mode); err != nil {
		t.Fatal(err)
	}
	return p
}

// extract unpacks an archive below dir, as tar -x does, and returns the headers.
func extract(t *testing.T, dir string, r io.Reader) []*tar.Header {
	t.Helper()
	var out []*tar.Header
	tr := tar.NewReader(r)
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, h)
		p := filepath.Join(dir, h.Name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		switch h.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(p, h.FileInfo().Mode())
		case tar.TypeSymlink:
			err = os.Symlink(h.Linkname, p)
		default:
			var data []byte
			if data, err = io.ReadAll(tr); err == nil {
				err = os.WriteFile(p, data, h.FileInfo().Mode())
			}
			if err == nil {
				err = os.Chtimes(p, h.ModTime, h.ModTime)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestArchiveRoundTrip(t *testing.T) {
	src, dst := t.TempDir(), t.TempDir()
	old := time.Date(2020, 2, 3, 4, 5, 6, 700_000_000, time.UTC)
	big := bytes.Repeat([]byte("0123456789abcdef"), smallFile/16+10)
	long := strings.Repeat("long/", 60) + "name"
	copies := []Copy{
		{Local: put(t, src, "plain", []byte("hello"), 0o640), Remote: "/app/plain"},
		{Local: put(t, src, "script", []byte("#!"), 0o755), Remote: "/app/bin/script"},
		{Local: put(t, src, "none", nil, 0o600), Remote: "/none"},
		{Local: put(t, src, "big", big, 0o644), Remote: "/app/big"},
		{Local: put(t, src, "exact", big[:smallFile], 0o644), Remote: "/app/exact"},
		{Local: put(t, src, "umlaut", []byte("u"), 0o644), Remote: "/app/ä ö"},
		{Local: put(t, src, "long", []byte("l"), 0o644), Remote: "/" + long},
		{Local: filepath.Join(src, "link"), Remote: "/app/link"},
		{Local: filepath.Join(src, "dir"), Remote: "/app/dir", IsDir: true},
		{Local: filepath.Join(src, "vanished"), Remote: "/app/vanished"},
		{Local: filepath.Join(src, "plain", "below"), Remote: "/app/below"},
		{Local: src, Remote: "/", IsDir: true},
	}
	if err := os.Chtimes(filepath.Join(src, "plain"), old, old); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../else/where", filepath.Join(src, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(src, "dir"), 0o750); err != nil {
		t.Fatal(err)
	}

	var b bytes.Buffer
	if err := Archive(&b, copies); err != nil {
		t.Fatal(err)
	}
	headers := extract(t, dst, &b)
	if len(headers) != 9 {
		t.Errorf("got %d entries", len(headers))
	}
	for _, h := range headers {
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" {
			t.Errorf("%s: owner %d:%d %s:%s", h.Name, h.Uid, h.Gid, h.Uname, h.Gname)
		}
		if h.Format&tar.FormatPAX != 0 || len(h.PAXRecords) > 0 {
			t.Errorf("%s: PAX", h.Name)
		}
		if plain := h.Name != "app/ä ö" && h.Name != long; plain != (h.Format == tar.FormatUSTAR) {
			t.Errorf("%s: format %s", h.Name, h.Format)
		}
	}
	for remote, want := range map[string]struct {
		data []byte
		mode fs.FileMode
	}{
		"app/plain": {[]byte("hello"), 0o640}, "app/bin/script": {[]byte("#!"), 0o755}, "none": {nil, 0o600},
		"app/big": {big, 0o644}, "app/exact": {big[:smallFile], 0o644}, "app/ä ö": {[]byte("u"), 0o644}, long: {[]byte("l"), 0o644},
	} {
		data, err := os.ReadFile(filepath.Join(dst, remote))
		if err != nil || sha256.Sum256(data) != sha256.Sum256(want.data) {
			t.Errorf("%s: %d bytes, %v", remote, len(data), err)
		}
		if info, err := os.Stat(filepath.Join(dst, remote)); err != nil || info.Mode().Perm() != want.mode {
			t.Errorf("%s: %v, %v", remote, info, err)
		}
	}
	if info, err := os.Stat(filepath.Join(dst, "app/plain")); err != nil || info.ModTime().Unix() != old.Unix() {
		t.Errorf("modification time: %v, %v", info.ModTime(), err)
	}
	if to, err := os.Readlink(filepath.Join(dst, "app/link")); err != nil || to != "../else/where" {
		t.Errorf("link: %q, %v", to, err)
	}
	if info, err := os.Stat(filepath.Join(dst, "app/dir")); err != nil || info.Mode() != fs.ModeDir|0o750 {
		t.Errorf("folder: %v, %v", info, err)
	}
}

func TestArchiveLeavesSocketsOut(t *testing.T) {
	p := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", p)
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	var b bytes.Buffer
	if err := Archive(&b, []Copy{{Local: p, Remote: "/s"}}); err != nil {
		t.Fatal(err)
	}
	if h := extract(t, t.TempDir(), &b); len(h) != 0 {
		t.Errorf("got %v", h[0].Name)
	}
}

// TestArchiveOfAChangingFile archives a large file whose size differs from that in its description.
func TestArchiveOfAChangingFile(t *testing.T) {
	p := put(t, t.TempDir(), "f", make([]byte, 100), 0o644)
	info, err := os.Stat(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int64{60, 100, 150} {
		var b bytes.Buffer
		a := archiver{tar: tar.NewWriter(&b)}
		if err := a.large(bytes.NewReader(bytes.Repeat([]byte("x"), 100)), sized{info, size}, "f"); err != nil {
			t.Fatal(err)
		}
		if err := a.tar.Close(); err != nil {
			t.Fatal(err)
		}
		tr := tar.NewReader(&b)
		if _, err := tr.Next(); err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(tr)
		want := append(bytes.Repeat([]byte("x"), int(min(size, 100))), make([]byte, max(0, size-100))...)
		if err != nil || !bytes.Equal(data, want) {
			t.Errorf("size %d: got %d bytes, %v", size, len(data), err)
		}
	}
}

func TestArchiveUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	p := put(t, t.TempDir(), "f", nil, 0)
	if err := Archive(io.Discard, []Copy{{Local: p, Remote: "/f"}}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %v", err)
	}
}

func TestArchiveWriterFails(t *testing.T) {
	p := put(t, t.TempDir(), "f", nil, 0o644)
	r, w := io.Pipe()
	r.CloseWithError(errDelivered)
	if err := Archive(w, []Copy{{Local: p, Remote: "/f"}}); !errors.Is(err, errDelivered) {
		t.Errorf("got %v", err)
	}
}
