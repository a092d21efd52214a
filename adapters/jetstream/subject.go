package jetstream

import (
	"errors"
	"fmt"
	"strings"
)

// maxThreadID bounds the id of a thread, in bytes: each may take three in a subject, which a server bounds.
const maxThreadID = 1024

// plain reports whether a byte stands for itself in a token of a subject.
func plain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// Token returns the id of a thread as one token of a subject, which is also a key of a bucket: letters, digits, - and _ stand
// for themselves, other bytes are = and two hexadecimal digits, and the empty id is a single =. Different ids have different
// tokens.
func Token(threadID string) string {
	if threadID == "" {
		return "="
	}
	i := 0
	for i < len(threadID) && plain(threadID[i]) {
		i++
	}
	if i == len(threadID) {
		return threadID
	}
	var b strings.Builder
	for _, c := range []byte(threadID) {
		if plain(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "=%02x", c)
		}
	}
	return b.String()
}

var errToken = errors.New("it is not the token of a thread")

// ThreadID returns the id whose token is given, or an error if it is none.
func ThreadID(token string) (string, error) {
	if token == "=" {
		return "", nil
	}
	var b strings.Builder
	for i := 0; i < len(token); i++ {
		c := token[i]
		switch {
		case plain(c):
			b.WriteByte(c)
		case c == '=' && i+2 < len(token):
			var n byte
			if _, err := fmt.Sscanf(token[i+1:i+3], "%02x", &n); err != nil {
				return "", errToken
			}
			b.WriteByte(n)
			i += 2
		default:
			return "", errToken
		}
	}
	if id := b.String(); id != "" && Token(id) == token {
		return id, nil
	}
	return "", errToken
}

// prefix begins all subjects of the stream.
func (o *Options) prefix() string { return strings.ToLower(o.Name) + "." }

// entries is the subject of a thread's log.
func (o *Options) entries(token string) string { return o.prefix() + "t." + token }

// checkpoints is the subject of a thread's checkpoints.
func (o *Options) checkpoints(token string) string { return o.prefix() + "c." + token }

// control is the subject on which a process listens; it is not one of the stream.
func (o *Options) control(process string) string {
	return "_" + strings.ToLower(o.Name) + ".ctl." + process
}
