package compose

import (
	"encoding/json"
	"fmt"
	"strings"
)

// override returns the Compose file that makes the differences, nil when there are none. It is JSON, which is YAML.
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
		return nil, fmt.Errorf("write what differs about service %s: %w", u.Service, err)
	}
	return data, nil
}

// literal keeps Compose from putting variables in.
func literal(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strings.ReplaceAll(w, "$", "$$")
	}
	return out
}
