import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { operatorFor } from '../src/access/caller.ts';
import { ownCertificateFile } from '../src/api/api-certificate.ts';
import { type RunningHomeport, startHomeport } from '../src/app/homeport.ts';
import type { HostCallers } from '../src/app/host-callers.ts';
import { type Config, readConfig } from '../src/config/config.ts';
import { insertMember, insertUser, setInstallGrants } from '../src/features/accounts/account-users/store.ts';
import type { IssuedCredential } from '../src/features/identity/credentials/service.ts';
import { type Clock, systemClock, timestamp } from '../src/lib/clock.ts';
import { OperatorError } from '../src/lib/operator-error.ts';
import { type MemberRole, parseRoles, type RoleInput } from '../src/lib/roles.ts';
import { type Client, createAgent, createClient } from './client.ts';
import { type DatabasePlace, migratedPlace, silent } from './database.ts';
import { keepCertificates, provideCertificates } from './kept-certificates.ts';
import { quickPasswordHash } from './quick-password-hash.ts';
import { apiConformance } from './server-conformance.ts';
import { freePort } from './servers/free-port.ts';

/** A user with credentials. */
export interface Person {
  userId: string;
  email: string;
  credential: IssuedCredential;
  client: Client;
}

/** A complete Homeport for one test, on 127.0.0.1, with a database of the current project. */
export interface TestHomeport extends RunningHomeport {
  config: Config;
  place: DatabasePlace;
  origin: string;
  ca: string;
  anonymous: Client;
  clientOf(credential: IssuedCredential): Client;
  account(name?: string): Promise<string>;
  /** A new user with a role in `accountId`, or without an account if omitted. */
  person(accountId?: string, roles?: RoleInput, installIds?: string[]): Promise<Person>;
  /** Lets a user sign in to the portal with this password. */
  setPassword(person: Person, password: string): Promise<void>;
  /** An account with its owner. */
  ownedAccount(): Promise<{ accountId: string; owner: Person }>;
  /** An install whose website answers. */
  install(owner: Person, accountId: string, more?: object): Promise<{ id: string; name: string }>;
  remove(): Promise<void>;
}

export interface TestOptions {
  environment?: Record<string, string>;
  clock?: Clock;
  /** Whether scheduled jobs run. Off by default, so that no retention or renewal job runs during a test. */
  schedules?: boolean;
  /** Receives the log; without it, nothing is logged. */
  log?: Logger;
  /** Use this database and data folder instead of a new one. */
  place?: DatabasePlace;
  roles?: { api: boolean; hosting: boolean };
  /** Folder of the built portal. */
  portalFolder?: string | Promise<string>;
  /** Port of authoritative name servers. */
  dnsPort?: number;
  /** Replace those of the hosts. */
  hostCallers?: Partial<HostCallers>;
  /** The kind of the hosts, which decides what they do for installs; by default the configured one. */
  hostKind?: Config['host'];
}

let counter = 0;

/** A name that no other install of the test run has. */
export function installName(): string {
  counter += 1;
  return `site${process.pid}x${counter}`;
}

/** A portal of one empty page, so that tests do not depend on `npm run build`. */
function emptyPortal(dataDir: string): string {
  const folder = join(dataDir, 'portal');
  mkdirSync(join(folder, 'portal/assets'), { recursive: true });
  writeFileSync(join(folder, 'index.html'), '<!doctype html><base href="/"><title>Homeport</title>');
  return folder;
}

/** Another test may take the port between the check and listening. */
async function onFreePort<Started>(start: (port: number) => Promise<Started>): Promise<Started> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(await freePort());
    } catch (error) {
      if (attempt === 3 || !(error instanceof OperatorError) || !error.message.includes('is in use'))
        throw error;
    }
  }
}

export async function startTestHomeport(options: TestOptions = {}): Promise<TestHomeport> {
  const place = options.place ?? (await migratedPlace());
  const clock = options.clock ?? systemClock;
  const { databaseUrl, dataDir } = place.settings;
  const roles = options.roles ?? { api: true, hosting: true };
  if (options.place === undefined && options.environment?.HOMEPORT_INSTALL_RUNTIME === 'wordpress') {
    const { fillWithWordPress } = await import(
      '../src/hosting/embedded/wordpress/prepared-wordpress.fixture.ts'
    );
    await fillWithWordPress(`${dataDir}/host`);
  }
  const { port, config, started } = await onFreePort(async (port) => {
    const config = readConfig({
      HOMEPORT_DATA_DIR: dataDir,
      ...(databaseUrl === null ? {} : { HOMEPORT_DATABASE_URL: databaseUrl }),
      HOMEPORT_LISTEN: `127.0.0.1:${port}`,
      HOMEPORT_PUBLIC_URL: `https://localhost:${port}`,
      HOMEPORT_EDGE_HTTP: '127.0.0.1:0',
      HOMEPORT_EDGE_HTTPS: '127.0.0.1:0',
      HOMEPORT_SSH_LISTEN: '127.0.0.1:0',
      // PHP takes seconds and hundreds of MiB, so installs are static websites.
      HOMEPORT_EMBEDDED_PHP_MB: '0',
      // The same on each machine; the project `machine-php` runs the tests on the other.
      HOMEPORT_EMBEDDED_PHP: 'wasm',
      // Nothing listens there, so requests that a test does not set up reach no server.
      HOMEPORT_RESOLVERS: '127.0.0.1:9',
      HOMEPORT_RATE_LIMIT: '0',
      HOMEPORT_AUTH_FAILURE_LIMIT: '0',
      ...options.environment,
    });
    if (options.place === undefined) provideCertificates(config);
    const surroundings = {
      log: options.log ?? silent,
      clock,
      portalFolder: options.portalFolder ?? emptyPortal(dataDir),
      schedules: options.schedules ?? false,
      ...(options.dnsPort === undefined ? {} : { dnsPort: options.dnsPort }),
      ...(options.hostCallers === undefined ? {} : { hostCallers: options.hostCallers }),
      ...(options.hostKind === undefined ? {} : { hostKind: options.hostKind }),
    };
    return { port, config, started: await startHomeport(config, surroundings, roles) };
  }).catch(async (error: unknown) => {
    // The test cannot remove it, because it never got it.
    if (options.place === undefined) await place.remove();
    throw error;
  });
  // Those of another clock may not be valid now.
  if (options.clock === undefined) keepCertificates(config);
  /** Null once it is removed. The variables of a test file last as long as its worker, and would keep 3 MB for each server. */
  let running: RunningHomeport | null = started;
  const server = (): RunningHomeport => {
    if (running === null) throw new Error('the server was removed');
    return running;
  };
  const origin = `https://localhost:${port}`;
  const ca = readFileSync(ownCertificateFile(dataDir), 'utf8');
  const agent = createAgent(ca);
  const parts = { origin, agent, conformance: () => apiConformance(server()) };
  const clientOf = (credential: IssuedCredential) => createClient(parts, credential);

  async function join(
    accountId: string,
    userId: string,
    member: MemberRole,
    installIds: string[],
  ): Promise<void> {
    await server().platform.database.write(async ({ queries }) => {
      const membership = { account_id: accountId, user_id: userId };
      await insertMember(queries, { ...membership, ...member, created_at: timestamp(clock) });
      await setInstallGrants(queries, membership, installIds);
    });
  }

  async function person(
    accountId?: string,
    roles: RoleInput = 'full',
    installIds: string[] = [],
  ): Promise<Person> {
    const userId = crypto.randomUUID();
    const email = `${userId}@people.example`;
    await server().platform.database.write(({ queries }) =>
      insertUser(queries, {
        id: userId,
        email,
        first_name: 'Test',
        last_name: 'Person',
        created_at: timestamp(clock),
      }),
    );
    if (accountId !== undefined) await join(accountId, userId, parseRoles(roles), installIds);
    const credential = await server().services.credentials.issue(userId, { name: 'test' });
    return { userId, email, credential, client: clientOf(credential) };
  }

  const account = async (name = 'An account') => (await server().services.accounts.create(name)).id;

  return {
    get platform() {
      return server().platform;
    },
    get services() {
      return server().services;
    },
    get api() {
      return server().api;
    },
    get hosting() {
      return server().hosting;
    },
    get prepareWordPress() {
      return server().prepareWordPress;
    },
    idle: () => server().idle(),
    stop: (...given) => server().stop(...given),
    config,
    place,
    origin,
    ca,
    anonymous: createClient(parts),
    clientOf,
    account,
    person,
    async setPassword({ userId }, password) {
      const password_hash = await quickPasswordHash(password);
      await server().platform.database.write(({ queries }) =>
        queries.updateTable('users').set({ password_hash }).where('id', '=', userId).execute(),
      );
    },
    async ownedAccount() {
      const accountId = await account();
      return { accountId, owner: await person(accountId, 'owner') };
    },
    async install(owner, accountId, more = {}) {
      const name = installName();
      const made = await server().services.installs.create(operatorFor(owner.userId), {
        name,
        account_id: accountId,
        ...more,
      });
      await server().idle();
      return { id: made.id, name };
    },
    async remove() {
      // Longer than for a real server, because the machine may be busy.
      await running?.stop(2_000, 60_000);
      running = null;
      await agent.close();
      if (!options.place) await place.remove();
    },
  };
}
