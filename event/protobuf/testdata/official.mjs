// Encodes and decodes events with the official packages: a line {"encode": EVENT} of the input is answered with the frame
// in base64, a line {"decode": BASE64} with the event of a frame, both as {"ok": …}, or with {"error": …}.
import { createInterface } from "node:readline";
import { EventEncoder } from "@ag-ui/encoder";
import { AGUI_MEDIA_TYPE, AGUIUnknownEventTypeError, decode } from "@ag-ui/proto";

console.warn = () => {};
const encoder = new EventEncoder({ accept: AGUI_MEDIA_TYPE });
const answer = (line) => {
  const ask = JSON.parse(line);
  if ("encode" in ask) return Buffer.from(encoder.encodeBinary(ask.encode)).toString("base64");
  const frame = Buffer.from(ask.decode, "base64");
  if (frame.readUInt32BE(0) !== frame.length - 4) throw new Error("wrong length");
  return decode(new Uint8Array(frame.subarray(4)));
};
for await (const line of createInterface({ input: process.stdin })) {
  try {
    console.log(JSON.stringify({ ok: answer(line) }));
  } catch (e) {
    console.log(JSON.stringify({ error: String(e), unknown: e instanceof AGUIUnknownEventTypeError }));
  }
}
