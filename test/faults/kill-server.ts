import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import Type from 'typebox';
import { Parse } from 'typebox/value';
import { startHomeport } from '../../src/app/homeport.ts';
import { readConfig } from '../../src/config/config.ts';
import { DEADLY } from './deadly-sites.ts';

/** The process that idempotency.both.long-test.ts kills: an API server. Its settings are its only argument, in JSON. */
const settings = Parse(
  Type.Object({
    databaseUrl: Type.Union([Type.String(), Type.Null()]),
    dataDir: Type.String(),
    port: Type.Integer(),
    /** Whether it obeys {@link DEADLY}. */
    isDeadly: Type.Boolean(),
  }),
  JSON.parse(process.argv[2] ?? ''),
);

const portalFolder = join(settings.dataDir, 'killed-portal');
mkdirSync(join(portalFolder, 'portal/assets'), { recursive: true });
writeFileSync(join(portalFolder, 'index.html'), '<!doctype html><base href="/"><title>Homeport</title>');

const { platform } = await startHomeport(
  readConfig({
    HOMEPORT_DATA_DIR: settings.dataDir,
    ...(settings.databaseUrl === null ? {} : { HOMEPORT_DATABASE_URL: settings.databaseUrl }),
    HOMEPORT_LISTEN: `127.0.0.1:${settings.port}`,
    HOMEPORT_PUBLIC_URL: `https://localhost:${settings.port}`,
    HOMEPORT_RATE_LIMIT: '0',
    HOMEPORT_EMBEDDED_PHP_MB: '0',
    HOMEPORT_EMBEDDED_PHP: 'wasm',
    HOMEPORT_AUTH_FAILURE_LIMIT: '0',
  }),
  {
    log: pino({ level: 'warn' }, pino.destination({ dest: 2, sync: true })),
    schedules: false,
    portalFolder,
  },
  { api: true, hosting: false },
);

if (settings.isDeadly) {
  const { activity, database } = platform;
  let doomed: string | undefined;
  const dieAt = (moment: string) => {
    if (doomed === moment) process.kill(process.pid, 'SIGKILL');
  };

  const { record } = activity;
  activity.record = async (transaction, actor, accountId, change) => {
    await record(transaction, actor, accountId, change);
    doomed = change.subject.name;
    dieAt(DEADLY.inTransaction);
  };

  const { write } = database;
  let commits = 0;
  database.write = async (work) => {
    const result = await write(work);
    if (doomed !== undefined) commits++;
    // The first one is that of the change, the second one that of the answer.
    dieAt(commits === 1 ? DEADLY.beforeAnswer : DEADLY.afterAnswer);
    return result;
  };
}
process.stdout.write('ready\n');
