package words

import "strings"

// listed is the greatest number of names that List writes out.
const listed = 3

// List names things in a sentence: "api", "api and web", "api, web and db", or "12 resources" where there are more.
func List(names []string, thing string) string {
	switch n := len(names); {
	case n == 0:
		return "no " + thing
	case n > listed:
		return Count(n, thing)
	}
	return All(names)
}

// All names all of some things in a sentence: "api", "api and web", "api, web, db and cache"; empty for none.
func All(names []string) string {
	n := len(names)
	if n < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
}
