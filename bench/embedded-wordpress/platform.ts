import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, type Dispatcher, request } from 'undici';
import { layoutOf } from '../../src/hosting/embedded/host-folder/layout.ts';
import { databaseNameOf } from '../../src/hosting/embedded/wordpress/site.ts';
import { freePort } from '../../test/servers/free-port.ts';
import { serveHomeport, temporaryFolder } from '../measure/processes.ts';

/** Homeport with WordPress in the embedded host, through its API and its edge. */
export interface Platform {
  /** Its process. */
  pid: number;
  edgeOrigin: string;
  cpuMs(): number;
  residentMb(): number;
  /** Creates an install and asks for its front page until it is there. Returns the milliseconds. */
  create(name: string): Promise<number>;
  /** The same, but waits for the operation first: looks of many at once would be work of the server, too. */
  createWithoutLooks(name: string): Promise<number>;
  /** Creates the install if {@link create} has not. */
  ensure(name: string): Promise<void>;
  hostOf(name: string): string;
  /** Document root of an install. */
  filesOf(name: string): string;
  /** What its website is made of. */
  placesOf(name: string): WebsitePlaces;
  visit(name: string, path: string, visit?: Visit): Promise<Visited>;
  /** Signs in to WordPress with a link, as a browser would. */
  signIn(name: string): Promise<{ cookie: string; nonce: string }>;
  stop(): Promise<void>;
}

export interface WebsitePlaces {
  files: string;
  /** Folder of the database. */
  database: string;
  databaseName: string;
  core: string;
  sqlite: string;
}

export interface Visit {
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string | Buffer;
}

export interface Visited {
  status: number;
  headers: Dispatcher.ResponseData['headers'];
  body: string;
}

const LOOK_MS = 10;
const PATIENCE_MS = 300_000;
/** The shortest that the setting allows. */
const IDLE_MINUTES = '1';

/** Starts it, with further settings. */
export async function startPlatform(settings: Record<string, string>): Promise<Platform> {
  const folder = temporaryFolder();
  const edgePort = await freePort();
  const server = await serveHomeport(folder.path, undefined, {
    HOMEPORT_EDGE_HTTP: `127.0.0.1:${edgePort}`,
    HOMEPORT_EMBEDDED_PHP_MB: '4000',
    HOMEPORT_EMBEDDED_PHP_IDLE_MINUTES: IDLE_MINUTES,
    HOMEPORT_INSTALL_RUNTIME: 'wordpress',
    ...settings,
  });
  const { pid } = server;
  const layout = layoutOf(join(folder.path, 'host'));
  const edgeOrigin = `http://127.0.0.1:${edgePort}`;
  const api = new Agent({ connect: { ca: server.ca } });
  const edge = new Agent({ connections: 4, pipelining: 1 });
  const ids = new Map<string, string>();
  let account: Promise<string> | undefined;

  async function call(method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> {
    return (await ask(method, path, body)).json;
  }

  /** The answer, and the path of the operation that it names. */
  async function ask(
    method: 'GET' | 'POST',
    path: string,
    body?: object,
  ): Promise<{ json: unknown; operation: string }> {
    const answer = await request(`${server.origin}/v1${path}`, {
      dispatcher: api,
      method,
      headers: { authorization: server.authorization, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${path} answered ${answer.statusCode}: ${text}`);
    return { json: JSON.parse(text), operation: String(answer.headers.location).replace(/^.*\/v1/, '') };
  }

  function accountId(): Promise<string> {
    account ??= call('GET', '/accounts').then((page) => String(Object(page).results[0].id));
    return account;
  }

  function idOf(name: string): string {
    const id = ids.get(name);
    if (id === undefined) throw new Error(`there is no install ${name}`);
    return id;
  }

  const hostOf = (name: string) => `${name}.localhost:${edgePort}`;

  async function visit(name: string, path: string, { headers = {}, ...more }: Visit = {}): Promise<Visited> {
    const answer = await request(`${edgeOrigin}${path}`, {
      dispatcher: edge,
      method: 'GET',
      headers: { host: hostOf(name), ...headers },
      ...more,
    });
    return { status: answer.statusCode, headers: answer.headers, body: await answer.body.text() };
  }

  async function isThere(name: string): Promise<boolean> {
    const { status, body } = await visit(name, '/').catch(() => ({ status: 0, body: '' }));
    return status === 200 && body.includes('/wp-content/') && body.includes('</html>');
  }

  /** Creates an install, and waits as told until its front page is there. */
  async function createAnd(
    name: string,
    untilThere: (creating: ReturnType<typeof ask>, until: number) => Promise<void>,
  ): Promise<number> {
    const account_id = await accountId();
    const began = performance.now();
    const creating = ask('POST', '/installs', { name, account_id });
    await untilThere(creating, began + PATIENCE_MS);
    const ms = performance.now() - began;
    ids.set(name, String(Object((await creating).json).id));
    process.stderr.write(`${name}: ${Math.round(ms)} ms\n`);
    return ms;
  }

  async function untilShown(name: string, until: number): Promise<void> {
    while (!(await isThere(name))) {
      if (performance.now() > until) throw new Error(`${name} did not answer`);
      await sleep(LOOK_MS);
    }
  }

  const create = (name: string) => createAnd(name, (_creating, until) => untilShown(name, until));

  const createWithoutLooks = (name: string) =>
    createAnd(name, async (creating, until) => {
      const { operation } = await creating;
      for (let isDone = false; !isDone; ) {
        if (performance.now() > until) throw new Error(`${name} was not created`);
        const { status } = Object(await call('GET', `${operation}?wait=60`));
        isDone = status !== 'queued' && status !== 'running';
      }
      await untilShown(name, until);
    });

  return {
    pid,
    edgeOrigin,
    cpuMs: server.cpuMs,
    residentMb: server.residentMb,
    create,
    createWithoutLooks,
    async ensure(name) {
      if (!ids.has(name)) await create(name);
    },
    hostOf,
    filesOf: (name) => layout.filesOf(idOf(name)),
    placesOf(name) {
      const id = idOf(name);
      const vhost: unknown = JSON.parse(readFileSync(layout.vhostOf(id), 'utf8'));
      return {
        files: layout.filesOf(id),
        database: layout.databaseOf(id),
        databaseName: databaseNameOf(id),
        core: layout.coreOf(String(Object(Object(vhost).wordpress).version)),
        sqlite: join(layout.sqlite, readdirSync(layout.sqlite)[0] ?? ''),
      };
    },
    visit,
    async signIn(name) {
      const link = Object(await call('POST', `/installs/${idOf(name)}/wordpress/login_links`, {}));
      const { pathname, search } = new URL(String(link.url));
      const { headers } = await visit(name, pathname + search);
      const given = [headers['set-cookie'] ?? []].flat().map((one) => one.split(';', 1)[0] ?? '');
      if (given.length === 0) throw new Error('the link did not sign in');
      const cookie = given.join('; ');
      const { body } = await visit(name, '/wp-admin/admin-ajax.php?action=rest-nonce', {
        headers: { cookie },
      });
      return { cookie, nonce: body };
    },
    async stop() {
      await Promise.all([api.close(), edge.close()]);
      await server.stop();
      folder.remove();
    },
  };
}
