// Package agenttest tests agents, and programs that talk to agents.
//
// [Run] and [Start] hold a conversation with an agent, strictly: a violation of the protocol, a warning, or a run that
// fails ends the test, with the part of the conversation where it happened. The [Conversation] then has assertions about
// what matters, the thread: what the agent said, which tools it called with which arguments, what is in the state, what
// it cost. [Golden] compares the whole thread with a file.
//
//	c := agenttest.Run(t, agent, "How warm is it in Oslo?")
//	c.Call("weather").Arg("/city", "Oslo")
//	c.Said("It is 4 °C in Oslo.")
//
// [Script] is an agent for tests of the other side: a UI, a server, a client. [NewServer] puts any agent behind real
// HTTP. [Faults] breaks its answers in every way that networks and servers do, the same way for the same seed.
// [Chunkings] yields streams that differ from a given one and must give the same thread.
//
// Everything takes a [require.TestingT], such as a *testing.T. Nothing here sleeps, except where it says so, so tests can
// run in a testing/synctest bubble.
//
// The rules cited as P-… are in [PROTOCOL.md].
//
// [PROTOCOL.md]: https://github.com/agfold/agfold/blob/main/PROTOCOL.md
package agenttest
