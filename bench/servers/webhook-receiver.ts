import { createServer } from 'node:http';
import Type from 'typebox';
import { Value } from 'typebox/value';

/**
 * The receiver of bench/webhooks.ts, in a process of its own. It tells its parent the delays of the events in milliseconds, many at a
 * time: a message for each would delay the requests that the parent measures.
 */
const TOLD_EVERY_MS = 100;
let delaysMs: number[] = [];
const eventSchema = Type.Object({ timestamp: Type.String() });

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    response.writeHead(204).end();
    const event = Value.Parse(eventSchema, JSON.parse(Buffer.concat(chunks).toString()));
    delaysMs.push(Date.now() - Date.parse(event.timestamp));
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) process.send?.({ port: address.port });
});
setInterval(() => {
  if (delaysMs.length > 0) process.send?.({ delaysMs });
  delaysMs = [];
}, TOLD_EVERY_MS);
process.on('disconnect', () => process.exit());
