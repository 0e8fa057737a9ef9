//go:build linux

package agent

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"syscall"
)

// The supervisor listens on a socket without a file, so that it works where nothing can be written. Such names are valid
// in a whole network namespace, that is for all containers of a pod, or of the machine: the name contains the number of
// the container's mount namespace, and the supervisor gets the caller's credentials from the kernel.
func socketName() (string, error) {
	var st syscall.Stat_t
	if err := syscall.Stat("/proc/self/ns/mnt", &st); err != nil {
		return "", err
	}
	return "@hone-synclet-" + strconv.FormatUint(st.Ino, 10), nil
}

func listenSocket() (int, error) {
	name, err := socketName()
	if err != nil {
		return -1, err
	}
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if err = syscall.Bind(fd, &syscall.SockaddrUnix{Name: name}); err == nil {
		err = syscall.Listen(fd, 8)
	}
	if err != nil {
		_ = syscall.Close(fd)
		return -1, err
	}
	return fd, nil
}

// acceptSocket returns the next caller that is in this container, as this user or root.
func acceptSocket(fd int) (*os.File, error) {
	for {
		conn, _, err := syscall.Accept4(fd, syscall.SOCK_CLOEXEC)
		if errors.Is(err, syscall.EINTR) || errors.Is(err, syscall.ECONNABORTED) {
			continue
		}
		if err != nil {
			return nil, err
		}
		cred, err := syscall.GetsockoptUcred(conn, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
		// A process number of zero means that the process is not visible in this container.
		if err != nil || cred.Pid <= 0 || !slices.Contains([]int{0, os.Getuid()}, int(cred.Uid)) {
			_ = syscall.Close(conn)
			continue
		}
		return newConn(conn)
	}
}

func dialSocket() (*os.File, error) {
	name, err := socketName()
	if err != nil {
		return nil, err
	}
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: name}); err != nil {
		_ = syscall.Close(fd)
		return nil, err
	}
	return newConn(fd)
}

// newConn makes a file of a connection whose reads end when it is closed.
func newConn(fd int) (*os.File, error) {
	if err := syscall.SetNonblock(fd, true); err != nil {
		_ = syscall.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), "supervisor"), nil
}
