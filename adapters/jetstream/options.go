package jetstream

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Stuck says what becomes of runs while their events cannot be stored.
type Stuck uint8

const (
	// StopRun ends the run with a [*StuckError], and no other begins until the log can be written again. It is the default: a run
	// that nobody can follow, and that is lost in a crash, does not go on.
	StopRun Stuck = iota
	// GoOn lets the run go on. Its warnings say that it is not stored, and so does the log, as soon as it can be written again;
	// once no run is in progress the thread is stored as a whole.
	GoOn
)

// Options configures [New]; nil means defaults.
type Options struct {
	// Name begins the names of the stream, NAME, and of the bucket of leases, NAME_leases; it is made of letters, digits, - and _.
	// Subjects begin with it, in lower case. "" means AGFOLD.
	Name string
	// Holder names this process to people in other ones, such as a host's name. "" means the host's name and the process id.
	Holder string
	// Replicas is how many servers of a cluster store each message, 1, 3 or 5. 0 means 1.
	Replicas int
	// Memory keeps the log in the servers' memory, for tests.
	Memory bool
	// MaxBytes bounds the stream; once it is full nothing more is stored, and nothing is dropped. 0 means no bound but the servers'.
	MaxBytes int64
	// Existing takes the stream and the bucket as they are: they must exist, and their limits are not compared with the options.
	Existing bool

	// LeaseTTL is how long a thread stays with a process that is not heard of. 0 means 15 s; the least is 500 ms.
	LeaseTTL time.Duration
	// Window bounds the entries of one thread that wait to be stored, in bytes; a run waits while it is full. 0 means 4 MiB.
	Window int
	// StuckAfter is how long nothing can be stored before the log counts as stuck. 0 means 10 s. A full disk or stream counts at once.
	StuckAfter time.Duration
	// WhenStuck says what becomes of runs then.
	WhenStuck Stuck
	// CheckpointBytes is how long the log grows before a checkpoint is written, or twice the length of the last one, if that is
	// more. 0 means 1 MiB, a negative number no checkpoints.
	CheckpointBytes int
	// CheckpointAge is how old an entry becomes before a checkpoint is written with the next entry. 0 means 1 min, a negative
	// value no limit.
	CheckpointAge time.Duration
	// KeepLog keeps the entries behind checkpoints.
	KeepLog bool
	// MaxEntryBytes bounds what a reader puts together from the parts of one message. 0 means 128 MiB.
	MaxEntryBytes int

	// Strict and MaxPatchedBytes are those of the sessions whose threads are kept; see client.SessionOptions.
	Strict          bool
	MaxPatchedBytes int

	// Logger gets what happens to threads without anybody asking: entries that were skipped, a log that is stuck, a thread that
	// was lost. Nil means slog.Default().
	Logger *slog.Logger

	now   func() time.Time // by the wall clock; nil is time.Now
	trace func(leaseOp)    // for tests
}

// filled returns the options with defaults, or what is wrong with them.
func (o *Options) filled() (Options, error) {
	var f Options
	if o != nil {
		f = *o
	}
	f.Name = cmp.Or(f.Name, "AGFOLD")
	for _, c := range f.Name {
		if !plain(byte(c)) || c > 0x7f {
			return f, fmt.Errorf("the name %q is not made of letters, digits, - and _", f.Name)
		}
	}
	if f.Holder == "" {
		host, _ := os.Hostname()
		f.Holder = fmt.Sprintf("%s/%d", cmp.Or(host, "localhost"), os.Getpid())
	}
	f.Replicas = cmp.Or(f.Replicas, 1)
	f.LeaseTTL = cmp.Or(f.LeaseTTL, 15*time.Second)
	if f.LeaseTTL < 500*time.Millisecond {
		return f, fmt.Errorf("a lease of %v is too short: the least is 500ms", f.LeaseTTL)
	}
	f.Window = cmp.Or(f.Window, 4<<20)
	f.StuckAfter = cmp.Or(f.StuckAfter, 10*time.Second)
	f.CheckpointBytes = cmp.Or(f.CheckpointBytes, 1<<20)
	f.CheckpointAge = cmp.Or(f.CheckpointAge, time.Minute)
	f.MaxEntryBytes = cmp.Or(f.MaxEntryBytes, 128<<20)
	if f.now == nil {
		f.now = time.Now
	}
	return f, nil
}

func (o *Options) log() *slog.Logger {
	if o.Logger != nil {
		return o.Logger
	}
	return slog.Default()
}

// stream returns the configuration of the stream.
func (o *Options) stream() jetstream.StreamConfig {
	c := jetstream.StreamConfig{
		Name: o.Name, Description: "threads of agfold", Subjects: []string{o.prefix() + ">"},
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew, MaxBytes: -1, MaxMsgs: -1, MaxMsgsPerSubject: -1,
		Replicas: o.Replicas, AllowDirect: true, Duplicates: time.Second, // nothing is recognized by its message id
	}
	if o.MaxBytes > 0 {
		c.MaxBytes = o.MaxBytes
	}
	if o.Memory {
		c.Storage = jetstream.MemoryStorage
	}
	return c
}

// bucket returns the configuration of the bucket of leases.
func (o *Options) bucket() jetstream.KeyValueConfig {
	c := jetstream.KeyValueConfig{Bucket: o.Name + "_leases", Description: "who writes which thread of agfold", History: 1, TTL: o.LeaseTTL, Replicas: o.Replicas}
	if o.Memory {
		c.Storage = jetstream.MemoryStorage
	}
	return c
}
