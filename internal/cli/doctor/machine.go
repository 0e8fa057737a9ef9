package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hone-dev/hone/internal/base/words"
)

// The limits of inotify below which a tree of usual size does not fit.
var limits = []struct {
	name  string
	least int
}{
	{"max_user_watches", 65536},
	{"max_user_instances", 128},
}

// Watching returns the section about file watching. try begins to watch; proc is the folder of inotify's limits, which need not
// exist.
func Watching(try func() error, proc string) *Section {
	s := section("Watching files")
	if err := try(); err != nil {
		s.fault("watching", err, "")
	} else {
		s.found("watching", "works")
	}
	for _, l := range limits {
		text, err := os.ReadFile(filepath.Join(proc, l.name))
		if err != nil {
			continue // another system
		}
		value := strings.TrimSpace(string(text))
		if n, err := strconv.Atoi(value); err == nil && n < l.least {
			s.fault(l.name, fmt.Errorf("%d is low: large trees are watched more slowly", n),
				fmt.Sprintf("sudo sysctl fs.inotify.%s=%d", l.name, max(2*n, 8*l.least)))
			continue
		}
		s.found(l.name, "%s", value)
	}
	return s
}

// Screen describes a terminal, as far as it is known.
type Screen struct {
	// Is is set if there is one; the rest describes it. Columns and Rows are 0 if unknown.
	Is            bool
	Columns, Rows int
	UTF8          bool
	// Term, ColorTerm and NoColor are the variables TERM, COLORTERM and NO_COLOR.
	Term, ColorTerm, NoColor string
}

// The smallest terminal that shows the whole screen.
const (
	leastColumns = 60
	leastRows    = 10
)

// Terminal returns the section about the terminal in which the screen would be shown.
func Terminal(t Screen) *Section {
	s := section("Terminal")
	if !t.Is {
		s.found("screen", "no terminal: log lines are printed instead of the screen")
		return s
	}
	if t.Term == "" || t.Term == "dumb" {
		s.fault("TERM", fmt.Errorf("%q means that nothing can be drawn", t.Term), "export TERM=xterm-256color, unless the terminal really is dumb")
	} else {
		s.found("TERM", "%s", t.Term)
	}
	if t.Columns > 0 && (t.Columns < leastColumns || t.Rows < leastRows) {
		s.fault("size", fmt.Errorf("%d×%d is too small for more than the log", t.Columns, t.Rows),
			fmt.Sprintf("make the window at least %d×%d", leastColumns, leastRows))
	} else if t.Columns > 0 {
		s.found("size", "%d×%d", t.Columns, t.Rows)
	}
	s.found("colours", "%s", colours(t))
	if t.UTF8 {
		s.found("UTF-8", "yes")
	} else {
		s.fault("UTF-8", errors.New("no: the locale does not support it, so the screen is drawn in ASCII"), "export LC_ALL=C.UTF-8")
	}
	return s
}

func colours(t Screen) string {
	switch {
	case t.NoColor != "":
		return "none, because NO_COLOR is set"
	case t.ColorTerm == "truecolor" || t.ColorTerm == "24bit":
		return "16 million"
	case strings.Contains(t.Term, "256color"):
		return "256"
	case t.Term == "" || t.Term == "dumb":
		return "none"
	}
	return "8 or 16"
}

// Folder is a folder that hone keeps files in.
type Folder struct {
	// Name describes its content.
	Name, Path string
}

// Folders returns the section about the folders where hone keeps files: whether they are writable, and how much they hold.
func Folders(all []Folder) *Section {
	s := section("Folders")
	for _, f := range all {
		if err := Writable(f.Path); err != nil {
			s.fault(f.Name, err, "make it yours: chown -R $(id -u) "+f.Path+", or choose another with XDG_STATE_HOME, XDG_RUNTIME_DIR, XDG_DATA_HOME")
			continue
		}
		size, files := usage(f.Path)
		if files == 0 {
			s.found(f.Name, "%s, empty", f.Path)
			continue
		}
		s.found(f.Name, "%s, %s in %d files", f.Path, words.Size(size), files)
	}
	return s
}

// Writable returns nil if files can be created in a folder, or the folder itself can be. It leaves nothing there.
func Writable(dir string) error {
	for {
		info, err := os.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir {
			dir = filepath.Dir(dir)
			continue
		}
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("%s is not a folder", dir)
		}
		f, err := os.CreateTemp(dir, ".hone-doctor-*")
		if err != nil {
			return err
		}
		return errors.Join(f.Close(), os.Remove(f.Name()))
	}
}

// usage counts the files in a folder, as far as it can be read.
func usage(dir string) (size int64, files int) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // unreadable folders are left out
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			size, files = size+info.Size(), files+1
		}
		return nil
	})
	return size, files
}
