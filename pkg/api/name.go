package api

import "strings"

// TablesGroup is the API group of the store's tables: each entry is an object.
const TablesGroup = "hone.dev"

// ObjectName returns the name of the object of a table's entry. Names must not hold slashes and percent signs, which ids may:
// "web/80" is "web:80".
func ObjectName(id string) string {
	if id == "." || id == ".." {
		return "~" + id
	}
	return inPath.Replace(id)
}

var inPath = strings.NewReplacer("~", "~~", ":", "~c", "%", "~p", "/", ":")
