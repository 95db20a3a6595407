import { randomBytes, randomUUID } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { request } from 'undici';
import { expect } from 'vitest';
import { describedApi } from '../../src/app/description.ts';
import { call, callJson } from '../cli/call-homeport.ts';
import { type Environment, environmentFor, serve } from '../cli/run-homeport.ts';
import { type Client, createAgent, createClient, field, text } from '../client.ts';
import type { DatabasePlace } from '../database.ts';
import { freePort } from '../servers/free-port.ts';

const BACKUP = 'backup';
const RECORD = 'record.json';
const PAGE = '<!doctype html><p>Kept through upgrades</p>';

/** Answers of a platform: of each path with GET the ids of what it listed. */
const Answers = Type.Record(Type.String(), Type.Array(Type.String()));
const Record = Type.Object({
  credential: Type.Object({ username: Type.String(), password: Type.String() }),
  /** The install with the page and the backup. */
  install: Type.Object({ id: Type.String(), name: Type.String(), backup: Type.String() }),
  answers: Answers,
});

const Described = Type.Object({
  paths: Type.Record(Type.String(), Type.Object({ get: Type.Optional(Type.Unknown()) })),
});

/** Parts of paths that name a resource, by the list that has it. */
const IDS: ReadonlyMap<string, string> = new Map([
  ['account_id', '/accounts'],
  ['site_id', '/sites'],
  ['install_id', '/installs'],
]);

/** Fills a platform with the demo and a backup, and keeps it in `folder`: its platform backup, and what it answered. */
export async function keepPlatform(place: DatabasePlace, folder: string): Promise<void> {
  const credential = { username: randomUUID(), password: randomBytes(18).toString('base64url') };
  const environment = await edgeEnvironment(place, {
    HOMEPORT_INITIAL_CREDENTIAL: `${credential.username}:${credential.password}`,
  });
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const record = await whileServing(environment, credential, ['--demo'], async (client) => {
    const installs = (await client.get('/installs?limit=100')).body;
    const [id, name] = [text(installs, 'results', 0, 'id'), text(installs, 'results', 0, 'name')];
    writeFileSync(join(place.settings.dataDir, 'host/installs', id, 'files/index.html'), PAGE);
    const asked = await client.post(`/installs/${id}/backups`, {
      description: 'Kept',
      notification_emails: ['kept@agency.example'],
    });
    expect(asked.status, JSON.stringify(asked.body)).toBe(202);
    const backup = text(asked.body, 'id');
    await expect
      .poll(async () => field((await client.get(`/installs/${id}/backups/${backup}`)).body, 'status'), {
        timeout: 60_000,
      })
      .toBe('completed');
    return { credential, install: { id, name, backup }, answers: await answersOf(client) };
  });
  writeFileSync(join(folder, RECORD), `${JSON.stringify(record, null, 1)}\n`);
  const made = await callJson(environment, 'platform', 'backup', 'create', folder, '--with-sealing-key');
  renameSync(join(folder, text(made, 'name')), join(folder, BACKUP));
}

/**
 * Restores a kept platform with the present program, which upgrades it. Everything that it answered is still there, the website answers,
 * and its backup can be restored.
 */
export async function upgradeKept(place: DatabasePlace, folder: string): Promise<void> {
  const record: Static<typeof Record> = Value.Parse(
    Record,
    JSON.parse(readFileSync(join(folder, RECORD), 'utf8')),
  );
  const environment = await edgeEnvironment(place);
  // The restore needs a folder with the name of the backup.
  const { name } = JSON.parse(readFileSync(join(folder, BACKUP, 'manifest.json'), 'utf8'));
  const location = join(place.settings.dataDir, '..', name);
  try {
    cpSync(join(folder, BACKUP), location, { recursive: true });
    const restored = await call(environment, 'platform', 'restore', location);
    expect(restored).toMatchObject({ code: 0, stderr: '' });
  } finally {
    rmSync(location, { recursive: true, force: true });
  }
  await whileServing(environment, record.credential, [], async (client) => {
    const { id, name: website, backup } = record.install;
    const answers = await answersOf(client);
    for (const [path, ids] of Object.entries(record.answers)) {
      expect(answers[path], path).toEqual(expect.arrayContaining(ids));
    }
    await expect.poll(() => visit(environment, website), { timeout: 60_000 }).toBe(PAGE);
    const file = join(place.settings.dataDir, 'host/installs', id, 'files/index.html');
    writeFileSync(file, 'changed');
    await callJson(environment, 'backup', 'restore', backup, '--yes');
    await expect.poll(() => readFileSync(file, 'utf8'), { timeout: 60_000 }).toBe(PAGE);
  });
}

async function edgeEnvironment(place: DatabasePlace, changes: Environment = {}): Promise<Environment> {
  return environmentFor(place, {
    HOMEPORT_EDGE_HTTP: `127.0.0.1:${await freePort()}`,
    HOMEPORT_LOG_LEVEL: 'warn',
    ...changes,
  });
}

async function whileServing<Result>(
  environment: Environment,
  credential: { username: string; password: string },
  words: string[],
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const server = await serve(environment, ...words);
  const agent = createAgent(readFileSync(join(environment.HOMEPORT_DATA_DIR ?? '', 'tls/api.crt'), 'utf8'));
  try {
    const origin = environment.HOMEPORT_PUBLIC_URL ?? '';
    const client = createClient({ origin, agent, conformance: () => undefined }, credential);
    await allActive(client);
    return await work(client);
  } finally {
    await agent.destroy();
    server.process.kill('SIGTERM');
    await server.ended;
  }
}

async function allActive(client: Client): Promise<void> {
  const others = async () => field((await client.get('/installs?status=pending&limit=1')).body, 'count');
  await expect.poll(others, { timeout: 60_000 }).toBe(0);
}

/** The ids in every list of the API, and of every resource that its lists lead to. */
async function answersOf(client: Client): Promise<Static<typeof Answers>> {
  const { paths: described } = Value.Parse(Described, describedApi());
  const paths = Object.entries(described).flatMap(([path, { get }]) => (get === undefined ? [] : path));
  const known = new Map<string, string[]>();
  for (const [parameter, list] of IDS)
    known.set(parameter, idsIn((await client.get(`${list}?limit=100`)).body));
  const answers: Static<typeof Answers> = {};
  for (const path of paths.flatMap((one) => filled(one, known))) {
    const { status, body } = await client.get(path);
    if (status === 200) answers[path] = idsIn(body);
  }
  return answers;
}

/** A path with each id that is known for it; none if it names another resource. */
function filled(path: string, known: ReadonlyMap<string, readonly string[]>): string[] {
  const parameter = /\{(\w+)\}/.exec(path)?.[1];
  if (parameter === undefined) return [path];
  return (known.get(parameter) ?? []).flatMap((id) => filled(path.replace(`{${parameter}}`, id), known));
}

function idsIn(body: unknown): string[] {
  const results = field(body, 'results');
  const rows: unknown[] = Array.isArray(results) ? results : [body];
  return rows.flatMap((row) => {
    const id: unknown = typeof row === 'object' && row !== null ? Reflect.get(row, 'id') : null;
    return typeof id === 'string' ? [id] : [];
  });
}

async function visit(environment: Environment, website: string): Promise<string> {
  const { body } = await request(`http://${environment.HOMEPORT_EDGE_HTTP}/`, {
    headers: { host: `${website}.localhost` },
  });
  return body.text();
}
