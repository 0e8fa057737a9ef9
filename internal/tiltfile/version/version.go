// Package version compares semantic versions with constraints such as ">=0.30.0 <1.0.0".
package version

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// version is a semantic version without pre-release and build.
type version [3]int

var (
	versionText = regexp.MustCompile(`^v?(\d+)(?:\.(\d+|x|X|\*))?(?:\.(\d+|x|X|\*))?(?:[-+][0-9A-Za-z.+-]+)?$`)
	comparator  = regexp.MustCompile(`^(<=|>=|==|!=|<|>|=|!|~|\^)?\s*(\S+)$`)
	glueSpaces  = regexp.MustCompile(`([<>=!~^])\s+`)
)

// Satisfies reports whether a version satisfies a constraint: comparisons that must all hold (">=0.30.0 <1.0.0"), in
// alternatives separated by "||".
func Satisfies(v, constraint string) (bool, error) {
	have, _, err := parseVersion(v)
	if err != nil {
		return false, err
	}
	fits := false
	for alternative := range strings.SplitSeq(constraint, "||") {
		terms := strings.FieldsFunc(glueSpaces.ReplaceAllString(alternative, "$1"), func(r rune) bool { return r == ' ' || r == ',' })
		if len(terms) == 0 {
			return false, fmt.Errorf("constraint %q has an empty alternative", constraint)
		}
		all := true
		for _, t := range terms {
			ok, err := compare(have, t)
			if err != nil {
				return false, fmt.Errorf("constraint %q: %w", constraint, err)
			}
			all = all && ok
		}
		fits = fits || all
	}
	return fits, nil
}

// parseVersion also returns how many of the components were given.
func parseVersion(s string) (version, int, error) {
	m := versionText.FindStringSubmatch(s)
	if m == nil {
		return version{}, 0, fmt.Errorf("%q is not a version such as 0.30.2", s)
	}
	var v version
	given := 0
	for i := range v {
		if m[i+1] == "" || strings.ContainsAny(m[i+1], "xX*") {
			break
		}
		n, err := strconv.Atoi(m[i+1])
		if err != nil {
			return version{}, 0, fmt.Errorf("%q has a number that is too large", s)
		}
		v[i], given = n, given+1
	}
	return v, given, nil
}

// compare reports whether a version satisfies one comparison. Components that the term leaves out stand for any number:
// ">0.30" begins at 0.31.0. "~" allows later patches, or later minor versions if only the major one is given. "^"
// allows later versions with the same first component that is not zero.
func compare(have version, term string) (bool, error) {
	m := comparator.FindStringSubmatch(term)
	if m == nil {
		return false, fmt.Errorf("%q is not a comparison such as >=0.30.0", term)
	}
	want, given, err := parseVersion(m[2])
	if err != nil {
		return false, err
	}
	// above is the first version after all those that start with the given components.
	above := bump(want, given-1)
	switch m[1] {
	case "<":
		return order(have, want) < 0, nil
	case "<=":
		return order(have, above) < 0, nil
	case ">":
		return order(have, above) >= 0, nil
	case ">=":
		return order(have, want) >= 0, nil
	case "!=", "!":
		return order(have, want) < 0 || order(have, above) >= 0, nil
	case "~":
		return order(have, want) >= 0 && order(have, bump(want, min(given-1, 1))) < 0, nil
	case "^":
		first := 0
		for first < 2 && want[first] == 0 {
			first++
		}
		return order(have, want) >= 0 && order(have, bump(want, first)) < 0, nil
	}
	return order(have, want) >= 0 && order(have, above) < 0, nil
}

// bump returns the next version that differs in component i.
func bump(v version, i int) version {
	v[i]++
	for j := i + 1; j < len(v); j++ {
		v[j] = 0
	}
	return v
}

func order(a, b version) int {
	for i := range a {
		if a[i] != b[i] {
			return a[i] - b[i]
		}
	}
	return 0
}
