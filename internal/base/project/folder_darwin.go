package project

import "golang.org/x/sys/unix"

// folderOf identifies a folder.
func folderOf(dir string) folder {
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return folder{}
	}
	return folder{Inode: st.Ino, Born: st.Btim.Nano()}
}
