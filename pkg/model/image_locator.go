package model

// ImageLocator is the place of an image reference in an object whose kind has no known pod template (k8s_kind and
// k8s_image_json_path). The Tiltfile's selectors are already resolved: a locator belongs to one object.
type ImageLocator struct {
	Object ObjectID
	// Path is a JSONPath into the object, e.g. "{.spec.image}" or "{.spec.nodes[*].image}".
	Path string
	// RepoField and TagField, if set, are the fields of the map at Path that hold the repository and the tag of the
	// reference.
	RepoField string
	TagField  string
}
