/**
 * Serves a folder over HTTP on 127.0.0.1 until it is ended: `release-server.ts FOLDER PORT`. Below `/cut/`, an answer with a package ends in
 * its middle. It is a program, because it runs in the network of a machine.
 */
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, normalize } from 'node:path';
import { pipeline } from 'node:stream/promises';

const [folder = '', port = ''] = process.argv.slice(2);

createServer((request, response) => {
  const path = normalize(decodeURIComponent(request.url ?? '/'));
  const stat = statSync(join(folder, path), { throwIfNoEntry: false });
  if (!stat?.isFile()) {
    response.writeHead(404).end();
    return;
  }
  const isCut = path.startsWith('/cut/') && path.endsWith('.deb');
  response.writeHead(200, { 'content-length': stat.size });
  const file = createReadStream(join(folder, path), isCut ? { end: Math.floor(stat.size / 2) } : {});
  // Without an end of the answer, the connection ends.
  pipeline(file, response, { end: !isCut }).then(
    () => isCut && response.destroy(),
    () => response.destroy(),
  );
}).listen(Number(port), '127.0.0.1', () => process.stdout.write('serving\n'));
