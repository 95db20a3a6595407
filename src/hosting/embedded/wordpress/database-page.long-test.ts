import { hash, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { DATABASE_PATH } from '../../contract/database-access.ts';
import type { InstallState } from '../../contract/install-state.ts';
import { siteState } from '../../policy/edge.fixture.ts';
import { databaseCases, type OpenedWebsite, signIn } from '../../websites/database/database-cases.fixture.ts';
import { startHost, type TestHost } from '../embedded-host.fixture.ts';
import { realWordPress } from './real-wordpress.fixture.ts';
import { databaseNameOf, PRIVATE } from './site.ts';

let site: TestHost;
let shop: OpenedWebsite & { database: string };

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const addressOf = (query: Record<string, string>) =>
  `${DATABASE_PATH}index.php?${new URLSearchParams(query).toString()}`;

/** Sends a form of phpMyAdmin. */
async function submit(
  { ask, firstPage }: OpenedWebsite,
  cookie: string,
  route: string,
  fields: Record<string, string>,
) {
  const token = /token:"([0-9a-f]+)"/.exec((await ask(firstPage, { headers: { cookie } })).text)?.[1] ?? '';
  const body = new URLSearchParams({ server: '1', token, ...fields }).toString();
  return ask(addressOf({ route }), { method: 'POST', headers: { ...FORM, cookie }, body });
}

async function opened(install: InstallState): Promise<typeof shop> {
  const database = databaseNameOf(install.id);
  const website: typeof shop = {
    database,
    root: site.file(install, '.'),
    sessions: site.file(install, `${PRIVATE}/tmp/homeport-database`),
    ask: (path, asked) => site.http(`${install.name}.test`, path, asked),
    async link() {
      // PHP has the machine's clock.
      site.clock.advance(Date.now() - site.clock.now().getTime());
      const link = await site.host.createDatabaseLink(install);
      if ('refused' in link) throw new Error(link.reason);
      return `${DATABASE_PATH}?token=${link.token}`;
    },
    purgeObjects: async () => {},
    async backUp() {
      const backupId = randomUUID();
      await site.host.snapshot(install, backupId);
      return async () => void (await site.host.restore(install, backupId));
    },
    firstPage: addressOf({ route: '/database/structure', db: database }),
    async run(cookie, statement) {
      const fields = { db: database, sql_query: statement, ajax_request: 'true' };
      const { text } = await submit(website, cookie, '/import', fields);
      const { message, error } = JSON.parse(text);
      return message ?? error;
    },
    leave: (cookie) => website.ask(addressOf({ route: '/logout' }), { headers: { cookie } }),
  };
  return website;
}

databaseCases(async () => {
  site = await startHost({ wordpress: realWordPress() });
  const [one, other] = await Promise.all(
    ['shop', 'cafe'].map(async (name) => {
      const install: InstallState = {
        ...siteState(name, [`${name}.test`], { primaryHostname: `${name}.test` }),
        runtime: 'wordpress',
      };
      await site.host.apply(install);
      return opened(install);
    }),
  );
  if (one === undefined || other === undefined) throw new Error('there are two websites');
  shop = one;
  return { shop: one, cafe: other, hostFolder: site.folder, stop: () => site.close() };
});

test('a form changes a row to any text, and an export contains it', async () => {
  const cookie = await signIn(shop);
  const text = `It's "new" \\ and 100 %`;
  const field = (kind: string) => `${kind}[multi_edit][0][${hash('md5', 'option_value', 'hex')}]`;
  const where = "`wp_options`.`option_name` = 'blogdescription'";
  const edited = await submit(shop, cookie, '/table/replace', {
    db: shop.database,
    table: 'wp_options',
    'where_clause[0]': where,
    clause_is_unique: '1',
    [field('fields_name')]: 'option_value',
    [field('funcs')]: '',
    [field('fields_prev')]: '',
    [field('fields')]: text,
    goto: 'index.php?route=/sql',
    err_url: 'index.php?route=/sql',
    sql_query: 'SELECT * FROM `wp_options`',
    ajax_page_request: 'true',
    submit_type: 'save',
    after_insert: 'back',
    ajax_request: 'true',
  });
  expect(edited.text).toContain('1 row affected');

  const exported = await submit(shop, cookie, '/export', {
    db: shop.database,
    table: 'wp_options',
    export_type: 'table',
    export_method: 'quick',
    quick_or_custom: 'quick',
    what: 'sql',
    sql_structure_or_data: 'structure_and_data',
    sql_create_table: 'something',
    sql_insert_syntax: 'both',
    sql_type: 'INSERT',
    output_format: 'sendit',
    filename_template: 'export',
  });
  expect(exported).toMatchObject({
    headers: { 'content-disposition': 'attachment; filename="export.sql"', 'cache-control': 'no-store' },
  });
  expect(exported.text).toContain("'blogdescription', 'It\\'s \\\"new\\\" \\\\ and 100 %'");
});

test('a table that is changed here has its new columns in WordPress', async () => {
  const cookie = await signIn(shop);
  await shop.run(cookie, "ALTER TABLE wp_links ADD link_color VARCHAR(20) NOT NULL DEFAULT 'red'");
  const shown = await shop.run(cookie, 'SHOW COLUMNS FROM wp_links');
  expect(shown).toContain('link_color');
});

test('a form that another website sends changes nothing', async () => {
  const cookie = await signIn(shop);
  const statement = "UPDATE wp_options SET option_value = 'forged' WHERE option_name = 'blogdescription'";
  for (const token of ['', '&token=x', '&token[]=x']) {
    const body = `${new URLSearchParams({ db: shop.database, sql_query: statement })}${token}`;
    const asked = { method: 'POST', headers: { ...FORM, cookie }, body };
    expect((await shop.ask(addressOf({ route: '/sql' }), asked)).status).toBe(403);
  }
  const question = "SELECT option_value FROM wp_options WHERE option_name = 'blogdescription'";
  expect(await shop.run(cookie, question)).not.toContain('forged');
});

test('a session reaches no other database, no file and no part of phpMyAdmin for servers', async () => {
  const cookie = await signIn(shop);
  for (const statement of [
    "ATTACH DATABASE '/database/other.sqlite' AS other",
    'SELECT * FROM mysql.user',
    "LOAD DATA INFILE '/etc/passwd' INTO TABLE wp_options",
  ]) {
    expect(await shop.run(cookie, statement), statement).toContain('MySQL said');
  }
  const statuses = await Promise.all(
    [
      addressOf({ route: '/server/variables' }),
      addressOf({ route: '/%73erver/variables' }),
      addressOf({ route: '/version-check' }),
      addressOf({ route: '/sql', db: 'mysql' }),
      `${DATABASE_PATH}config.inc.php`,
      `${DATABASE_PATH}libraries/config.default.php`,
      `${DATABASE_PATH}js/none.js`,
    ].map(async (path) => (await shop.ask(path, { headers: { cookie } })).status),
  );
  expect(statuses).toEqual([403, 403, 403, 403, 404, 404, 404]);
  for (const path of [DATABASE_PATH, addressOf({ route: '' })]) {
    expect((await shop.ask(path, { headers: { cookie } })).headers.location).toBe(shop.firstPage);
  }
});
