/**
 * Writes the client's types from both OpenAPI descriptions: `npm run web:types`. A test checks that the committed
 * types are current.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { ownCertificateFile } from '../../../src/api/api-certificate.ts';
import { startHomeport } from '../../../src/app/homeport.ts';
import { readConfig } from '../../../src/config/config.ts';
import { DESCRIPTIONS, fetchDescription } from './describe.ts';
import { typesOf } from './types-of-description.ts';

const temporary = mkdtempSync(join(tmpdir(), 'homeport-types-'));
const dataDir = join(temporary, 'data');
try {
  const config = readConfig({ HOMEPORT_DATA_DIR: dataDir, HOMEPORT_LISTEN: '127.0.0.1:0' });
  const homeport = await startHomeport(
    config,
    { log: pino({ level: 'silent' }) },
    { api: true, hosting: false },
  );
  const origin = `https://127.0.0.1:${homeport.api?.port}`;
  const ca = readFileSync(ownCertificateFile(dataDir), 'utf8');
  for (const [file, path] of Object.entries(DESCRIPTIONS)) {
    const types = typesOf(await fetchDescription({ origin, ca }, path));
    writeFileSync(new URL(`../${file}`, import.meta.url), types);
  }
  await homeport.stop();
} finally {
  rmSync(temporary, { recursive: true });
}
