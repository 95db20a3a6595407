import { type Agent, request } from 'undici';
import { PORTAL_PREFIX } from '../src/api/prefixes.ts';
import { DEVICE_COOKIE, PASSKEY_COOKIE } from '../src/api/session.ts';
import { type Answer, type CallOptions, type Client, createAgent } from './client.ts';
import type { Person, TestHomeport } from './homeport.ts';
import { quickPasswordHash } from './quick-password-hash.ts';
import { apiConformance, portalConformance } from './server-conformance.ts';

export interface PortalCallOptions extends CallOptions {
  /** Sent as `Origin` instead of the portal's; null sends no header. */
  origin?: string | null;
}

/**
 * Calls one server as the portal in one browser does: keeps cookies and sends its origin. Paths are below `/portal/api`, or name
 * the API: `/v1/user`. Every response of a server in this process is checked against its OpenAPI description.
 */
export interface PortalClient extends Client {
  call(method: string, path: string, options?: PortalCallOptions): Promise<Answer>;
  /** The session cookie, with its name; null sends no cookie. Set it to simulate a stolen cookie. */
  cookie: string | null;
  /** The device cookie from an earlier sign-in, likewise. */
  device: string | null;
  /** The cookie that binds the challenge of a passkey, likewise. */
  passkeyBrowser: string | null;
  signIn(email: string, password: string): Promise<Answer>;
}

/** The password that {@link signedIn} gives users. */
export const PASSWORD = 'correct horse battery staple';

/** The declarations of a server's routes; unknown if it runs in another process. */
type RoutesOfServer = Pick<TestHomeport, 'platform' | 'services'>;

/** Clients of one server share its agent. */
const agents = new WeakMap<object, Agent>();

export function createPortalClient(
  homeport: Pick<TestHomeport, 'origin' | 'ca'> & Partial<RoutesOfServer>,
): PortalClient {
  const agent = agents.get(homeport) ?? createAgent(homeport.ca);
  agents.set(homeport, agent);

  async function call(
    method: string,
    path: string,
    { json, raw, headers, origin = homeport.origin }: PortalCallOptions = {},
  ): Promise<Answer> {
    const inApi = path.startsWith('/v1/');
    const url = new URL(homeport.origin + (inApi ? path : PORTAL_PREFIX + path));
    const cookies = [client.cookie, client.device, client.passkeyBrowser].filter((cookie) => cookie !== null);
    const body = raw ?? (json === undefined ? null : JSON.stringify(json));
    const response = await request(url, {
      method,
      dispatcher: agent,
      headers: {
        ...(cookies.length === 0 ? {} : { cookie: cookies.join('; ') }),
        // A browser sends no origin with same-origin GETs.
        ...(origin === null || (method === 'GET' && origin === homeport.origin) ? {} : { origin }),
        ...(body === null ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body,
    });
    const text = await response.body.text();
    const { platform, services } = homeport;
    if (platform !== undefined && services !== undefined) {
      const conformance = inApi ? apiConformance({ platform, services }) : portalConformance({ services });
      conformance(method, url.pathname, response.statusCode, text);
    }
    keepCookies(response.headers['set-cookie']);
    const parsed: unknown = text === '' ? undefined : JSON.parse(text);
    return { status: response.statusCode, headers: response.headers, body: parsed };
  }

  /** Stores cookies as a browser does; expired ones are deleted. */
  function keepCookies(header: string | string[] | undefined): void {
    for (const set of [header ?? []].flat()) {
      const expires = /;\s*expires=([^;]+)/i.exec(set)?.[1];
      const gone = expires !== undefined && Date.parse(expires) === 0;
      const kept = gone ? null : (set.split(';')[0] ?? null);
      if (set.startsWith(`${DEVICE_COOKIE}=`)) client.device = kept;
      else if (set.startsWith(`${PASSKEY_COOKIE}=`)) client.passkeyBrowser = kept;
      else client.cookie = kept;
    }
  }

  const client: PortalClient = {
    cookie: null,
    device: null,
    passkeyBrowser: null,
    call,
    get: (path, options) => call('GET', path, options),
    post: (path, json) => call('POST', path, json === undefined ? {} : { json }),
    patch: (path, json) => call('PATCH', path, json === undefined ? {} : { json }),
    delete: (path) => call('DELETE', path),
    signIn: (email, password) => call('POST', '/session', { json: { email, password } }),
  };
  return client;
}

let passwordHash: Promise<string> | undefined;

/** Gives a user {@link PASSWORD} directly in the database, without notifications. */
export async function givePassword(
  { platform }: Pick<TestHomeport, 'platform'>,
  { userId }: Pick<Person, 'userId'>,
): Promise<void> {
  passwordHash ??= quickPasswordHash(PASSWORD);
  const password_hash = await passwordHash;
  await platform.database.write(({ queries }) =>
    queries.updateTable('users').set({ password_hash }).where('id', '=', userId).execute(),
  );
}

/** A browser in which a user is signed in with {@link PASSWORD}. */
export async function signedIn(
  homeport: Pick<TestHomeport, 'origin' | 'ca'> & RoutesOfServer,
  person: Pick<Person, 'userId' | 'email'>,
): Promise<PortalClient> {
  await givePassword(homeport, person);
  const client = createPortalClient(homeport);
  const answer = await client.signIn(person.email, PASSWORD);
  if (answer.status !== 200) throw new Error(`signing in was answered with ${answer.status}`);
  return client;
}
