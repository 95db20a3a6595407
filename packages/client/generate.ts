/**
 * Writes the client's description, endpoints and types: `npm run client:generate`. A test checks that the committed description
 * is current.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { ownCertificateFile } from '../../src/api/api-certificate.ts';
import { startHomeport } from '../../src/app/homeport.ts';
import { readConfig } from '../../src/config/config.ts';
import { fetchDescription } from '../../web/api/types/describe.ts';
import { endpointsOf, portableDescription } from './description.ts';

// The generator needs the compiler's API of TypeScript 5, which Homeport itself does not install.
const GENERATOR = ['--package', 'openapi-typescript@7.13.0', '--package', 'typescript@5.9.3'];

const folder = import.meta.dirname;
const temporary = mkdtempSync(join(tmpdir(), 'homeport-client-'));
const dataDir = join(temporary, 'data');
try {
  const config = readConfig({ HOMEPORT_DATA_DIR: dataDir, HOMEPORT_LISTEN: '127.0.0.1:0' });
  const homeport = await startHomeport(
    config,
    { log: pino({ level: 'silent' }) },
    { api: true, hosting: false },
  );
  const origin = `https://127.0.0.1:${homeport.api?.port}`;
  const served = await fetchDescription(
    { origin, ca: readFileSync(ownCertificateFile(dataDir), 'utf8') },
    '/v1/swagger',
  );
  await homeport.stop();
  const description = portableDescription(served);
  const descriptionFile = join(folder, 'openapi.json');
  writeFileSync(descriptionFile, `${JSON.stringify(description, null, 1)}\n`);
  const endpointsFile = join(folder, 'src', 'endpoints.ts');
  writeFileSync(endpointsFile, endpointsOf(description));
  execFileSync(
    'npx',
    [
      '--yes',
      ...GENERATOR,
      'openapi-typescript',
      descriptionFile,
      '--output',
      join(folder, 'src', 'api-types.ts'),
    ],
    { stdio: 'inherit' },
  );
} finally {
  rmSync(temporary, { recursive: true });
}
