import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

// The cost of TLS in Node alone: one certificate, no SNI. Arguments: port, certificate file, key file.
const [port, cert, key] = process.argv.slice(2);
const server = createServer(
  { cert: readFileSync(String(cert)), key: readFileSync(String(key)), minVersion: 'TLSv1.2' },
  (_request, response) => response.end(),
);
server.listen(Number(port), '127.0.0.1');
