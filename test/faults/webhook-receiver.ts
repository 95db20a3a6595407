import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';

/** The receiver that webhooks.long-test.ts kills. Arguments: its port, and the journal with a line for each message that it got. */
const [, , port = '', journal = ''] = process.argv;

createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    appendFileSync(journal, `${Buffer.concat(chunks).toString()}\n`);
    response.writeHead(204).end();
  });
}).listen(Number(port), '127.0.0.1');
