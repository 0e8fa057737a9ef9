package program

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// maxSize is the largest size of the program in bytes: it is sent to every container.
const maxSize = 2_200_000

// root is the top of the repository.
const root = "../../../.."

// TestFresh checks that the programs were built from the present sources.
func TestFresh(t *testing.T) {
	if out, err := exec.Command("go", "run", "./build", "-check").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestPrograms looks at the headers of all programs and starts the one for this machine.
func TestPrograms(t *testing.T) {
	for arch, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64} {
		data, err := For(arch)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > maxSize {
			t.Errorf("%s: %d bytes, at most %d", arch, len(data), maxSize)
		}
		f, err := elf.NewFile(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if f.Machine != machine || f.Type != elf.ET_EXEC {
			t.Errorf("%s: a program of type %s for %s", arch, f.Type, f.Machine)
		}
		if slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC }) {
			t.Errorf("%s: it is not static", arch)
		}
		if runtime.GOOS != "linux" || runtime.GOARCH != arch {
			continue
		}
		path := filepath.Join(t.TempDir(), "synclet")
		if err := os.WriteFile(path, data, 0o755); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(path, "version").Output()
		if err != nil || !strings.HasPrefix(string(out), Build()+" ") {
			t.Errorf("%s: version says %q, %v", arch, out, err)
		}
	}
	if _, err := For("mips"); err == nil {
		t.Error("there is a program for mips")
	}
}

// TestStandardLibraryOnly keeps everything else out of the program.
func TestStandardLibraryOnly(t *testing.T) {
	c := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./cmd/synclet")
	c.Dir = root
	c.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range strings.Fields(string(out)) {
		if !strings.HasPrefix(p, "github.com/hone-dev/hone/internal/update/agent") && p != "github.com/hone-dev/hone/cmd/synclet" {
			t.Errorf("the synclet depends on %s", p)
		}
	}
}
