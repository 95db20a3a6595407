import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call } from '../../../../test/cli/call-homeport.ts';
import { type Environment, environmentFor } from '../../../../test/cli/run-homeport.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { notePhpOfAll } from '../installs/website-store.ts';

let homeport: TestHomeport;
let owner: Person;
let accountId: string;
let environment: Environment;
let shop: { id: string; name: string };

beforeAll(async () => {
  // The rows are those of a website with WordPress; nothing runs it, because nothing here may get that far.
  homeport = await startTestHomeport({
    roles: { api: true, hosting: false },
    environment: { HOMEPORT_EMBEDDED_PHP_MB: '512' },
  });
  ({ accountId, owner } = await homeport.ownedAccount());
  shop = await homeport.install(owner, accountId);
  await homeport.platform.database.write(({ queries }) =>
    queries
      .updateTable('installs')
      .set({ status: 'active', runtime: 'wordpress', php_version: '8.4', wordpress_version: '7.1.1' })
      .where('id', '=', shop.id)
      .execute(),
  );
  environment = { ...(await environmentFor(homeport.place)), HOMEPORT_EMBEDDED_PHP_MB: '512' };
});
afterAll(() => homeport?.remove());

const get = async (path: string) => (await owner.client.get(`/installs/${shop.id}${path}`)).body;
const jobsAndBackups = async () => {
  const { reader } = homeport.platform.database;
  const jobs = await reader.selectFrom('jobs').select('id').where('lane', '!=', shop.id).execute();
  const own = await reader.selectFrom('jobs').select('kind').where('lane', '=', shop.id).execute();
  const backups = await reader.selectFrom('backups').select('id').execute();
  return { jobs: jobs.length, own: own.map(({ kind }) => kind), backups: backups.length };
};
const command = async (...words: string[]) => (await call(environment, 'install', ...words)).stderr;

describe('WordPress in the embedded host', () => {
  it('does not say that unknown lists are empty and complete', async () => {
    expect(await get('/wordpress')).toMatchObject({
      core: { version: '7.1.1' },
      plugins: null,
      themes: null,
      administrators: null,
      multisite: null,
      is_complete: false,
      error: null,
    });
    const { body } = await owner.client.get(`/accounts/${accountId}/wordpress`);
    expect(body).toMatchObject({
      results: [{ plugin_updates: null, theme_updates: null, error: null }],
    });
    expect(await get('/php')).toMatchObject({
      version: '8.4',
      versions: ['8.4'],
      limits: { memory_limit: '256M' },
    });
  });

  it('names the PHP of its machine after that has changed', async () => {
    const { database } = homeport.platform;
    await database.write(({ queries }) => notePhpOfAll(queries, '8.5'));
    expect(await get('/php')).toMatchObject({ version: '8.5', versions: ['8.5'] });
    await database.write(({ queries }) => notePhpOfAll(queries, '8.4'));
    expect(await get('')).toMatchObject({ php_version: '8.4' });
  });

  it('is not replaced by a website of files, nor the other way round', async () => {
    const files = await homeport.install(owner, accountId);
    await homeport.platform.database.write(({ queries }) =>
      queries.updateTable('installs').set({ status: 'active' }).where('id', '=', files.id).execute(),
    );
    const before = await jobsAndBackups();
    for (const [source, destination, message] of [
      [files, shop, `"${shop.name}" runs WordPress, and the website to copy consists of files.`],
      [shop, files, `"${files.name}" consists of files, and the website to copy runs WordPress.`],
    ] as const) {
      const answer = await owner.client.post('/install_copy', {
        source_environment_id: source.id,
        destination_environment_id: destination.id,
        notification_emails: [],
      });
      expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining(message) } });
    }
    expect(await jobsAndBackups()).toEqual(before);
  });

  it('is never called a static website by commands', async () => {
    for (const words of [
      ['database', shop.name],
      ['mail', shop.name],
      ['import-key', shop.name],
    ]) {
      const said = await command(...words);
      expect(said).not.toBe('');
      expect(said).not.toMatch(/static|consists of files/);
    }
  });
});
