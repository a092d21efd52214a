// Talks to the agent at the URL given as the argument with the official client, over as many runs as there are user
// messages, and prints what it ended with, one JSON object a line. Run it in a folder with @ag-ui/client.
import { HttpAgent } from "@ag-ui/client";

const [url, ...texts] = process.argv.slice(1);
console.warn = console.error = () => {};
const agent = new HttpAgent({ url, threadId: "t" });
for (const [i, text] of texts.entries()) {
  agent.addMessage({ id: `user-${i}`, role: "user", content: text });
  const types = [];
  let failed = null, runError = null;
  try {
    await agent.runAgent({ runId: `run-${i}`, tools: [{ name: "local_time", description: "tells the time", parameters: {} }] }, {
      onEvent: ({ event }) => { types.push(event.type); },
      onRunErrorEvent: ({ event }) => { runError = event; },
    });
  } catch (e) {
    failed = String(e?.message ?? e);
  }
  console.log(JSON.stringify({ types, failed, runError, messages: agent.messages, state: agent.state }));
}
