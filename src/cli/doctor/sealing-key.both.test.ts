import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestDatabase } from '../../../test/database.ts';
import { createSealer } from '../../secrets/sealer.ts';
import { checkSealingKey } from './sealing-key.ts';

const [KEY, OTHER_KEY] = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)];

let database: Awaited<ReturnType<typeof openTestDatabase>>;
beforeAll(async () => {
  database = await openTestDatabase();
  // In the order of `seq`: the first was renewed, the second is the older one.
  await addCertificate('2026-04-01T00:00:00.000Z', OTHER_KEY);
  await addCertificate('2026-02-01T00:00:00.000Z', KEY);
});
afterAll(() => database.remove());

/** A certificate whose private key is sealed with `key`. */
async function addCertificate(created_at: string, key: Buffer): Promise<void> {
  const [account_id, install_id, domain_id] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
  await database.write(async ({ queries }) => {
    await queries.insertInto('accounts').values({ id: account_id, name: 'A', created_at }).execute();
    await queries
      .insertInto('installs')
      .values({
        id: install_id,
        account_id,
        site_id: null,
        environment: null,
        name: `install${created_at.slice(5, 7)}`,
        status: 'active',
        php_version: null,
        stable_ips: null,
        offload_file_name: 'f',
        offload_file_content: 'c',
        created_at,
      })
      .execute();
    await queries
      .insertInto('domains')
      .values({
        id: domain_id,
        install_id,
        name: `${domain_id}.example`,
        is_cname: false,
        is_primary: true,
        is_duplicate: false,
        redirect_to_id: null,
        created_at,
      })
      .execute();
    await queries
      .insertInto('certificates')
      .values({
        domain_id,
        source: 'LETS_ENCRYPT',
        chain: '',
        sealed_key: createSealer(key).seal('private key'),
        not_before: created_at,
        not_after: '2026-07-01T00:00:00.000Z',
        created_at,
      })
      .execute();
  });
}

test.each(['own', 'configured'])(
  'with private keys sealed, the %s key is there and opens the oldest',
  async (whose) => {
    const { dataDir } = database.place.settings;
    const sealingKey = whose === 'own' ? null : join(dataDir, 'operator.key');
    const file = sealingKey ?? join(dataDir, 'sealing.key');
    const backup = expect.stringContaining(whose === 'own' ? 'backup of the data folder' : 'your backup');
    const found = () => checkSealingKey({ dataDir, sealingKey }, database);
    expect(await found()).toMatchObject({
      state: 'problem',
      message: expect.stringContaining('is missing'),
      remedy: backup,
    });
    writeFileSync(file, OTHER_KEY.toString('base64'), { mode: 0o600 });
    expect(await found()).toMatchObject({
      state: 'problem',
      message: expect.stringContaining('is not the key'),
    });
    writeFileSync(file, KEY.toString('base64'));
    expect(await found()).toMatchObject({ state: 'ok', message: expect.stringContaining('opens') });
    rmSync(file);
  },
);
