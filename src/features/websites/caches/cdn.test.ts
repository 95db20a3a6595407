import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { databasePlace } from '../../../../test/database.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import {
  type ScriptedCloudflare,
  startScriptedCloudflare,
} from '../../../network/cdn/scripted-cloudflare.fixture.ts';
import { domainsOf } from '../../domains/domains/store.ts';

let cloudflare: ScriptedCloudflare;
let homeport: TestHomeport;
let accountId: string;
let owner: Person;
let install: { id: string; name: string };

beforeAll(async () => {
  cloudflare = await startScriptedCloudflare();
  homeport = await startTestHomeport({
    environment: {
      HOMEPORT_CDN_ZONE: 'the-zone',
      HOMEPORT_CDN_TOKEN: 'the-token',
      HOMEPORT_CDN_API: cloudflare.api,
    },
  });
  ({ accountId, owner } = await homeport.ownedAccount());
  install = await homeport.install(owner, accountId);
  for (const name of [`www.${install.name}.example`, `*.${install.name}.example`]) {
    expect((await owner.client.post(`/installs/${install.id}/domains`, { name })).status).toBe(201);
  }
  await homeport.idle();
});
afterAll(async () => {
  await homeport.remove();
  await cloudflare.close();
});
beforeEach(() => cloudflare.reset());

async function purge(type: string, { id } = install): Promise<void> {
  expect((await owner.client.post(`/installs/${id}/purge_cache`, { type })).status).toBe(202);
}

/** The states of the install's purges, oldest first. */
async function purges() {
  return homeport.platform.database.reader
    .selectFrom('jobs')
    .select(['state', 'error', 'attempt'])
    .where('lane', '=', install.id)
    .where('kind', '=', 'purge_cache')
    .orderBy('seq')
    .execute();
}

describe('with a CDN', () => {
  it('purges the install’s host names, wildcards excluded', async () => {
    await purge('cdn');
    await homeport.idle();
    const domains = await domainsOf(homeport.platform.database.reader, install.id);
    expect(domains.map(({ name }) => name)).toContain(`*.${install.name}.example`);
    expect(cloudflare.asked.map(({ hosts }) => hosts.sort())).toEqual([
      [`${install.name}.localhost`, `www.${install.name}.example`].sort(),
    ]);
  });

  it('purges it with all other caches, in one call', async () => {
    const other = await homeport.install(owner, accountId);
    await purge('all', other);
    await homeport.idle();
    expect(cloudflare.asked.map(({ hosts }) => hosts)).toEqual([[`${other.name}.localhost`]]);
  });

  it.each(['page', 'object'])('ignores a purge of the cache "%s"', async (type) => {
    await purge(type);
    await homeport.idle();
    expect(cloudflare.asked).toEqual([]);
  });

  it('is retried if it times out, and given up if it refuses', async () => {
    let calls = 0;
    cloudflare.refuse(() => {
      calls += 1;
      return calls === 1 ? { status: 503, errors: [{ code: 1, message: 'later' }] } : null;
    });
    await purge('cdn');
    await expect.poll(async () => (await purges()).at(-1)?.state).toBe('succeeded');
    expect(calls).toBe(2);

    cloudflare.reset();
    cloudflare.refuse(() => ({ status: 403, errors: [{ code: 10000, message: 'Authentication error' }] }));
    await purge('cdn');
    await homeport.idle();
    expect((await purges()).at(-1)).toMatchObject({
      state: 'failed',
      error: expect.stringMatching(/HOMEPORT_CDN_TOKEN.*Authentication error \(code 10000\)/),
    });
    expect(cloudflare.asked).toHaveLength(1);
  });
});

describe('without a CDN', () => {
  it('logs that there is none', async () => {
    const lines: string[] = [];
    const plain = await startTestHomeport({ log: pino({}, { write: (line) => lines.push(line) }) });
    try {
      const { accountId, owner } = await plain.ownedAccount();
      const { id } = await plain.install(owner, accountId);
      expect((await owner.client.post(`/installs/${id}/purge_cache`, { type: 'cdn' })).status).toBe(202);
      await plain.idle();
      const hint = 'no CDN to purge: HOMEPORT_CDN_ZONE is not set';
      expect(lines.filter((line) => line.includes(hint))).toHaveLength(1);
      expect((await owner.client.post(`/installs/${id}/purge_cache`, { type: 'all' })).status).toBe(202);
      await plain.idle();
      expect(lines.filter((line) => line.includes(hint))).toHaveLength(1);
    } finally {
      await plain.remove();
    }
  });

  it('refuses to start with half of its settings', async () => {
    const place = await databasePlace();
    try {
      const environment = { HOMEPORT_CDN_ZONE: 'the-zone' };
      await expect(startTestHomeport({ environment, place })).rejects.toThrow(
        'HOMEPORT_CDN_ZONE and HOMEPORT_CDN_TOKEN go together',
      );
    } finally {
      await place.remove();
    }
  });
});
