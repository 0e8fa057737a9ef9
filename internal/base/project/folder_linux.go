package project

import "golang.org/x/sys/unix"

// folderOf identifies a folder.
func folderOf(dir string) folder {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, dir, 0, unix.STATX_INO|unix.STATX_BTIME, &st)
	if err != nil || st.Mask&unix.STATX_INO == 0 || st.Mask&unix.STATX_BTIME == 0 {
		return folder{}
	}
	return folder{Inode: st.Ino, Born: st.Btime.Sec*1e9 + int64(st.Btime.Nsec)}
}
