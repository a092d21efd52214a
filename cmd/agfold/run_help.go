package main

const runHelp = `agfold run talks to an agent and shows its runs as they arrive: on a terminal redrawn in
place, else as plain lines.

Usage:

    agfold run [FLAGS]
    agfold run --url URL --message TEXT [FLAGS]

Without --url it starts the demo agent (see agfold serve-demo) in this process and talks
to it over HTTP on the loopback interface. With --url it POSTs to any AG-UI endpoint.
Nothing is ever sent twice.

The agent:

    --url URL         the AG-UI endpoint
    --header 'K: V'   send this header along; may be repeated
    --peer VERSION    the agent speaks an older protocol, such as 0.0.57
    --pace N          scale the demo agent's pauses: 1 is the pace of a model, 0 none

What is said:

    --message TEXT    a user's message; may be repeated, each is sent when what came of
                      the one before has succeeded. The demo agent has a default.
    --input FILE      begin with a RunAgentInput, as JSON: its threadId, messages, state,
                      tools, context, forwardedProps and resume. Its runId is not used.
    --continue FILE   go on with a recorded thread, in any form that agfold replay reads
    --thread ID       the threadId, unless the thread has one already
    --state JSON      the shared state; @FILE reads it from a file
    --tools FILE      offer tools, a JSON array of name, description and parameters. agfold
                      cannot carry them out: calls of them stay pending and are reported.
    --clock           offer the tool local_time, which agfold carries out; the demo agent
                      is always offered it

- as a FILE is standard input.

Interrupts, the questions that a run may end with, are asked on the terminal if there is
one. Otherwise, or to answer beforehand:

    --answer ID=JSON  answer the interrupt ID; ID=decline declines it; may be repeated
    --yes             answer yes to every other question that yes is an answer to
    --no              answer no to every yes-or-no question, and decline the others

What is shown:

    --json            at the end, the thread as one JSON object on one line, as agfold
                      replay --json prints it, with its bound on the warnings
    --events          every event as it is delivered, one a line; with --json as an
                      object with ordinal, event, change and warnings
    --full            leave nothing out: long results, arguments, activities and states
                      are shortened otherwise; also show metadata
    --record FILE     write down all that the agent sends, for agfold replay and
                      --continue. What FILE held is replaced, unless it is the FILE of
                      --continue: then it is gone on with.

    --strict          treat what is unknown to the protocol as an error, not as a warning
    --timeout D       stop after a time such as 90s or 5m
    -h, --help        this text

Ctrl-C stops the run; what has come is shown, and how the run ended. A second Ctrl-C ends
agfold at once. Warnings go to standard error. Text is coloured on a terminal, unless
NO_COLOR is set; TERM=dumb shows plain lines.

Exit status:

    0    the last run succeeded, was interrupted or cancelled by the agent
    1    the run failed: it said RUN_ERROR
    2    wrong usage, or a file that is not what it should be
    3    the stream was rejected: an event is malformed or broke the protocol
    4    the stream ended before the run did, or --timeout was reached
    5    the agent cannot be reached or did not answer with events, or the output
         cannot be written
    130  stopped by Ctrl-C

Examples:

    agfold run
    agfold run --yes --events
    agfold run --url http://localhost:8000/agent --message "Hello" --header "Authorization: Bearer $TOKEN"
    agfold run --url http://localhost:8000/agent --input run.json --json | jq .messages
    agfold run --record talk.ndjson; agfold replay talk.ndjson
    agfold run --continue talk.ndjson --record talk.ndjson --message "And on Sunday?"
`
