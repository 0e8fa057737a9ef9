package compose

import (
	"encoding/json"
	"fmt"
	"strings"
)

// override returns a Compose file with the differences, or nil if there are none. It is JSON, which is valid YAML.
func (u Up) override() ([]byte, error) {
	service := map[string]any{}
	if u.Image != "" {
		service["image"], service["pull_policy"] = u.Image, "never"
	}
	if u.Entrypoint != nil {
		service["entrypoint"] = literal(u.Entrypoint)
		if len(u.Command) > 0 {
			service["command"] = literal(u.Command)
		}
	}
	if len(service) == 0 {
		return nil, nil
	}
	data, err := json.Marshal(map[string]any{"services": map[string]any{u.Service: service}})
	if err != nil {
		return nil, fmt.Errorf("write the override of service %s: %w", u.Service, err)
	}
	return data, nil
}

// literal escapes words, so that Compose replaces no variables in them.
func literal(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strings.ReplaceAll(w, "$", "$$")
	}
	return out
}
