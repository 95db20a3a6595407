import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operatorFor } from '../../src/access/caller.ts';
import type { Database, Queries } from '../../src/database/database.ts';
import { loadDesiredState } from '../../src/features/provisioning/desired-state.ts';
import { createSiteService } from '../../src/features/websites/sites/service.ts';
import { type Answer, type Client, text } from '../client.ts';
import { lockWaits } from '../held-jobs.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import { onlyOn } from '../only-on.ts';
import { WITH_WORDPRESS } from './logins.ts';
import { createResources, type ResourceSet } from './resource-set.ts';

let homeport: TestHomeport;
let second: TestHomeport;
let owner: Person;
let accountId: string;
let resources: ResourceSet;

beforeAll(async () => {
  homeport = await startTestHomeport({ ...WITH_WORDPRESS, roles: { api: true, hosting: false } });
  second = await startTestHomeport({ roles: { api: true, hosting: false }, place: homeport.place });
  ({ owner, accountId } = await homeport.ownedAccount());
  resources = await createResources(homeport, owner, accountId);
});
afterAll(async () => {
  await second.remove();
  await homeport.remove();
});

const tagOf = (answer: Answer) => String(answer.headers.etag);

function send(client: Client, method: string, path: string, headers: Record<string, string>, json?: unknown) {
  return client.call(method, path, { headers, ...(json === undefined ? {} : { json }) });
}

describe('If-Match', () => {
  it('lets one of many writers with the same version win, from two processes', async () => {
    const { id } = await homeport.services.installs.create(operatorFor(owner.userId), {
      name: installName(),
      account_id: accountId,
    });
    const made = await owner.client.post('/sites', { name: 'Contested', account_id: accountId });
    const site_id = text(made.body, 'id');
    const clients = [owner.client, second.clientOf(owner.credential)];
    for (const [path, change] of [
      [`/sites/${site_id}`, (n: number) => ({ name: `Writer ${n}` })],
      [`/installs/${id}`, (n: number) => ({ site_id: n % 2 === 0 ? site_id : resources.site_id })],
      [`/webhooks/${resources.webhook_id}`, (n: number) => ({ description: `Writer ${n}` })],
    ] as const) {
      const tag = tagOf(await owner.client.get(path));
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, n) =>
          send(clients[n % 2] ?? owner.client, 'PATCH', path, { 'if-match': tag }, change(n)),
        ),
      );
      const won = answers.filter((answer) => answer.status === 200);
      expect(won, path).toHaveLength(1);
      expect(answers.filter((answer) => answer.status === 412)).toHaveLength(7);
      expect((await owner.client.get(path)).body).toEqual(won[0]?.body);
    }
  });

  // SQLite has one writer, so no change can interleave.
  onlyOn('postgres', (name, body) => it(name, body))(
    'waits for a change in progress, and gets 412 after it',
    async () => {
      const { webhook_id, operation_id, site_id } = await createResources(homeport, owner, accountId);
      const client = new pg.Client(homeport.place.settings.databaseUrl ?? '');
      await client.connect();
      try {
        for (const [method, path, id, change, json] of [
          ['PATCH', '/sites', site_id, "update sites set name = 'Other' where id = $1", { name: 'Late' }],
          [
            'PATCH',
            '/webhooks',
            webhook_id,
            "update webhooks set description = 'Other' where id = $1",
            { description: 'Late' },
          ],
          ['DELETE', '/webhooks', webhook_id, "update webhooks set description = 'Newer' where id = $1"],
          [
            'DELETE',
            '/operations',
            operation_id,
            `update jobs set reason = 'Failed once.'
             where id = (select job_id from operations where id = $1)`,
          ],
        ] as const) {
          const tag = tagOf(await owner.client.get(`${path}/${id}`));
          await client.query('begin');
          await client.query(change, [id]);
          const answer = send(owner.client, method, `${path}/${id}`, { 'if-match': tag }, json);
          await lockWaits(client, 1);
          await client.query('commit');
          expect((await answer).status, `${method} ${path}`).toBe(412);
        }
      } finally {
        await client.end();
      }
    },
  );
});

describe('an answer of several reads', () => {
  /** The database, with a change of someone else after the first query of a reader. */
  function changedMeanwhile(database: Database, change: (queries: Queries) => Promise<unknown>): Database {
    let isChanged = false;
    const interrupted = (reader: Queries): Queries =>
      reader.withPlugin({
        transformQuery: ({ node }) => node,
        async transformResult({ result }) {
          if (!isChanged) {
            isChanged = true;
            await database.write(({ queries }) => change(queries));
          }
          return result;
        },
      });
    return {
      ...database,
      reader: interrupted(database.reader),
      snapshot: (work) => database.snapshot((reader) => work(interrupted(reader))),
    };
  }

  /** As before there were snapshots. */
  const torn = (database: Database): Database => ({
    ...database,
    snapshot: (work) => work(database.reader),
  });

  async function siteWithInstall() {
    const site_id = text(
      (await owner.client.post('/sites', { name: 'Before', account_id: accountId })).body,
      'id',
    );
    const install = await homeport.services.installs.create(operatorFor(owner.userId), {
      name: installName(),
      account_id: accountId,
      site_id,
    });
    return { site_id, install };
  }

  it('is of one moment: a site with its installs', async () => {
    const { platform, services } = homeport;
    async function read(of: (database: Database) => Database) {
      const { site_id, install } = await siteWithInstall();
      const database = changedMeanwhile(platform.database, async (queries) => {
        await queries.updateTable('sites').set({ name: 'After' }).where('id', '=', site_id).execute();
        await queries.updateTable('installs').set({ site_id: null }).where('id', '=', install.id).execute();
      });
      const sites = createSiteService({ ...platform, database: of(database) }, async () => {});
      const { name, installs } = await sites.get(operatorFor(owner.userId), site_id);
      const present = await services.sites.get(operatorFor(owner.userId), site_id);
      expect(present).toMatchObject({ name: 'After', installs: [] });
      return { name, installs: installs.length };
    }
    expect(await read((database) => database)).toEqual({ name: 'Before', installs: 1 });
    expect(await read(torn)).toEqual({ name: 'Before', installs: 0 });
  });

  it('is of one moment: the desired state of a website', async () => {
    const { platform } = homeport;
    async function read(of: (database: Database) => Database) {
      const { install } = await siteWithInstall();
      const database = changedMeanwhile(platform.database, async (queries) => {
        await queries
          .updateTable('installs')
          .set({ php_version: '9.9' })
          .where('id', '=', install.id)
          .execute();
        await queries
          .updateTable('domains')
          .set({ secure_all_urls: true, name: `${install.name}.example` })
          .where('install_id', '=', install.id)
          .execute();
      });
      const state = await loadDesiredState({ ...platform, database: of(database) }, install.id);
      return {
        isBefore: state?.phpVersion !== '9.9',
        hasName: state?.hostnames.some(({ name }) => name === `${install.name}.example`),
      };
    }
    expect(await read((database) => database)).toEqual({ isBefore: true, hasName: false });
    expect(await read(torn)).toEqual({ isBefore: true, hasName: true });
  });
});
