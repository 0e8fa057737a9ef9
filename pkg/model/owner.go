package model

import (
	"fmt"
	"strconv"
	"strings"
)

// Owner is the numeric user and group that own a file in a container. The zero value does not set an owner.
type Owner struct {
	UID, GID uint32
	Set      bool
}

// maxID is the highest number of a user or group; the next number means "no id".
const maxID = 1<<32 - 2

// ParseOwner reads "uid" or "uid:gid". A user alone gives the group the same number, as COPY --chown does.
func ParseOwner(s string) (Owner, error) {
	user, group, both := strings.Cut(s, ":")
	if !both {
		group = user
	}
	uid, err := parseID(user)
	if err == nil {
		var gid uint32
		gid, err = parseID(group)
		if err == nil {
			return Owner{UID: uid, GID: gid, Set: true}, nil
		}
	}
	return Owner{}, fmt.Errorf("%q is not an owner: %w", s, err)
}

func parseID(s string) (uint32, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	switch {
	case s == "":
		return 0, fmt.Errorf(`want "uid" or "uid:gid", such as "1000:1000"`)
	case strings.Trim(s, "0123456789") != "":
		return 0, fmt.Errorf(`want numbers, such as "1000:1000": only the image can map names to numbers, and it may have no user list ("id -u %s" in the container prints the number)`, s)
	case err != nil || n > maxID:
		return 0, fmt.Errorf("%s is too high for a user or group", s)
	}
	return uint32(n), nil
}

// String returns the form that ParseOwner reads; empty for the zero value.
func (o Owner) String() string {
	if !o.Set {
		return ""
	}
	return fmt.Sprintf("%d:%d", o.UID, o.GID)
}
