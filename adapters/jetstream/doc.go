// Package jetstream keeps threads in a log on NATS JetStream, so that one thread is visible in many processes and on many
// machines: one process runs its agent, and any number follow it.
//
// A [Log] is a [serve.Store]: with [serve.ThreadsOptions].Store, several replicas of a server share their threads. Outside of
// package serve, [Log.Hold] takes a thread for this process, [Hold.Session] makes its session, and [Log.Watch] follows it from
// anywhere.
//
// # The log
//
// Each thread has one subject, and each message on it has entries: the input of each run, its events, what the client changes
// between runs, tool results among it, stops, and who writes. A follower folds the entries as the writer's session does; at each
// entry both have the same thread, byte for byte in canonical JSON. Entries that come while a message is under way go into the
// next one, so under load messages grow and their rate does not.
//
// # One writer
//
// A thread is written by whoever holds its lease, an entry in a key-value bucket that expires unless it is renewed. The lease
// decides who may begin; the log decides what counts: each message is stored only if the one before it is the last of its
// subject (Nats-Expected-Last-Subject-Sequence), and says its writer's token, which only grows. So nothing is lost or stored
// twice, and a writer that was paused past its lease cannot write after its successor, whatever the clocks say.
//
// # Checkpoints
//
// By size and age the writer stores the thread as it is at a message of the log, and purges what is before the checkpoint
// before that, unless Options.KeepLog is set. Who opens or follows a thread begins with the newest checkpoint.
package jetstream
