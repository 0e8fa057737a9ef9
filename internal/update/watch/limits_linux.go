package watch

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// limitMend returns the commands that raise the limit that err reports.
func limitMend(err error) string {
	if errors.Is(err, errNoInstance) {
		return raise("fs.inotify.max_user_instances", 1024)
	}
	return raise("fs.inotify.max_user_watches", 1<<20)
}

// raise returns the commands that set a kernel parameter, now and permanently, to at least the given number and to more
// than its present value.
func raise(name string, atLeast int) string {
	value := atLeast
	text, err := os.ReadFile("/proc/sys/" + strings.ReplaceAll(name, ".", "/"))
	if now, bad := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && bad == nil && now*2 > value {
		value = now * 2
	}
	return fmt.Sprintf("sudo sysctl %[1]s=%[2]d\necho %[1]s=%[2]d | sudo tee -a /etc/sysctl.d/60-hone.conf   # to keep it",
		name, value)
}

// isRemote reports whether dir lies on a file system that others can change behind this machine's back.
func isRemote(dir string) bool {
	var st unix.Statfs_t
	if err := again(func() error { return unix.Statfs(dir, &st) }); err != nil {
		return false
	}
	switch uint32(st.Type) {
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.V9FS_MAGIC,
		unix.AFS_SUPER_MAGIC, unix.CEPH_SUPER_MAGIC, unix.FUSE_SUPER_MAGIC:
		return true
	}
	return false
}
