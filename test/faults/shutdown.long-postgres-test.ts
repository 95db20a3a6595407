import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ownCertificateFile } from '../../src/api/api-certificate.ts';
import { environmentFor, type Running, serve } from '../cli/run-homeport.ts';
import { createAgent, createClient } from '../client.ts';
import { temporaryFolder } from '../database.ts';
import { onlyInLong } from '../rounds.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../servers/postgres-server.ts';

const USERNAME = '5f0c2a44-95c1-4f3c-8d4e-0a4b7f0f6a11';
const PASSWORD = 'sixteen characters and more';

describe('SIGTERM when PostgreSQL', () => {
  let postgres: PostgresServer;
  let folder: ReturnType<typeof temporaryFolder>;

  beforeAll(async () => {
    postgres = await startPostgres(findPostgres() ?? '');
    folder = temporaryFolder();
  });
  afterAll(async () => {
    await postgres.stop();
    folder.remove();
  });

  /** A server that has something to write down when it ends: when a credential was last used. */
  async function serveAndUse(place: string): Promise<Running> {
    const settings = { databaseUrl: postgres.url, dataDir: `${folder.path}/${place}` };
    const environment = await environmentFor(
      { settings, remove: async () => {} },
      { HOMEPORT_RESOLVERS: '127.0.0.1:9', HOMEPORT_INITIAL_CREDENTIAL: `${USERNAME}:${PASSWORD}` },
    );
    const server = await serve(environment, '--only', 'api');
    const agent = createAgent(readFileSync(ownCertificateFile(settings.dataDir), 'utf8'));
    const parts = { origin: environment.HOMEPORT_PUBLIC_URL ?? '', agent, conformance: () => undefined };
    const owner = createClient(parts, { username: USERNAME, password: PASSWORD });
    expect((await owner.get('/user')).status).toBe(200);
    await agent.close();
    return server;
  }

  test('is gone: the process ends and reports what it could not do', async () => {
    const server = await serveAndUse('gone');
    await postgres.crash();
    server.process.kill('SIGTERM');
    const { code, stderr } = await server.ended;
    await postgres.restart();
    expect(code).toBe(1);
    expect(stderr).toContain('homeport: stopped with errors: last uses of credentials');
  });

  // It waits for the bound of a whole shutdown, which src/app/shutdown.test.ts tests with a short one.
  onlyInLong(test)('says nothing any more: the process gives up, and ends', async () => {
    const server = await serveAndUse('frozen');
    postgres.freeze();
    server.process.kill('SIGTERM');
    const { code, stderr } = await server.ended;
    postgres.thaw();
    expect(code).toBe(1);
    expect(stderr).toContain('a step of the shutdown did not end in time');
    expect(stderr).toContain('homeport: stopped with errors: ');
  });
});
