import { Client as Assistant } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { fetch } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../packages/client/src/client.ts';
import type { Route } from '../../src/api/route.ts';
import { componentOf } from '../../src/api/schema.ts';
import { apiRoutes } from '../../src/app/routes.ts';
import { findEndpoint, readEndpoints } from '../../src/cli/api/endpoints.ts';
import { createConfirmations } from '../../src/cli/mcp/confirmations.ts';
import { createMcpServer } from '../../src/cli/mcp/server.ts';
import { SCOPES, toolsOf } from '../../src/cli/mcp/tools.ts';
import { environment as onLinux } from '../../src/features/hosts/fleet.fixture.ts';
import { CAPABILITIES, type Capability } from '../../src/hosting/contract/capabilities.ts';
import { PHP_RANGES, phpBounds } from '../../src/hosting/policy/php-limits.ts';
import { type ServedMachine, serveMachine } from '../../src/hosting/remote/embedded-machine.fixture.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { systemRandomness } from '../../src/lib/ids.ts';
import { call } from '../cli/call-homeport.ts';
import { type Environment, environmentFor } from '../cli/run-homeport.ts';
import { createAgent } from '../client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import { rounds } from '../rounds.ts';

/** Commands that need each capability. An empty list: no command does. */
const COMMANDS: Record<Capability, string[][]> = {
  wordpress_login: [['login', 'NAME']],
  wordpress_details: [
    ['wordpress', 'NAME', '--refresh'],
    ['plugin', 'list', 'NAME'],
    ['theme', 'list', 'NAME'],
  ],
  wordpress_updates: [
    // No endpoint does this, so it is the one of every run.
    ['wordpress', 'NAME', '6.8.7'],
    ['update', 'NAME', '--plugins'],
    ['update-policy', 'NAME'],
  ],
  wordpress_changes: [
    ['plugin', 'deactivate', 'NAME', 'akismet'],
    ['theme', 'add', 'NAME', 'twentytwentyfive'],
  ],
  wp_cli: [['wp', 'NAME', '--', 'plugin', 'list']],
  database_access: [['database', 'NAME']],
  php_versions: [['php', 'NAME', '8.2']],
  php_limits: [['php', 'NAME', '--memory-limit', '128M']],
  mail: [],
  mail_limits: [
    ['mail', 'NAME'],
    ['mail', 'NAME', '--limit', '5'],
  ],
  imports: [['import', 'NAME', 'private/website.zip', '--yes']],
  imports_by_ssh: [
    ['import-key', 'NAME'],
    ['import-key', 'NAME', '--renew'],
  ],
  logs: [['logs', 'NAME', '--kind', 'php']],
  backup_parts: [['copy', 'NAME', 'OTHER', '--database', '--yes']],
  backup_tables: [['copy', 'NAME', 'OTHER', '--database', '--table', 'wp_posts', '--yes']],
  // Emptying a cache that is not there is no fault (docs/decisions/capabilities.md).
  object_cache: [],
  shell: [],
};

/** Capabilities that single fields of a request need, and the field. Requests as a whole do not. */
const BY_FIELD: Partial<Record<Capability, (other: string) => [method: string, path: string, body: object]>> =
  {
    php_versions: () => ['PATCH', '', { php_version: '8.2' }],
    backup_parts: (other) => ['POST', '/push', { to: other, include_files: false, include_db: true }],
    backup_tables: (other) => [
      'POST',
      '/push',
      { to: other, include_files: true, include_db: true, db_tables: ['wp_posts'] },
    ],
  };

/** A host with one kind of install. */
interface Scenario {
  homeport: TestHomeport;
  owner: Person;
  accountId: string;
  install: { id: string; name: string };
  /** Another install of the account. */
  other: { id: string; name: string };
  environment: Environment;
  routes: readonly Route[];
}

const SCENARIOS = ['embedded, files', 'embedded, WordPress', 'linux', 'linux, bare'] as const;
/** The capabilities that each lacks. A change of the declaration shows here what users get and lose. */
const LACKING: Record<(typeof SCENARIOS)[number], Capability[]> = {
  'embedded, files': CAPABILITIES.filter((name) => name !== 'logs'),
  'embedded, WordPress': ['php_versions', 'mail', 'imports_by_ssh', 'object_cache', 'shell'],
  linux: [],
  'linux, bare': ['wp_cli', 'php_limits', 'mail'],
};
const scenarios = new Map<string, Scenario>();
const machines: ServedMachine[] = [];
const homeports: TestHomeport[] = [];

/** Nothing runs the work: what is refused must not get that far, and what is not refused is another test's matter. */
async function start(settings: Record<string, string>): Promise<Omit<Scenario, 'install' | 'other'>> {
  const homeport = await startTestHomeport({
    environment: settings,
    roles: { api: true, hosting: settings.HOMEPORT_HOST === 'linux' },
  });
  homeports.push(homeport);
  const { owner, accountId } = await homeport.ownedAccount();
  const environment = { ...(await environmentFor(homeport.place)), ...settings };
  return { homeport, owner, accountId, environment, routes: apiRoutes(homeport.platform, homeport.services) };
}

async function installIn(
  { homeport, owner, accountId }: Pick<Scenario, 'homeport' | 'owner' | 'accountId'>,
  values: { runtime: 'wordpress' | 'static' | null; php_version: string | null },
): Promise<{ id: string; name: string }> {
  const made = await homeport.install(owner, accountId);
  await homeport.platform.database.write(({ queries }) =>
    queries
      .updateTable('installs')
      .set({
        status: 'active',
        wordpress_version: values.php_version === null ? null : '6.9',
        ...values,
      })
      .where('id', '=', made.id)
      .execute(),
  );
  return made;
}

beforeAll(async () => {
  const embedded = await start({ HOMEPORT_EMBEDDED_PHP_MB: '512' });
  const whole = await serveMachine({
    hasRelay: true,
    hasWpCli: true,
    php: phpBounds(PHP_RANGES, { memoryMb: 512, processes: 64 }),
  });
  const bare = await serveMachine({ hasRelay: false, hasWpCli: false });
  machines.push(whole, bare);
  for (const { machine } of machines) {
    machine.readWordPress = async () => ({ refused: 'website', reason: NOT_STARTED, mark: null });
  }
  const parts: [
    (typeof SCENARIOS)[number],
    Awaited<ReturnType<typeof start>>,
    'wordpress' | 'static' | null,
  ][] = [
    ['embedded, files', embedded, 'static'],
    ['embedded, WordPress', embedded, 'wordpress'],
    ['linux', await start(onLinux(whole.runFolder)), null],
    ['linux, bare', await start(onLinux(bare.runFolder)), null],
  ];
  for (const [name, started, runtime] of parts) {
    const values = { runtime, php_version: runtime === 'static' ? null : '8.4' };
    const install = await installIn(started, values);
    scenarios.set(name, { ...started, install, other: await installIn(started, values) });
  }
});
afterAll(async () => {
  for (const homeport of homeports) await homeport.remove();
  for (const machine of machines) await machine.close();
});

function scenario(name: string): Scenario {
  const found = scenarios.get(name);
  if (found === undefined) throw new Error(`${name} is not set up`);
  return found;
}

/** Why the websites of the Linux hosts here cannot be read, which has nothing to do with capabilities. */
const NOT_STARTED = 'WordPress does not start.';

interface Shown {
  name: Capability;
  available: boolean;
  reason: string | null;
  remedy: string | null;
}

async function declared({ owner, install }: Scenario): Promise<Shown[]> {
  const { body } = await owner.client.get(`/installs/${install.id}/capabilities`);
  return Object(body).capabilities;
}

const refusalOf = ({ reason, remedy }: Shown) => `${reason} ${remedy}`;

/** Everything that refused requests must not make. */
async function made({ homeport }: Scenario): Promise<Record<string, number>> {
  const { reader } = homeport.platform.database;
  const count = async (table: 'backups' | 'operations' | 'import_keys' | 'wp_cli_runs' | 'activity') =>
    Number(
      (
        await reader
          .selectFrom(table)
          .select((eb) => eb.fn.countAll().as('count'))
          .executeTakeFirst()
      )?.count,
    );
  return {
    backups: await count('backups'),
    operations: await count('operations'),
    keys: await count('import_keys'),
    runs: await count('wp_cli_runs'),
    activity: await count('activity'),
  };
}

/** Names of the tables with more rows than before. Rows of earlier requests that fail meanwhile are removed. */
const madeSince = async (present: Scenario, before: Record<string, number>): Promise<string[]> =>
  Object.entries(await made(present)).flatMap(([name, count]) => (count > (before[name] ?? 0) ? name : []));

/** The example of a route's body. */
const exampleOf = ({ body }: Route): { json: unknown } | undefined => {
  const found = body && componentOf(body.schema);
  return found === undefined ? undefined : { json: found.example };
};

const isRefusal = (body: unknown) =>
  Object(body).errors?.some(({ code }: { code: string }) => code === 'capability_unavailable') === true;

it('every capability is needed by an endpoint, a field or a command, or belongs to an answer', () => {
  const { routes } = scenario('linux');
  const needed = new Set([
    ...routes.flatMap(({ needs }) => needs ?? []),
    ...Object.keys(BY_FIELD),
    // Answers: `can_send`, the caches of the portal, and `shell` of the connection.
    'mail',
    'object_cache',
    'shell',
  ]);
  expect([...needed].sort()).toEqual([...CAPABILITIES].sort());
});

describe.each(SCENARIOS)('%s', (name) => {
  it('declares every capability, with a reason and a remedy if it lacks it', async () => {
    const all = await declared(scenario(name));
    expect(all.map((one) => one.name)).toEqual(CAPABILITIES);
    for (const { available, reason, remedy } of all) {
      const sentence = available ? null : expect.stringMatching(/^[A-Z].*\.$/);
      expect({ reason, remedy }).toEqual({ reason: sentence, remedy: sentence });
    }
    const lacking = all.flatMap((one) => (one.available ? [] : [one.name]));
    expect(lacking).toEqual(LACKING[name]);
  });

  // Before the next one, whose requests start work that other requests have to wait for.
  it('the API refuses exactly the fields that need what is not available', async () => {
    const present = scenario(name);
    const states = await declared(present);
    for (const [capability, request] of Object.entries(BY_FIELD)) {
      const state = states.find((one) => one.name === capability);
      if (state === undefined) throw new Error(`${capability} is not declared`);
      const before = await made(present);
      const [method, path, json] = request(present.other.id);
      const answer = await present.owner.client.call(method, `/installs/${present.install.id}${path}`, {
        json,
      });
      expect([capability, isRefusal(answer.body)]).toEqual([capability, !state.available]);
      if (state.available) continue;
      expect(answer.body).toMatchObject({ errors: [{ message: refusalOf(state) }] });
      expect([capability, await madeSince(present, before)]).toEqual([capability, []]);
    }
  });

  it('the API refuses exactly what is not available, before anything is made', async () => {
    const present = scenario(name);
    const states = await declared(present);
    for (const route of present.routes) {
      const state = states.find((one) => one.name === route.needs);
      if (state === undefined) continue;
      const before = await made(present);
      const path = route.path.replace(':install_id', present.install.id);
      const answer = await present.owner.client.call(route.method, path, exampleOf(route));
      const what = `${route.method} ${route.path}`;
      expect([what, isRefusal(answer.body)]).toEqual([what, !state.available]);
      if (state.available) continue;
      expect(answer).toMatchObject({ status: 409, body: { message: refusalOf(state) } });
      expect([what, await madeSince(present, before)]).toEqual([what, []]);
    }
  });

  it('commands refuse what is not available, with the same words', async () => {
    const present = scenario(name);
    for (const state of await declared(present)) {
      if (state.available) continue;
      for (const words of COMMANDS[state.name].slice(0, rounds(1, Number.POSITIVE_INFINITY))) {
        const before = await made(present);
        const named = words.map((word) =>
          word === 'NAME' ? present.install.name : word === 'OTHER' ? present.other.name : word,
        );
        const { code, stderr } = await call(present.environment, 'install', ...named);
        expect([words, code, stderr.replaceAll(/\s+/g, ' ')]).toEqual([
          words,
          1,
          expect.stringContaining(refusalOf(state)),
        ]);
        expect([words, await madeSince(present, before)]).toEqual([words, []]);
      }
    }
    const { stdout } = await call(
      present.environment,
      'install',
      'capabilities',
      present.install.name,
      '--json',
    );
    expect(JSON.parse(stdout)).toEqual(await declared(present));
  });

  it('assistants get the same refusals', async () => {
    const present = scenario(name);
    const states = await declared(present);
    const assistant = await assistantOf(present);
    try {
      for (const tool of toolsOf(readEndpoints(), new Set(SCOPES))) {
        const route = present.routes.find(({ operationId }) => operationId === tool.endpoint.id);
        const state = states.find((one) => one.name === route?.needs);
        if (route === undefined || state === undefined || state.available) continue;
        const answer = CallToolResultSchema.parse(
          await assistant.callTool({
            name: tool.name,
            arguments: { install_id: present.install.id, body: exampleOf(route)?.json },
          }),
        );
        expect([tool.name, answer]).toMatchObject([
          tool.name,
          { isError: true, content: [{ text: expect.stringContaining(refusalOf(state)) }] },
        ]);
      }
    } finally {
      await assistant.close();
    }
  });

  it('answers of the API agree with it', async () => {
    const { owner, install, homeport } = scenario(name);
    const states = await declared(scenario(name));
    const has = new Map(states.map((one) => [one.name, one.available]));
    const get = async (path: string) =>
      Object((await owner.client.get(`/installs/${install.id}${path}`)).body);
    const details = states.find((one) => one.name === 'wordpress_details');
    // The first reading follows the creation, where there is a host.
    const error = details?.available === false ? refusalOf(details) : NOT_STARTED;
    await expect
      .poll(async () => (await get('/wordpress')).error)
      .toBe(name === 'embedded, WordPress' ? null : error);
    const read = await get('/wordpress');
    expect(read).toMatchObject({ plugins: null, themes: null, administrators: null, is_complete: false });
    expect((await get('/php')).limits !== null).toBe(has.get('php_limits'));
    const connection = await homeport.services.connections.of({
      id: install.id,
      name: install.name,
      primary_domain: null,
    });
    if (connection !== null) expect(connection.shell).toBe(has.get('shell'));
  });
});

async function assistantOf({ homeport, owner }: Scenario): Promise<Assistant> {
  const { username, password } = owner.credential;
  const client = createClient(findEndpoint, {
    url: `${homeport.origin}/v1`,
    credential: { username, password },
    surroundings: {
      // Each server has a certificate of its own for the same name.
      async fetch(request) {
        const { method, url, headers } = request;
        const dispatcher = createAgent(homeport.ca);
        const body = method === 'GET' ? null : await request.text();
        const answer = await fetch(url, { method, headers: [...headers], body, dispatcher });
        const text = await answer.text();
        await dispatcher.close();
        return new Response(text, { status: answer.status, headers: [...answer.headers] });
      },
    },
  });
  const server = createMcpServer(
    client,
    toolsOf(readEndpoints(), new Set(SCOPES)),
    createConfirmations(systemClock, systemRandomness),
  );
  const assistant = new Assistant({ name: 'test', version: '1' });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(theirs);
  await assistant.connect(ours);
  return assistant;
}
