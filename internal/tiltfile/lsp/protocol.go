package lsp

import "encoding/json"

// The part of LSP 3.17 that the server implements, with the protocol's names and numbers.

// message is a request, a notification or a response.
type message struct {
	Version string           `json:"jsonrpc"`
	ID      *json.RawMessage `json:"id,omitempty"`
	Method  string           `json:"method,omitempty"`
	Params  json.RawMessage  `json:"params,omitempty"`
}

// response answers a request. Exactly one of Result and Error is sent; a Result of null is one.
type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *responseError  `json:"error,omitempty"`
}

type responseError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error returns the message.
func (e *responseError) Error() string { return e.Message }

var _ error = (*responseError)(nil)

// The error codes of JSON-RPC and LSP.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeUnknownMethod  = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
	codeNotInitialized = -32002
	codeRequestFailed  = -32803
)

type notification struct {
	Version string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

type initializeParams struct {
	Capabilities struct {
		General struct {
			PositionEncodings []string `json:"positionEncodings"`
		} `json:"general"`
		TextDocument struct {
			Completion struct {
				CompletionItem struct {
					SnippetSupport bool `json:"snippetSupport"`
				} `json:"completionItem"`
			} `json:"completion"`
		} `json:"textDocument"`
	} `json:"capabilities"`
}

type initializeResult struct {
	Capabilities serverCapabilities `json:"capabilities"`
	ServerInfo   serverInfo         `json:"serverInfo"`
}

type serverInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type serverCapabilities struct {
	PositionEncoding       string            `json:"positionEncoding"`
	TextDocumentSync       syncOptions       `json:"textDocumentSync"`
	CompletionProvider     completionOptions `json:"completionProvider"`
	SignatureHelpProvider  signatureOptions  `json:"signatureHelpProvider"`
	HoverProvider          bool              `json:"hoverProvider"`
	DefinitionProvider     bool              `json:"definitionProvider"`
	DocumentSymbolProvider bool              `json:"documentSymbolProvider"`
	FormattingProvider     bool              `json:"documentFormattingProvider"`
}

type syncOptions struct {
	OpenClose bool `json:"openClose"`
	Change    int  `json:"change"`
}

// syncIncremental means that changes are sent as edits.
const syncIncremental = 2

type completionOptions struct {
	TriggerCharacters []string `json:"triggerCharacters"`
	ResolveProvider   bool     `json:"resolveProvider"`
}

type signatureOptions struct {
	TriggerCharacters []string `json:"triggerCharacters"`
}

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI   string `json:"uri"`
	Range span   `json:"range"`
}

type documentID struct {
	URI string `json:"uri"`
}

type didOpenParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
		Text    string `json:"text"`
	} `json:"textDocument"`
}

type didChangeParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
	} `json:"textDocument"`
	ContentChanges []contentChange `json:"contentChanges"`
}

// contentChange replaces Range with Text, or the whole document if there is no Range.
type contentChange struct {
	Range *span  `json:"range"`
	Text  string `json:"text"`
}

type documentParams struct {
	TextDocument documentID `json:"textDocument"`
}

type positionParams struct {
	TextDocument documentID `json:"textDocument"`
	Position     position   `json:"position"`
}

type completionList struct {
	IsIncomplete bool             `json:"isIncomplete"`
	Items        []completionItem `json:"items"`
}

type completionItem struct {
	Label         string         `json:"label"`
	Kind          int            `json:"kind"`
	Detail        string         `json:"detail,omitempty"`
	Documentation *markup        `json:"documentation,omitempty"`
	SortText      string         `json:"sortText,omitempty"`
	FilterText    string         `json:"filterText,omitempty"`
	TextEdit      *textEdit      `json:"textEdit,omitempty"`
	TextFormat    int            `json:"insertTextFormat,omitempty"`
	Data          *completionTag `json:"data,omitempty"`
}

// completionTag identifies an item for completionItem/resolve, which looks up its documentation.
type completionTag struct {
	// Name is the name of an entry of the language, Of the type of a method.
	Name string `json:"name"`
	Of   string `json:"of,omitempty"`
}

// The kinds of completion items.
const (
	kindMethod    = 2
	kindFunction  = 3
	kindVariable  = 6
	kindModule    = 9
	kindProperty  = 10
	kindValue     = 12
	kindKeyword   = 14
	kindFile      = 17
	kindFolder    = 19
	kindConstant  = 21
	formatSnippet = 2
)

type textEdit struct {
	Range   span   `json:"range"`
	NewText string `json:"newText"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

func markdown(text string) *markup { return &markup{"markdown", text} }

type hover struct {
	Contents markup `json:"contents"`
	Range    span   `json:"range"`
}

type signatureHelp struct {
	Signatures      []signatureInformation `json:"signatures"`
	ActiveSignature int                    `json:"activeSignature"`
	ActiveParameter int                    `json:"activeParameter"`
}

type signatureInformation struct {
	Label         string                 `json:"label"`
	Documentation *markup                `json:"documentation,omitempty"`
	Parameters    []parameterInformation `json:"parameters"`
}

// parameterInformation marks a parameter in the label by offsets in UTF-16 units.
type parameterInformation struct {
	Label         [2]int  `json:"label"`
	Documentation *markup `json:"documentation,omitempty"`
}

type documentSymbol struct {
	Name           string `json:"name"`
	Detail         string `json:"detail,omitempty"`
	Kind           int    `json:"kind"`
	Range          span   `json:"range"`
	SelectionRange span   `json:"selectionRange"`
}

// The kinds of symbols.
const (
	symbolModule   = 2
	symbolFunction = 12
	symbolVariable = 13
	symbolObject   = 19
)

type publishDiagnostics struct {
	URI         string       `json:"uri"`
	Version     int          `json:"version"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type diagnostic struct {
	Range    span   `json:"range"`
	Severity int    `json:"severity"`
	Source   string `json:"source"`
	Message  string `json:"message"`
}

// The severities of diagnostics.
const (
	severityError   = 1
	severityWarning = 2
)
