import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

// The cost of TLS in Node alone: one certificate, no SNI. Arguments: port, certificate file, key file, and a file that is each answer.
const [port, cert, key, file] = process.argv.slice(2);
const body = file === undefined ? undefined : readFileSync(file);
const server = createServer(
  { cert: readFileSync(String(cert)), key: readFileSync(String(key)), minVersion: 'TLSv1.2' },
  (_request, response) =>
    body === undefined
      ? response.end()
      : response.writeHead(200, { 'Content-Length': body.length }).end(body),
);
server.listen(Number(port), '127.0.0.1');
