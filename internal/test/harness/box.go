package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/test/freeport"
)

// BoxName is the name of a Box for ssh.
const BoxName = "box"

// ErrNoServer is returned where sshd is not installed.
var ErrNoServer = errors.New("needs sshd, which scripts/openssh installs")

// Box is a machine behind ssh: this one, through an sshd with a port and keys of its own that allows no forwarding, and with another HOME.
type Box struct {
	// Dir has its keys and its configuration. It is the HOME of its commands.
	Dir string
	// Address is the address of its sshd.
	Address string
	sshd    string
	server  *exec.Cmd
}

// NewBox makes a box in a folder that exists. Its commands have hone in their PATH, and the given environment. The caller starts it.
func NewBox(dir, hone string, env []string) (*Box, error) {
	sshd, err := exec.LookPath("sshd")
	if err != nil {
		sshd, err = exec.LookPath("/usr/sbin/sshd")
	}
	if err != nil {
		return nil, ErrNoServer
	}
	port, err := freeport.Next()
	if err != nil {
		return nil, err
	}
	b := &Box{Dir: dir, Address: fmt.Sprintf("127.0.0.1:%d", port), sshd: sshd}
	for _, key := range []string{"host", "user"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key)).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("make a key: %w: %s", err, out)
		}
	}
	host, err := os.ReadFile(filepath.Join(dir, "host.pub"))
	if err != nil {
		return nil, err
	}
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		return nil, err
	}
	last := map[string]string{} // of several values, as for processes; sshd takes the first
	for _, kv := range append(env, "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+dir) {
		name, _, _ := strings.Cut(kv, "=")
		last[name] = fmt.Sprintf("%q", kv)
	}
	settings := strings.Join(slices.Collect(maps.Values(last)), " ")
	return b, errors.Join(
		os.Symlink(hone, filepath.Join(bin, "hone")),
		b.Write("known", BoxName+" "+string(host)),
		b.Write("sshd.conf", fmt.Sprintf(`ListenAddress %[1]s
HostKey %[2]s/host
AuthorizedKeysFile %[2]s/user.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
AllowTcpForwarding no
AllowStreamLocalForwarding no
SetEnv %[3]s
`, b.Address, dir, settings)))
}

// Write writes a file of the box.
func (b *Box) Write(name, content string) error {
	return os.WriteFile(filepath.Join(b.Dir, name), []byte(content), 0o600)
}

// Client writes a program "ssh" into a folder, which reaches the box at an address: its own, or one that leads there. It returns the path of
// the configuration, which marks the processes of that ssh.
func (b *Box) Client(dir, address string) (conf string, err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	client, err := exec.LookPath("ssh")
	if err != nil {
		return "", err
	}
	conf = filepath.Join(dir, "ssh.conf")
	err = os.WriteFile(conf, fmt.Appendf(nil, `Host %[1]s
  HostName %[2]s
  HostKeyAlias %[1]s
  Port %[3]s
  IdentityFile %[4]s/user
  IdentitiesOnly yes
  UserKnownHostsFile %[4]s/known
  StrictHostKeyChecking yes
`, BoxName, host, port, b.Dir), 0o600)
	if err != nil {
		return "", err
	}
	// A user's configuration is in the home of the account, whatever HOME says.
	return conf, os.WriteFile(filepath.Join(dir, "ssh"), fmt.Appendf(nil, "#!/bin/sh\nexec %s -F %s \"$@\"\n", client, conf), 0o755)
}

// Start starts sshd, and waits until it listens. The caller stops it.
func (b *Box) Start(ctx context.Context) error {
	b.server = exec.Command(b.sshd, "-D", "-e", "-f", filepath.Join(b.Dir, "sshd.conf"))
	b.server.SysProcAttr = endWithParent()
	if os.Geteuid() == 0 {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			return err
		}
	}
	log := filepath.Join(b.Dir, "sshd.log")
	said, err := os.Create(log) // not a pipe: the processes of its connections would hold it
	if err != nil {
		return err
	}
	defer said.Close()
	b.server.Stderr = said
	if err := b.server.Start(); err != nil {
		return err
	}
	return Await(ctx, killDelay, "sshd to listen", func() error {
		if text, err := os.ReadFile(log); err != nil || !bytes.Contains(text, []byte("Server listening")) {
			return fmt.Errorf("%w: it says %s", err, strings.TrimSpace(string(text)))
		}
		return nil
	})
}

// Stop ends sshd. The connections that it has go on.
func (b *Box) Stop() {
	_ = b.server.Process.Kill()
	_ = b.server.Wait()
}
