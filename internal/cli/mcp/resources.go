package mcp

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hone-dev/hone/internal/base/problem"
)

// The addresses of the resources of the protocol. They have the texts of the tools' answers.
const (
	statusURI   = "hone://status"
	resourceURI = "hone://resource/"
	logsURI     = "hone://logs/"
)

// addResources adds the texts that users may attach to a conversation.
func (s *Server) addResources() {
	const plain = "text/plain"
	s.mcp.AddResource(&mcp.Resource{URI: statusURI, Name: "status", Title: "How the session is", MIMEType: plain}, func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		said, err := asked(ctx, s, "status", status, statusIn{})
		return contents(r, said, err)
	})
	s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: resourceURI + "{name}", Name: "resource", Title: "Why a resource is as it is", MIMEType: plain}, func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		name, err := nameIn(r.Params.URI, resourceURI)
		if err != nil {
			return nil, err
		}
		said, err := asked(ctx, s, "why", why, whyIn{Resource: name})
		return contents(r, said, err)
	})
	s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: logsURI + "{name}", Name: "logs", Title: "The newest lines of a resource", MIMEType: plain}, func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		name, err := nameIn(r.Params.URI, logsURI)
		if err != nil {
			return nil, err
		}
		said, err := asked(ctx, s, "logs", logs, logsIn{Resources: []string{name}})
		return contents(r, said, err)
	})
}

// nameIn returns the name of a resource of the session in an address.
func nameIn(uri, prefix string) (string, error) {
	name, err := url.PathUnescape(strings.TrimPrefix(uri, prefix))
	if err != nil || name == "" {
		return "", problem.New("the address names no resource", "write "+prefix+"NAME")
	}
	return name, nil
}

func contents(r *mcp.ReadResourceRequest, said string, err error) (*mcp.ReadResourceResult, error) {
	if err != nil {
		return nil, err
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: "text/plain", Text: said}}}, nil
}

// addPrompts adds the requests that clients offer their users as commands.
func (s *Server) addPrompts() {
	for _, p := range []struct{ name, title, text string }{
		{"what-is-broken", "What is broken?", "Call the tool status of hone. For each failure, call why, and look at the place in the source that it names. Tell me for each one what fails, why, and how to mend it. Change nothing yet."},
		{"verify-my-change", "Verify my change", "Call the tool settle of hone. If the result is live, tell me what ran it and how long that took. If it is failing, call why about the resource, tell me the cause, and propose a mend. If it is waiting, settle again. If it is unknown, call status and tell me the reason."},
	} {
		s.mcp.AddPrompt(&mcp.Prompt{Name: p.name, Title: p.title}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Description: p.title, Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: p.text}}}}, nil
		})
	}
}

// asked returns the text of the answer of a tool.
func asked[In any, T item[T]](ctx context.Context, s *Server, tool string, do func(context.Context, call, In) (answer[T], error), in In) (string, error) {
	said, _, err := perform(ctx, s, tool, do, in)
	if err != nil {
		return "", fmt.Errorf("%s: %w", tool, err)
	}
	return said, nil
}
