package command

import (
	"cmp"
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// developed is the version of a build that no release has.
const developed = "0.1.0-dev"

// Version is hone's own version; Commit and Date identify the commit that hone was built from, the date in RFC 3339 format. The
// build sets them with -ldflags; commit and date may be empty.
var (
	Version = developed
	Commit  string
	Date    string
)

// VersionText returns the version, with the commit it was built from and the commit's date, if known.
func VersionText() string {
	info, _ := debug.ReadBuildInfo()
	text := "hone v" + version(info)
	if commit, date := source(Commit, Date, info); commit != "" {
		text += ", commit " + commit
		if date != "" {
			text += " of " + date
		}
	}
	return fmt.Sprintf("%s, %s, %s/%s", text, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// version returns the version that the build has set, else the one that go install has fetched.
func version(info *debug.BuildInfo) string {
	if info == nil || Version != developed || pseudoVersion.MatchString(info.Main.Version) {
		return Version
	}
	if v, ok := strings.CutPrefix(info.Main.Version, "v"); ok {
		return v
	}
	return Version
}

// pseudoVersion matches the module system's version of a commit without a tag: v0.0.0-20261122201500-330377ef0a1b.
var pseudoVersion = regexp.MustCompile(`[.-](\d{14})-([0-9a-f]{12})(\+.*)?$`)

// source returns the commit of the source, short, and its date: those set by the build, else those that the compiler found
// in the working copy, else those in the module's version. info may be nil.
func source(commit, date string, info *debug.BuildInfo) (string, string) {
	if info == nil {
		info = &debug.BuildInfo{}
	}
	modified := ""
	stamped := map[string]string{}
	for _, s := range info.Settings {
		stamped[s.Key] = s.Value
	}
	if commit == "" {
		commit, date = stamped["vcs.revision"], cmp.Or(date, stamped["vcs.time"])
		if stamped["vcs.modified"] == "true" {
			modified = " (modified)"
		}
	}
	if m := pseudoVersion.FindStringSubmatch(info.Main.Version); m != nil && commit == "" {
		commit = m[2]
		if at, err := time.Parse("20060102150405", m[1]); err == nil {
			date = at.Format(time.RFC3339)
		}
	}
	if commit == "" {
		return "", ""
	}
	day, _, _ := strings.Cut(date, "T")
	return commit[:min(len(commit), 12)] + modified, day
}
