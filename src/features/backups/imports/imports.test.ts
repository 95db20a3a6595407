import ssh2 from 'ssh2';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { activityOf } from '../../../../test/activity.ts';
import { text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { mailsTo } from '../../../../test/mails.ts';
import { manualClock } from '../../../../test/manual-clock.ts';
import { refusal } from '../../../../test/refusal.ts';
import { onlyInLong } from '../../../../test/rounds.ts';
import { operatorFor } from '../../../access/caller.ts';
import { checkImports } from '../../../cli/doctor/imports.ts';
import {
  BrokenWebsiteError,
  PermanentHostError,
  RefusedImportError,
} from '../../../hosting/contract/errors.ts';
import type { HostMachine } from '../../../hosting/contract/host.ts';
import { type ServedMachine, serveMachine } from '../../../hosting/remote/embedded-machine.fixture.ts';
import { DAY_MS, MINUTE_MS } from '../../../lib/durations.ts';
import { environment } from '../../hosts/fleet.fixture.ts';
import { createReconciling } from '../../provisioning/reconciling.ts';
import { putCheckpointBack } from '../checkpoints.ts';
import { importWebsite } from '../jobs.ts';
import { EVERYTHING } from '../replaced-parts.ts';
import { settleImportsAgain } from './settle-again.ts';

let machine: ServedMachine;
let homeport: TestHomeport;
let accountId: string;
let owner: Person;
let install: { id: string; name: string };
/** The sources that the host got. */
let asked: Parameters<HostMachine['importWebsite']>[1][];
/** The import that made the website, as the host says. */
let last: string | null;

beforeAll(async () => {
  machine = await serveMachine();
  homeport = await startTestHomeport({ environment: environment(machine.runFolder) });
  ({ accountId, owner } = await homeport.ownedAccount());
  install = await homeport.install(owner, accountId);
});
beforeEach(() => {
  asked = [];
  last = null;
  machine.machine.lastImport = async () => last;
  answerWith(async () => ({ tablePrefix: 'wp_', files: 3, bytes: 100 }));
});
afterAll(async () => {
  await homeport?.remove();
  await machine?.close();
});

function answerWith(importWebsite: HostMachine['importWebsite']): void {
  machine.machine.importWebsite = (...args) => {
    asked.push(args[1]);
    return importWebsite(...args);
  };
}

const ssh = { source: 'ssh', host: 'old.example', user: 'ada', path: '/srv/shop' };
const fingerprint = `SHA256:${'a'.repeat(43)}`;

const request = (body: object, { client } = owner) => client.post(`/installs/${install.id}/imports`, body);

async function operationOf({ headers }: { headers: Record<string, unknown> }): Promise<unknown> {
  await homeport.idle();
  return (await owner.client.get(String(headers.location).replace('/v1', ''))).body;
}

describe('an import', () => {
  it('begins with a checkpoint, and keeps the address of the archive secret', async () => {
    const url = 'https://files.example/site.zip?signature=s3cret';
    const answer = await request({ source: 'url', url });
    expect(answer.status).toBe(202);
    expect(await operationOf(answer)).toMatchObject({
      kind: 'install.import',
      status: 'succeeded',
      result: { checkpoint_id: expect.any(String) },
    });
    expect(asked).toEqual([{ url }]);
    const backups = await owner.client.get(`/installs/${install.id}/backups`);
    expect(backups.body).toMatchObject({ results: [{ kind: 'checkpoint', status: 'completed' }] });
    const written = (await activityOf(homeport, accountId)).find(({ action }) => action === 'install.import');
    expect(written).toMatchObject({ subject_id: install.id, details: { from: 'files.example' } });
    const jobs = await homeport.platform.database.reader.selectFrom('jobs').selectAll().execute();
    expect(JSON.stringify([jobs, written])).not.toContain('s3cret');
  });

  it('names the website of the archive, and says what was left out', async () => {
    const notes = ['Skipped a link.', 'Not imported: email.'];
    answerWith(async () => ({ tablePrefix: 'wp_', files: 3, bytes: 100, notes }));
    const archive = { source: 'file', path: 'private/account.tar.gz' };
    const answer = await request({ ...archive, site: 'shop.example' });
    expect(await operationOf(answer)).toMatchObject({
      status: 'succeeded',
      result: { checkpoint_id: expect.any(String), left_out: 'Skipped a link. Not imported: email.' },
    });
    expect(asked).toEqual([{ file: archive.path, site: 'shop.example' }]);
    for (const site of ['', 'a\nb', 'x'.repeat(256)]) {
      expect((await request({ ...archive, site })).status).toBe(400);
    }
  });

  it('puts the checkpoint back only if the website was replaced', async () => {
    const restores = async () => {
      const { body } = await owner.client.get(`/operations?install_id=${install.id}&kind=backup.restore`);
      return body;
    };
    answerWith(() => Promise.reject(new RefusedImportError('The archive is empty.')));
    const refused = await request({ source: 'file', path: 'private/a.zip' });
    expect(await operationOf(refused)).toMatchObject({
      status: 'failed',
      error: { code: 'import_refused', message: 'The archive is empty.' },
    });
    expect(await restores()).toMatchObject({ count: 0 });
    // It came never so far as to replace the website.
    answerWith(() => Promise.reject(new PermanentHostError('the host has too little memory')));
    const early = await request({ source: 'file', path: 'private/a.zip' });
    expect(await operationOf(early)).toMatchObject({ status: 'failed', error: { code: 'host_refused' } });
    expect(await restores()).toMatchObject({ count: 0 });
    answerWith((_install, _source, { importId = null } = {}) => {
      last = importId;
      return Promise.reject(new BrokenWebsiteError('the home page answers 500'));
    });
    const broken = await request({ source: 'file', path: 'private/a.zip' });
    expect(await operationOf(broken)).toMatchObject({ status: 'failed', error: { code: 'host_refused' } });
    expect(await restores()).toMatchObject({ count: 1 });
  });

  onlyInLong(it)('that is refused after an interrupted attempt is undone, too', async () => {
    const own = await homeport.install(owner, accountId);
    let attempts = 0;
    answerWith((_install, _source, { importId = null } = {}) => {
      last = importId;
      attempts++;
      return Promise.reject(
        attempts === 1 ? new Error('the host was killed') : new RefusedImportError('The key is gone.'),
      );
    });
    await owner.client.post(`/installs/${own.id}/imports`, { source: 'file', path: 'private/a.zip' });
    const restores = async () =>
      (await owner.client.get(`/operations?install_id=${own.id}&kind=backup.restore`)).body;
    // The second attempt begins a second after the first.
    await expect.poll(restores).toMatchObject({ count: 1 });
    expect(attempts).toBe(2);
  });

  it('that its host does not settle is reported, and settled once the host answers again', async () => {
    const { platform } = homeport;
    const own = await homeport.install(owner, accountId);
    answerWith((_install, _source, { importId = null } = {}) => {
      last = importId;
      return Promise.reject(new BrokenWebsiteError('the home page answers 500'));
    });
    machine.machine.lastImport = () => Promise.reject(new PermanentHostError('its record cannot be read'));
    const body = { source: 'file', path: 'private/a.zip' };
    const broken = await operationOf(await owner.client.post(`/installs/${own.id}/imports`, body));
    expect(broken).toMatchObject({
      status: 'failed',
      error: { code: 'host_refused', message: expect.stringMatching(/500 The host could not say/) },
    });
    expect(await checkImports(platform.database, platform.clock)).toMatchObject([
      { state: 'problem', message: expect.stringContaining(`the website of ${own.name} since`) },
    ]);
    const restores = async () =>
      (await owner.client.get(`/operations?install_id=${own.id}&kind=backup.restore`)).body;
    const { host_id } = await platform.database.reader
      .selectFrom('installs')
      .select('host_id')
      .where('id', '=', own.id)
      .executeTakeFirstOrThrow();
    const again = async () => {
      const reconciling = createReconciling(platform);
      await reconciling.run(host_id ?? '', machine.machine);
      await reconciling.stop();
      await homeport.idle();
    };
    await again();
    expect(await restores()).toMatchObject({ count: 0 });
    // The files alone do not make up for the database.
    const backups = Object((await owner.client.get(`/installs/${own.id}/backups`)).body).results;
    const path = `/installs/${own.id}/backups/${backups[0].id}/restore`;
    const asked = await owner.client.post(path, {
      ...{ create_checkpoint: false, restore_database: false },
      notification_emails: [],
    });
    expect(asked).toMatchObject({ status: 202 });
    await homeport.idle();
    expect(await checkImports(platform.database, platform.clock)).toMatchObject([{ state: 'problem' }]);
    machine.machine.lastImport = async () => last;
    // Neither for other installs nor after a day.
    await settleImportsAgain(platform, [install.id]);
    const clock = manualClock(new Date(platform.clock.now().getTime() + DAY_MS + MINUTE_MS));
    await settleImportsAgain({ ...platform, clock }, [own.id]);
    await homeport.idle();
    expect(await restores()).toMatchObject({ count: 1 });
    await again();
    expect(await restores()).toMatchObject({ count: 2 });
    const ended = `/operations/${text(broken, 'id')}`;
    expect((await owner.client.get(ended)).body).toMatchObject({
      error: { message: expect.stringMatching(/500$/) },
    });
    await again();
    expect(await restores()).toMatchObject({ count: 2 });
    expect(await checkImports(platform.database, platform.clock)).toMatchObject([{ state: 'ok' }]);
  });

  it('that is cancelled after the exchange gives the former website back', async () => {
    const { promise: exchanged, resolve: exchange } = Promise.withResolvers<void>();
    answerWith(async (_install, _source, { importId = null } = {}, signal) => {
      last = importId;
      exchange();
      await new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('aborted')));
      });
      throw new Error('unreachable');
    });
    const answer = await request({ source: 'file', path: 'private/a.zip' });
    const operation = String(answer.headers.location).replace('/v1', '');
    await exchanged;
    expect((await owner.client.delete(operation)).status).toBeLessThan(300);
    await homeport.idle();
    const { body } = await owner.client.get(`/operations?install_id=${install.id}&kind=backup.restore`);
    expect(body).toMatchObject({ count: 2 });
  });

  it('begins after the return of a checkpoint that was requested while it waited', async () => {
    const { platform } = homeport;
    const other = await homeport.install(owner, accountId);
    const { id: checkpoint_id } = await homeport.services.backups.request(
      operatorFor(owner.userId),
      other.id,
      { description: 'x', notification_emails: [] },
    );
    await homeport.idle();
    const restores = async () =>
      (await owner.client.get(`/operations?install_id=${other.id}&kind=backup.restore`)).body;
    let before: unknown;
    answerWith(async () => {
      before = await restores();
      return { tablePrefix: 'wp_', files: 3, bytes: 100 };
    });
    await platform.database.write(async (transaction) => {
      const sealed_source = platform.sealer.seal(JSON.stringify({ file: 'private/a.zip' }));
      await platform.queue.enqueue(transaction, importWebsite, {
        payload: { install_id: other.id, import_id: checkpoint_id, sealed_source },
        lane: other.id,
      });
      await putCheckpointBack(platform, transaction, { install_id: other.id, checkpoint_id });
    });
    await homeport.idle();
    expect(before).toMatchObject({ results: [{ status: 'succeeded' }] });
  });

  it('is refused for a wrong source', async () => {
    for (const [body, field, code] of [
      [{ source: 'file' }, 'path', 'missing'],
      [{ source: 'url' }, 'url', 'missing'],
      [{ source: 'ssh' }, 'host', 'missing'],
      [{ ...ssh, url: 'https://x.example/' }, 'url', 'not_applicable'],
      [{ ...ssh, site: 'shop.example' }, 'site', 'not_applicable'],
      [{ source: 'file', path: 'private/a.zip', host: 'old.example' }, 'host', 'not_applicable'],
      [{ source: 'file', path: 'private/../htdocs/a.zip' }, 'path', 'invalid_format'],
      [{ source: 'file', path: 'private/a.zip', url: 'https://x.example/' }, 'url', 'not_applicable'],
      [{ source: 'url', url: 'https://x.example/', path: 'private/a.zip' }, 'path', 'not_applicable'],
    ] as const) {
      expect(await request(body), JSON.stringify(body)).toMatchObject(
        refusal(`WebsiteImport.${field}`, `invalid_value / ${code}`, expect.any(String)),
      );
    }
    for (const body of [
      {},
      { source: 'ftp' },
      { ...ssh, host: '-oProxyCommand=x' },
      { ...ssh, user: '-x' },
      { ...ssh, path: '-x' },
      { ...ssh, path: 'a\nb' },
      { ...ssh, port: 0 },
      { ...ssh, host_key: 'MD5:aa' },
      { source: 'file', path: '/etc/passwd' },
      { source: 'file', path: 'htdocs/a.zip' },
      { source: 'url', url: 'http://x.example/a.zip' },
      { source: 'url', url: 'file:///etc/passwd' },
    ]) {
      expect((await request(body)).status, JSON.stringify(body)).toBe(400);
    }
    expect(asked).toEqual([]);
  });

  it('by SSH needs the key of the install, which stays secret and the same', async () => {
    expect(await request(ssh)).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('no import key') },
    });
    const made = await owner.client.post(`/installs/${install.id}/import_key`);
    const again = await owner.client.post(`/installs/${install.id}/import_key`);
    expect(made).toMatchObject({
      status: 201,
      body: { public_key: expect.stringMatching(/^ecdsa-sha2-nistp256 \S+ homeport-import-/) },
    });
    expect(again.body).toEqual(made.body);
    const row = await homeport.platform.database.reader
      .selectFrom('import_keys')
      .selectAll()
      .executeTakeFirstOrThrow();
    const privateKey = homeport.platform.sealer.open(row.sealed_key);
    const derived = ssh2.utils.parseKey(privateKey);
    if (derived instanceof Error) throw derived;
    const [, blob = ''] = row.public_key.split(' ');
    expect(derived.getPublicSSH().toString('base64')).toBe(blob);

    // Without a confirmed host key, nothing is replaced, so there is nothing to put back.
    answerWith(() => Promise.reject(new RefusedImportError(`The host key is ${fingerprint}.`)));
    expect(await operationOf(await request(ssh))).toMatchObject({
      status: 'failed',
      error: { code: 'import_refused', message: expect.stringContaining(fingerprint) },
      result: null,
    });
    answerWith(async () => ({ tablePrefix: 'wp_', files: 3, bytes: 100 }));
    expect(await operationOf(await request({ ...ssh, port: 2222, host_key: fingerprint }))).toMatchObject({
      status: 'succeeded',
      result: { checkpoint_id: expect.any(String) },
    });
    const known = { host: 'old.example', user: 'ada', path: '/srv/shop', privateKey };
    expect(asked).toEqual([
      { ssh: { ...known, port: 22, hostKey: null } },
      { ssh: { ...known, port: 2222, hostKey: fingerprint } },
    ]);
    const written = await activityOf(homeport, accountId);
    expect(written).toContainEqual(
      expect.objectContaining({
        action: 'install.import',
        details: expect.objectContaining({ from: 'old.example' }),
      }),
    );
    const jobs = await homeport.platform.database.reader.selectFrom('jobs').selectAll().execute();
    expect(JSON.stringify([jobs, written, made.body])).not.toContain(privateKey.split('\n')[1]);

    // The key goes away while the import waits.
    const { platform } = homeport;
    const source = { host: 'old.example', port: 22, user: 'ada', path: '/srv/shop', hostKey: fingerprint };
    const late = await platform.database.write(async (transaction) => {
      await transaction.queries.deleteFrom('import_keys').execute();
      const sealed_source = platform.sealer.seal(JSON.stringify({ ssh: source }));
      const payload = { install_id: install.id, import_id: 'late', sealed_source };
      return platform.queue.enqueue(transaction, importWebsite, { payload, lane: install.id });
    });
    await homeport.idle();
    expect((await owner.client.get(`/operations/${late}`)).body).toMatchObject({
      error: {
        code: 'import_refused',
        message: expect.stringContaining('import key of the install is gone'),
      },
    });
    expect(asked).toHaveLength(2);
  });

  it('by SSH gets another key, or none', async () => {
    const other = await homeport.install(owner, accountId);
    const key = `/installs/${other.id}/import_key`;
    expect((await owner.client.delete(key)).status).toBe(404);
    const made = await owner.client.post(key);
    const renewed = await owner.client.post(`${key}/renewal`);
    expect(renewed.status).toBe(201);
    expect(text(renewed.body, 'public_key')).not.toBe(text(made.body, 'public_key'));
    expect((await owner.client.post(key)).body).toEqual(renewed.body);
    expect((await owner.client.delete(key)).status).toBe(204);
    expect((await owner.client.delete(key)).status).toBe(404);
    expect(await owner.client.post(`/installs/${other.id}/imports`, ssh)).toMatchObject({ status: 409 });
    const written = (await activityOf(homeport, accountId)).filter(
      ({ subject_id, action }) => subject_id === other.id && action.endsWith('import_key'),
    );
    expect(written.map(({ action }) => action).sort()).toEqual([
      'install.create_import_key',
      'install.delete_import_key',
      'install.renew_import_key',
    ]);
  });

  it('replaces nothing if its checkpoint cannot be made', async () => {
    const former = machine.machine.snapshot;
    machine.machine.snapshot = async () => {
      throw new PermanentHostError('the place of backups is full');
    };
    const answer = await request({ source: 'file', path: 'private/a.zip' });
    expect(await operationOf(answer)).toMatchObject({
      status: 'failed',
      error: { message: expect.stringMatching(/^The checkpoint could not be made, so nothing was replaced/) },
    });
    expect(asked).toEqual([]);
    machine.machine.snapshot = former;
  });

  it('is one at a time', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    answerWith(async () => {
      await promise;
      return { tablePrefix: 'wp_', files: 3, bytes: 100 };
    });
    const first = await request({ source: 'file', path: 'private/a.zip', create_checkpoint: false });
    expect(first.status).toBe(202);
    expect(await request({ source: 'file', path: 'private/a.zip' })).toMatchObject({ status: 409 });
    resolve();
    expect(await operationOf(first)).toMatchObject({ status: 'succeeded', result: null });
  });
});

describe('a website that was replaced and does not work', () => {
  const warning = 'the editor answers 500: Uncaught Error: no in wp-content/plugins/a/a.php:7';

  it('stays in place: imports, restores and mails say what is wrong', async () => {
    const former = machine.machine.restore;
    answerWith(async () => ({ tablePrefix: 'wp_', files: 3, bytes: 100, warning }));
    const imported = await request({ source: 'file', path: 'private/a.zip' });
    expect(await operationOf(imported)).toMatchObject({ status: 'succeeded', result: { warning } });

    machine.machine.restore = async () => ({ bytes: 1, files: 1, sha256: '0'.repeat(64), warning });
    const { body } = await owner.client.get(`/installs/${install.id}/backups`);
    const backup = text(body, 'results', 0, 'id');
    const to = `owner@${install.name}.example.com`;
    const id = await homeport.services.backups.restore(operatorFor(owner.userId), install.id, backup, {
      ...{ into: null, parts: EVERYTHING, checkpoint: false, notification_emails: [to] },
    });
    await homeport.idle();
    expect((await owner.client.get(`/operations/${id}`)).body).toMatchObject({
      ...{ status: 'succeeded', error: null },
      result: { backup_id: backup, warning },
    });
    expect(mailsTo(homeport, to)).toMatchObject([
      { text: expect.stringContaining(`Warning:      ${warning}`) },
    ]);
    machine.machine.restore = former;
  });
});
