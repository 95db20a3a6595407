import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ssh2, { type Client as SshClient } from 'ssh2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field, text } from '../../../../test/client.ts';
import { visit } from '../../../../test/edge.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { signedIn } from '../../../../test/portal-client.ts';
import { FORBIDDEN, refusal } from '../../../../test/refusal.ts';
import { onlyInLong } from '../../../../test/rounds.ts';
import { newSshKey } from '../../../../test/ssh-key.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import { MAX_KEYS } from './service.ts';
import { insertSshKey } from './store.ts';

let homeport: TestHomeport;

beforeAll(async () => {
  homeport = await startTestHomeport();
});
afterAll(() => homeport.remove());

const add = (person: Person, public_key: unknown) => person.client.post('/ssh_keys', { public_key });

async function addedKey(person: Person, line = newSshKey().public): Promise<string> {
  const answer = await add(person, line);
  expect(answer.status).toBe(201);
  return text(answer.body, 'uuid');
}

const TAKEN = refusal(
  'SshKey.public_key',
  'value_unavailable / taken',
  'You have already added this SSH key',
);
const refusedKey = (message = 'SSH key must be in valid OpenSSH format') =>
  refusal('SshKey.public_key', 'invalid_value / invalid_format', message, 'Invalid SSH key format');

describe('POST /ssh_keys', () => {
  it.each([
    ['ed25519', () => newSshKey().public, 'me@laptop'],
    ['ecdsa', () => ssh2.utils.generateKeyPairSync('ecdsa', { bits: 384 }).public, 'two words, and “more”'],
    ['rsa', () => ssh2.utils.generateKeyPairSync('rsa', { bits: 2048 }).public, ''],
  ])('adds a key of the type %s, and shows its comment', async (_, make, comment) => {
    const person = await homeport.person();
    const [type, blob] = make().split(' ');
    const answer = await add(person, `  ${type} ${blob} ${comment}\n`);
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      uuid: expect.stringMatching(/^[0-9a-f-]{14}4/),
      comment,
      fingerprint: expect.stringMatching(/^([0-9a-f]{2}:){15}[0-9a-f]{2}$/),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
    expect((await person.client.get('/ssh_keys')).body).toMatchObject({ count: 1, results: [answer.body] });
  });

  const hasKeygen = spawnSync('ssh-keygen', ['-?']).error === undefined;

  onlyInLong(it.runIf(hasKeygen))('shows the same fingerprints as ssh-keygen', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'keys-'));
    try {
      for (const type of ['ed25519', 'ecdsa', 'rsa']) {
        const file = join(folder, type);
        execFileSync('ssh-keygen', ['-q', '-t', type, '-N', '', '-C', `key ${type}`, '-f', file]);
        const line = execFileSync('ssh-keygen', ['-y', '-f', file], { encoding: 'utf8' });
        const shown = (hash: string) =>
          execFileSync('ssh-keygen', ['-l', '-E', hash, '-f', `${file}.pub`], { encoding: 'utf8' });
        const person = await homeport.person();
        const { body } = await add(person, line);
        const [md5, comment] = [text(body, 'fingerprint'), text(body, 'comment')];
        expect(shown('md5')).toContain(`MD5:${md5} ${comment}`);
        const key = field((await (await signedIn(homeport, person)).get('/ssh_keys')).body, 'results', 0);
        expect(key).toMatchObject({ id: text(body, 'uuid'), comment, fingerprint_md5: md5 });
        expect(shown('sha256')).toContain(`SHA256:${text(key, 'fingerprint_sha256')} ${comment}`);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('accepts a key once per user, with any comment, and from several users', async () => {
    const [one, two] = [await homeport.person(), await homeport.person()];
    const [type, blob] = newSshKey().public.split(' ');
    expect((await add(one, `${type} ${blob} a`)).status).toBe(201);
    expect(await add(one, `${type} ${blob} b`)).toMatchObject(TAKEN);
    expect((await add(two, `${type} ${blob}`)).status).toBe(201);
    expect((await one.client.get('/ssh_keys')).body).toMatchObject({ count: 1 });
  });

  it('accepts a key once from concurrent requests', async () => {
    const person = await homeport.person();
    const line = newSshKey().public;
    const answers = await Promise.all(Array.from({ length: 6 }, () => add(person, line)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400, 400]);
    for (const answer of answers) if (answer.status === 400) expect(answer).toMatchObject(TAKEN);
  });

  it('limits a user to a thousand keys, also for concurrent requests', async () => {
    const person = await homeport.person();
    await homeport.platform.database.write(async ({ queries }) => {
      for (let times = 1; times < MAX_KEYS; times++) {
        const id = crypto.randomUUID();
        const fingerprints = { fingerprint_md5: id, fingerprint_sha256: id };
        const created_at = new Date().toISOString();
        const key = { id, user_id: person.userId, comment: '', public_key: id, ...fingerprints, created_at };
        await insertSshKey(queries, key);
      }
    });
    const answers = await Promise.all([1, 2, 3].map(() => add(person, newSshKey().public)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400]);
    const refused = answers.find(({ status }) => status === 400);
    expect(refused?.body).toMatchObject({
      message: 'You have reached the limit of 1000 SSH keys. Remove one that you no longer need',
    });
    const added = answers.find(({ status }) => status === 201);
    expect((await person.client.delete(`/ssh_keys/${text(added?.body, 'uuid')}`)).status).toBe(204);
    await addedKey(person);
  });

  it('adds no key that outlives its credential, or that its credential may not add', async () => {
    const person = await homeport.person();
    const { credentials } = homeport.services;
    const expiresAt = new Date(Date.now() + DAY_MS);
    const expiring = await credentials.issue(person.userId, { name: 'expiring', expiresAt });
    const client = homeport.clientOf(expiring);
    const message = `This credential expires at ${expiresAt.toISOString()}, but an SSH key does not. Add the key in the portal or with a credential without an expiry`;
    expect(await add({ ...person, client }, newSshKey().public)).toMatchObject(
      refusal('SshKey.public_key', 'access_error / wider', message),
    );
    const limits = { readOnly: true, accountId: null, installs: null };
    const readOnly = homeport.clientOf(await credentials.issue(person.userId, { name: 'reads', limits }));
    expect(await add({ ...person, client: readOnly }, newSshKey().public)).toMatchObject(FORBIDDEN);
    expect((await person.client.get('/ssh_keys')).body).toMatchObject({ count: 0 });
    // It may still take rights away.
    const id = await addedKey(person);
    expect((await client.delete(`/ssh_keys/${id}`)).status).toBe(204);
  });

  it('refuses malformed keys with the message of the specification', async () => {
    const person = await homeport.person();
    const [type = '', blob = ''] = newSshKey().public.split(' ');
    for (const wrong of [
      '',
      '   ',
      'nonsense',
      type,
      `${type} AAAA`,
      `${type} ${blob.slice(0, -8)}`,
      `ssh-rsa ${blob}`,
      `${type} ${blob}\n${type} ${blob}`,
      `no-pty ${type} ${blob}`,
      `${type} ${blob} a\u0007b`,
      `${type} ${randomBytes(20_000).toString('base64')}`,
    ]) {
      const answer = await add(person, wrong);
      expect(answer.status, wrong.slice(0, 60)).toBe(400);
      expect(field(answer.body, 'message'), wrong.slice(0, 60)).toBe('Invalid SSH key format');
    }
    for (const wrong of ['nonsense', '', `${type} AAAA`]) {
      const answer = await add(person, wrong);
      expect(field(answer.body, 'errors')).toMatchObject([
        { resource: 'SshKey', field: 'public_key', type: 'invalid_value', code: 'invalid_format' },
      ]);
    }
    expect(await add(person, `${type} AAAA`)).toMatchObject(refusedKey());
    expect(await add(person, 7)).toMatchObject(refusedKey());
    expect(await add(person, undefined)).toMatchObject(
      refusal(
        'SshKey.public_key',
        'missing_field / required',
        'SSH key cannot be empty',
        'Invalid SSH key format',
      ),
    );
    expect((await person.client.get('/ssh_keys')).body).toMatchObject({ count: 0 });
  });

  it('explains why a well-formed key is refused', async () => {
    const person = await homeport.person();
    const weak = ssh2.utils.generateKeyPairSync('rsa', { bits: 1024 }).public;
    expect(await add(person, weak)).toMatchObject(
      refusedKey('The rsa key is too short. Use at least 2048 bits, or better an ed25519 key.'),
    );
    expect(await add(person, newSshKey().private)).toMatchObject(
      refusedKey('This is a private key. Keep it secret, and paste the matching .pub file instead.'),
    );
    const dss = Buffer.from('\0\0\0\x07ssh-dss').toString('base64');
    expect(await add(person, `ssh-dss ${dss}`)).toMatchObject(
      refusedKey('This key type is not supported. Use an ed25519, ecdsa or rsa key.'),
    );
  });
});

describe('GET /ssh_keys', () => {
  it('lists the caller’s own keys, oldest first, in pages', async () => {
    const [person, other] = [await homeport.person(), await homeport.person()];
    await addedKey(other);
    const ids = [await addedKey(person), await addedKey(person), await addedKey(person)];
    const list = async (query = '') => (await person.client.get(`/ssh_keys${query}`)).body;
    expect(await list()).toMatchObject({
      previous: null,
      next: null,
      count: 3,
      results: ids.map((uuid) => ({ uuid })),
    });
    const address = `${homeport.origin}/v1/ssh_keys`;
    expect(await list('?limit=1&offset=1')).toMatchObject({
      previous: `${address}?limit=1&offset=0`,
      next: `${address}?limit=1&offset=2`,
      count: 3,
      results: [{ uuid: ids[1] }],
    });
    expect((await person.client.get('/ssh_keys?offset=-1')).status).toBe(400);
  });
});

describe('DELETE /ssh_keys/{ssh_key_id}', () => {
  it('removes a key of the caller, and answers 403 for others', async () => {
    const [person, other] = [await homeport.person(), await homeport.person()];
    const id = await addedKey(person);
    const remove = (one: Person, key: string) => one.client.delete(`/ssh_keys/${key}`);
    expect(await remove(other, id)).toMatchObject(FORBIDDEN);
    const answer = await remove(person, id.toUpperCase());
    expect(answer.status).toBe(204);
    expect(answer.body).toBeUndefined();
    expect(await remove(person, id)).toMatchObject(FORBIDDEN);
    expect(await remove(person, crypto.randomUUID())).toMatchObject(FORBIDDEN);
    expect(await remove(person, 'x')).toMatchObject({
      status: 400,
      body: { message: 'Invalid SSH key ID format' },
    });
    expect((await person.client.get('/ssh_keys')).body).toMatchObject({ count: 0 });
  });

  it('allows the key to be added again', async () => {
    const person = await homeport.person();
    const line = newSshKey().public;
    await person.client.delete(`/ssh_keys/${await addedKey(person, line)}`);
    expect((await add(person, line)).status).toBe(201);
  });
});

describe('signing in by SFTP', () => {
  interface Session {
    names(): Promise<string[]>;
    write(path: string, content: string): Promise<void>;
  }

  const open: SshClient[] = [];
  afterAll(() => {
    for (const client of open) client.destroy();
  });

  async function signIn(username: string, privateKey: string): Promise<Session> {
    const address = homeport.hosting?.ssh;
    const client = new ssh2.Client();
    open.push(client);
    client.connect({ ...address, username, privateKey });
    await once(client, 'ready');
    return {
      names: () =>
        withSftp(client, (channel, resolve, reject) =>
          channel.readdir('.', (error, list) =>
            error ? reject(error) : resolve(list.map(({ filename }) => filename)),
          ),
        ),
      write: (path, content) =>
        withSftp(client, (channel, resolve, reject) =>
          channel.writeFile(path, content, (error) => (error ? reject(error) : resolve())),
        ),
    };
  }

  function withSftp<Result>(
    client: SshClient,
    work: (
      channel: ssh2.SFTPWrapper,
      resolve: (result: Result) => void,
      reject: (error: Error) => void,
    ) => void,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      client.once('close', () => reject(new Error('the connection was closed')));
      client.sftp((error, channel) => (error ? reject(error) : work(channel, resolve, reject)));
    });
  }

  const isRefused = async (username: string, privateKey: string) =>
    expect(signIn(username, privateKey)).rejects.toThrow(/authentication methods failed/);

  it('gives access to the files of the install until the key is removed', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const install = await homeport.install(owner, accountId);
    const key = newSshKey();
    await isRefused(install.name, key.private);
    const id = await addedKey(owner, key.public);
    const session = await signIn(install.name, key.private);
    expect(await session.names()).toEqual(['index.html']);
    await session.write('hello.txt', 'by SFTP');
    expect((await visit(homeport, `http://${install.name}.localhost/hello.txt`)).body).toBe('by SFTP');

    expect((await owner.client.delete(`/ssh_keys/${id}`)).status).toBe(204);
    await expect(session.names()).rejects.toThrow();
    await isRefused(install.name, key.private);
  });

  it('needs permission to work on the install', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const [mine, theirs] = [
      await homeport.install(owner, accountId),
      await homeport.install(owner, accountId),
    ];
    const partial = await homeport.person(accountId, 'partial', [mine.id]);
    const stranger = (await homeport.ownedAccount()).owner;
    const [key, other] = [newSshKey(), newSshKey()];
    await addedKey(partial, key.public);
    await addedKey(stranger, other.public);
    const session = await signIn(mine.name, key.private);
    expect(await session.names()).toContain('index.html');
    await isRefused(theirs.name, key.private);
    await isRefused(mine.name, other.private);
    await isRefused('nosuchinstall', key.private);

    const member = `/accounts/${accountId}/account_users/${partial.userId}`;
    await owner.client.patch(member, { roles: 'partial', install_ids: [theirs.id] });
    await expect(session.names()).rejects.toThrow();
    await isRefused(mine.name, key.private);
    const next = await signIn(theirs.name, key.private);
    await owner.client.delete(member);
    await expect(next.names()).rejects.toThrow();
    await isRefused(theirs.name, key.private);
  });

  it('ends with the install', async () => {
    const { accountId, owner } = await homeport.ownedAccount();
    const install = await homeport.install(owner, accountId);
    const key = newSshKey();
    await addedKey(owner, key.public);
    const session = await signIn(install.name, key.private);
    await owner.client.delete(`/installs/${install.id}`);
    await expect(session.names()).rejects.toThrow();
    await homeport.idle();
    await isRefused(install.name, key.private);
  });

  it('allows a key of two users what either of them may do', async () => {
    const one = await homeport.ownedAccount();
    const two = await homeport.ownedAccount();
    const installs = [
      await homeport.install(one.owner, one.accountId),
      await homeport.install(two.owner, two.accountId),
    ];
    const key = newSshKey();
    await addedKey(one.owner, key.public);
    const second = await addedKey(two.owner, key.public);
    for (const { name } of installs)
      expect(await (await signIn(name, key.private)).names()).toEqual(['index.html']);
    await two.owner.client.delete(`/ssh_keys/${second}`);
    await isRefused(installs[1]?.name ?? '', key.private);
    expect(await (await signIn(installs[0]?.name ?? '', key.private)).names()).toEqual(['index.html']);
  });
});
