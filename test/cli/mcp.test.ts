import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../src/cli/api/call.ts';
import { readEndpoints } from '../../src/cli/api/endpoints.ts';
import { connectionOf } from '../../src/cli/api/profiles.ts';
import { createConfirmations } from '../../src/cli/mcp/confirmations.ts';
import { createMcpServer } from '../../src/cli/mcp/server.ts';
import { type Scope, toolsOf } from '../../src/cli/mcp/tools.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { systemRandomness } from '../../src/lib/ids.ts';
import { text } from '../client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import { freePort } from '../servers/free-port.ts';
import { call as callHomeport } from './call-homeport.ts';

const PROGRAM = join(import.meta.dirname, '../../bin/homeport.mjs');

/** Those of this process, which assistants add to. */
const certificates = getCACertificates('default');

let homeport: TestHomeport;
let accountId: string;
let owner: Person;
let folder: string;
let environment: Record<string, string>;
const clients: Client[] = [];

beforeAll(async () => {
  homeport = await startTestHomeport({ roles: { api: true, hosting: false } });
  ({ accountId, owner } = await homeport.ownedAccount());
  folder = mkdtempSync(join(tmpdir(), 'homeport-mcp-'));
  writeFileSync(join(folder, 'ca.pem'), homeport.ca);
  environment = {
    PATH: process.env.PATH ?? '',
    HOMEPORT_API_URL: homeport.origin,
    HOMEPORT_API_CREDENTIAL: `${owner.credential.username}:${owner.credential.password}`,
    HOMEPORT_API_CA: join(folder, 'ca.pem'),
  };
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});
afterAll(async () => {
  setDefaultCACertificates(certificates);
  await homeport?.remove();
  rmSync(folder, { recursive: true });
});

function newClient(agrees: boolean | undefined): Client {
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: agrees === undefined ? {} : { elicitation: {} } },
  );
  if (agrees !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, async () => ({
      action: 'accept',
      content: { agree: agrees },
    }));
  }
  clients.push(client);
  return client;
}

/** An assistant with `homeport mcp` as its child. */
async function parentAssistant(): Promise<Client> {
  const client = newClient(undefined);
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [PROGRAM, 'mcp'], env: environment }),
  );
  return client;
}

/**
 * An assistant of a server in this process, which takes a fraction of the time of a child process. `agrees`: the user's answer to questions;
 * undefined: it cannot ask.
 */
async function assistant(scopes: Scope[], agrees?: boolean): Promise<Client> {
  const [here, there] = InMemoryTransport.createLinkedPair();
  const tools = toolsOf(readEndpoints(), new Set(scopes));
  const api = connect(connectionOf(environment, undefined));
  await createMcpServer(api, tools, createConfirmations(systemClock, systemRandomness)).connect(there);
  const client = newClient(agrees);
  await client.connect(here);
  return client;
}

async function call(client: Client, name: string, args: Record<string, unknown> = {}) {
  const answer = CallToolResultSchema.parse(await client.callTool({ name, arguments: args }));
  const [first] = answer.content;
  return { text: first?.type === 'text' ? first.text : '', isError: answer.isError === true };
}

async function site(name: string): Promise<string> {
  return text((await owner.client.post('/sites', { name, account_id: accountId })).body, 'id');
}

const exists = async (id: string) => (await owner.client.get(`/sites/${id}`)).status === 200;

describe('an assistant', () => {
  it('reads by default, and has no tool that changes anything', async () => {
    const client = await parentAssistant();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('list_installs');
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
    expect(await call(client, 'get_current_user')).toMatchObject({
      text: expect.stringContaining(owner.email),
    });
    await expect(call(client, 'create_site')).rejects.toThrow('there is no tool create_site');
  });

  it('changes within its scopes, and sees every fault', async () => {
    const client = await assistant(['read', 'write']);
    const { tools } = await client.listTools();
    expect(tools.some(({ annotations }) => annotations?.destructiveHint)).toBe(false);
    expect(tools.map(({ name }) => name)).toContain('purge_cache');
    // Their answers are secrets.
    expect(
      tools.filter(({ name }) => /create_(credential|login_link|database_link|webhook)/.test(name)),
    ).toEqual([]);
    const made = await call(client, 'create_site', {
      body: { name: 'By an assistant', account_id: accountId },
    });
    expect(JSON.parse(made.text)).toMatchObject({ name: 'By an assistant' });
    const refused = await call(client, 'create_site', { body: { name: '', account_id: accountId } });
    expect(refused).toMatchObject({ isError: true, text: expect.stringMatching(/^400: [\s\S]*\nname: /) });
  });

  it('deletes only after the user has agreed', async () => {
    const id = await site('Kept or not');
    const refusing = await assistant(['read', 'destructive'], false);
    expect(await call(refusing, 'delete_site', { site_id: id })).toMatchObject({ isError: true });
    expect(await exists(id)).toBe(true);
    const agreeing = await assistant(['read', 'destructive'], true);
    expect(await call(agreeing, 'delete_site', { site_id: id })).toEqual({ text: 'Done.', isError: false });
    expect(await exists(id)).toBe(false);
  });

  it('that cannot ask needs a confirmation, which holds for one call with the same arguments', async () => {
    const [one, other] = [await site('One'), await site('Other')];
    const client = await assistant(['destructive']);
    const asked = await call(client, 'delete_site', { site_id: one });
    expect(asked.text).toMatch(/^Nothing was changed yet/);
    const confirmation = /confirmation "([^"]+)"/.exec(asked.text)?.[1];
    expect(await exists(one)).toBe(true);
    await call(client, 'delete_site', { site_id: other, confirmation });
    expect(await exists(other)).toBe(true);
    expect(await call(client, 'delete_site', { site_id: one, confirmation })).toMatchObject({
      text: 'Done.',
    });
    expect(await exists(one)).toBe(false);
  });

  it('has no more rights than its credential', async () => {
    const stranger = await homeport.person();
    const id = await site('Private');
    environment = {
      ...environment,
      HOMEPORT_API_CREDENTIAL: `${stranger.credential.username}:${stranger.credential.password}`,
    };
    const answer = await call(await assistant(['read']), 'get_site', { site_id: id });
    expect(answer).toMatchObject({ isError: true, text: expect.stringMatching(/^40[34]: /) });
    environment = {
      ...environment,
      HOMEPORT_API_CREDENTIAL: `${owner.credential.username}:${owner.credential.password}`,
    };
  });
});

describe('by streamable HTTP', () => {
  let server: ChildProcess | undefined;
  let url: URL;

  beforeAll(async () => {
    const port = await freePort();
    url = new URL(`http://127.0.0.1:${port}/`);
    server = spawn(process.execPath, [PROGRAM, 'mcp', '--http', `127.0.0.1:${port}`], {
      env: environment,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await once(server.stderr ?? server, 'data');
  });
  afterAll(async () => {
    if (!server) return;
    const ended = once(server, 'exit');
    server.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  const basic = ({ username, password }: Person['credential']) =>
    `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

  async function remote(person: Person): Promise<Client> {
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(
      new StreamableHTTPClientTransport(url, {
        requestInit: { headers: { authorization: basic(person.credential) } },
      }),
    );
    clients.push(client);
    return client;
  }

  it('each session has the rights of its own credential', async () => {
    const other = await homeport.person();
    const [own, theirs] = [await remote(owner), await remote(other)];
    expect((await call(own, 'get_current_user')).text).toContain(owner.email);
    expect((await call(theirs, 'get_current_user')).text).toContain(other.email);
  });

  it('a session is of no use with another credential', async () => {
    const client = await remote(owner);
    const id = client.transport?.sessionId ?? '';
    const other = await homeport.person();
    const headers = {
      'mcp-session-id': id,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const ask = (authorization: string) =>
      fetch(url, { method: 'POST', headers: { ...headers, authorization }, body });
    expect((await ask(basic(other.credential))).status).toBe(404);
    expect((await ask(basic(owner.credential))).status).toBe(200);
  });

  it('refuses requests without a credential, and those of browsers', async () => {
    expect((await fetch(url, { method: 'POST' })).status).toBe(401);
    const wrong = { authorization: basic({ ...owner.credential, password: 'wrong' }) };
    expect((await fetch(url, { method: 'POST', headers: wrong })).status).toBe(401);
    const headers = { authorization: basic(owner.credential), origin: 'https://evil.example' };
    expect((await fetch(url, { method: 'POST', headers })).status).toBe(403);
  });

  it('listens on loopback addresses only', async () => {
    const { code, stderr } = await callHomeport(environment, 'mcp', '--http', '0.0.0.0:8765');
    expect(code).toBe(1);
    expect(stderr).toContain('loopback');
  });
});
