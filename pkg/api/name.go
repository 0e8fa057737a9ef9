package api

import "strings"

// TablesGroup is the API group of the store's tables: each entry is an object.
const TablesGroup = "hone.dev"

// ObjectName returns the object name for the id of a table entry. Ids may contain slashes and percent signs, which names must
// not: "web/80" becomes "web:80".
func ObjectName(id string) string {
	if id == "." || id == ".." {
		return "~" + id
	}
	return inPath.Replace(id)
}

var inPath = strings.NewReplacer("~", "~~", ":", "~c", "%", "~p", "/", ":")
