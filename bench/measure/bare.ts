import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/servers/free-port.ts';
import { type Served, type ServedHomeport, serve } from './processes.ts';

/** A server that answers each `/v1/installs/{id}` with the same JSON through the same schema, by the framework alone. */
export async function serveBare(
  server: ServedHomeport,
  schema: object,
  body: unknown,
  folder: string,
): Promise<Served> {
  const answerFile = join(folder, 'answer.json');
  writeFileSync(answerFile, JSON.stringify({ schema, body }));
  const port = await freePort();
  const tls = (name: string) => join(server.dataDir, 'tls', name);
  return serve(
    [process.execPath, 'bench/servers/bare.ts', String(port), tls('api.crt'), tls('api.key'), answerFile],
    { origin: `https://localhost:${port}`, ca: () => server.ca },
  );
}
