package jetstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

var (
	// ErrLost is matched by the error of whatever is tried with a thread after another process may have taken it, because the
	// lease has expired or the log has a later writer. What was not stored then is not stored.
	ErrLost = errors.New("the thread was lost to another process")
	// ErrClosed is returned for a thread that was given up, and by a Log that was closed.
	ErrClosed = errors.New("the log is closed")
)

// StuckError says that entries of a thread cannot be stored. It matches its cause, which is a *FullError, an *AccessError,
// or what the connection says.
type StuckError struct {
	ThreadID string
	Since    time.Duration // how long nothing could be stored
	Err      error
}

// Error says for how long, and why.
func (e *StuckError) Error() string {
	return fmt.Sprintf("the log of the thread %q cannot be written, for %v: %v", e.ThreadID, e.Since.Round(time.Millisecond), e.Err)
}

// Unwrap returns the cause.
func (e *StuckError) Unwrap() error { return e.Err }

// FullError says that a limit of the server, the account or the stream is reached. Nothing was dropped: make room, or raise the
// limit, and the log continues.
type FullError struct{ Err error }

// Error says what to do.
func (e *FullError) Error() string {
	return fmt.Sprintf("there is no room for more entries (%v): raise the limit of the stream or the account, free disk, or delete threads", e.Err)
}

// Unwrap returns the server's error.
func (e *FullError) Unwrap() error { return e.Err }

// AccessError says that the server does not let this process in, or not do what it needs to.
type AccessError struct {
	What string // what was refused, or failed
	Do   string // what to do about it
	Err  error
}

// Error says what failed, why, and what to do.
func (e *AccessError) Error() string { return fmt.Sprintf("%s: %v; %s", e.What, e.Err, e.Do) }

// Unwrap returns the cause.
func (e *AccessError) Unwrap() error { return e.Err }

// ConfigError says that a stream or a bucket exists and is not what the options ask for.
type ConfigError struct {
	Name  string // of the stream or the bucket
	Field string // such as "replicas"
	Have  string // what it is
	Want  string // what it should be
}

// Error says what differs and what to do.
func (e *ConfigError) Error() string {
	return fmt.Sprintf("%s exists, and its %s is %s, not %s: change it (nats stream edit), choose another Options.Name, or set Options.Existing to take it as it is",
		e.Name, e.Field, e.Have, e.Want)
}

// DamageError says that an entry of a log cannot be read, so that what followed it is missing, until the thread is stated
// anew. It is the error of the run that is cut there.
type DamageError struct {
	Sequence uint64 // of the message, in the stream
	Reason   string
}

// Error names the message.
func (e *DamageError) Error() string {
	return fmt.Sprintf("the entry at sequence %d of the log cannot be read: %s", e.Sequence, e.Reason)
}

// codes of errors of JetStream that have no names in the client.
const (
	codeAccountResources = 10002
	codeInsufficient     = 10023
	codeMemory           = 10028
	codeStorage          = 10047
	codeStreamStore      = 10077 // storing failed: a limit of the stream, or its disk
	codeStreamMaxBytes   = 10122
)

// isConflict reports whether the subject has another last sequence than was expected.
func isConflict(err error) bool {
	if api, ok := errors.AsType[*jetstream.APIError](err); ok {
		return api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant
	}
	return false
}

// advised returns the error as one that says what to do, if there is something.
func advised(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if _, done := errors.AsType[*AccessError](err); done {
		return err
	}
	if api, ok := errors.AsType[*jetstream.APIError](err); ok {
		switch api.ErrorCode {
		case codeAccountResources, codeInsufficient, codeMemory, codeStorage, codeStreamStore, codeStreamMaxBytes:
			return &FullError{err}
		case jetstream.JSErrCodeJetStreamNotEnabled, jetstream.JSErrCodeJetStreamNotEnabledForAccount:
			return &AccessError{"JetStream cannot be used", "enable it in the server (nats-server -js) and for the account", err}
		}
	}
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, host := errors.AsType[x509.HostnameError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	_, record := errors.AsType[tls.RecordHeaderError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked),
		errors.Is(err, nats.ErrAccountAuthExpired), errors.Is(err, nats.ErrNkeysNotSupported):
		return &AccessError{"the server refuses the credentials", "pass those of an account with JetStream: a user and password in the URL, a token, or a credentials file", err}
	case errors.Is(err, nats.ErrPermissionViolation):
		return &AccessError{"the server refuses an operation", "allow this user the subjects of the stream, _INBOX.>, and $JS.API.> or what of it is needed", err}
	case errors.Is(err, nats.ErrSecureConnRequired), errors.Is(err, nats.ErrSecureConnWanted), unknown, host, invalid, record, alert:
		return &AccessError{"the connection cannot be made secure", "use tls:// and the certificate authority of the server, or nats:// if it has no TLS", err}
	}
	return err
}
