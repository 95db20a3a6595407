import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestDatabase } from '../../../test/database.ts';
import { checkPortalHost } from './portal-host.ts';

const NOW = '2026-05-01T00:00:00.000Z';
let database: Awaited<ReturnType<typeof openTestDatabase>>;
beforeAll(async () => {
  database = await openTestDatabase();
  const [account_id, install_id] = [crypto.randomUUID(), crypto.randomUUID()];
  await database.write(async ({ queries }) => {
    await queries
      .insertInto('accounts')
      .values({ id: account_id, name: 'Harbour Agency', created_at: NOW })
      .execute();
    await queries
      .insertInto('installs')
      .values({
        id: install_id,
        account_id,
        site_id: null,
        environment: null,
        name: 'harbourcafe',
        status: 'active',
        php_version: null,
        stable_ips: null,
        offload_file_name: 'f',
        offload_file_content: 'c',
        created_at: NOW,
      })
      .execute();
    for (const name of [
      'panel.provider.example',
      '*.provider.example',
      'a.panel.provider.example',
      'harbourcafe.localhost',
    ]) {
      await queries
        .insertInto('domains')
        .values({
          id: crypto.randomUUID(),
          install_id,
          name,
          is_cname: false,
          is_primary: false,
          is_duplicate: false,
          redirect_to_id: null,
          ssl_status: 'pending',
          created_at: NOW,
        })
        .execute();
    }
  });
});
afterAll(() => database.remove());

const found = (publicUrl: string) => checkPortalHost(database, { publicUrl });

test('a domain that is the portal’s host name, and a wildcard over it', async () => {
  expect(await found('https://panel.provider.example')).toMatchObject([
    {
      check: 'portal host',
      state: 'problem',
      message: expect.stringContaining('harbourcafe has the domain panel.provider.example'),
      remedy: expect.stringContaining('homeport install apply harbourcafe'),
    },
    { state: 'problem', message: expect.stringContaining('*.provider.example') },
  ]);
});

test.each([
  'https://localhost:8443',
  'https://provider.example',
  'https://b.panel.provider.example',
  'https://192.0.2.1',
])('%s: no domain has it', async (publicUrl) => {
  expect(await found(publicUrl)).toMatchObject([{ check: 'portal host', state: 'ok', remedy: null }]);
});
