package buildkit

import (
	"slices"
	"strings"
)

// archOf returns the architecture in a platform: "linux/arm64", "linux/arm/v7", or "arm64".
func archOf(platform string) string {
	arch := platform
	if parts := strings.Split(platform, "/"); len(parts) > 1 {
		arch = parts[1]
	}
	switch arch {
	case "x86_64":
		return "amd64"
	case "aarch64":
		return "arm64"
	}
	return arch
}

// groupFor returns which group of daemons builds for the platforms of a part, where archs are the architectures of the groups. The first one
// emulates those that none has.
func groupFor(archs []string, platforms string) int {
	first, _, _ := strings.Cut(platforms, ",") // the others are built there, too
	return max(0, slices.Index(archs, archOf(first)))
}

// parts splits platforms ("linux/amd64,linux/arm64") by the groups that build for them.
func parts(archs []string, platforms string) (out []string) {
	at := map[int]int{} // the index in out, by group
	for platform := range strings.SplitSeq(platforms, ",") {
		platform = strings.TrimSpace(platform)
		by := groupFor(archs, platform)
		if i, known := at[by]; known {
			out[i] += "," + platform
			continue
		}
		at[by] = len(out)
		out = append(out, platform)
	}
	return out
}
