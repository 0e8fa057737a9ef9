package api

import "time"

// TicketRequest is the body of POST /api/ticket, which makes an address that lets a browser in. Only clients with the session's
// token, or at its socket, may make tickets. Resource is the resource that the page shows first; it may be empty.
type TicketRequest struct {
	Resource string `json:"resource,omitempty"`
}

// Ticket is the response to a TicketRequest. URL lets one browser in, once, before ExpiresAt.
type Ticket struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expiresAt"`
}
