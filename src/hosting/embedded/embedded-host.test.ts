import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newSshKey } from '../../../test/ssh-key.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { MissingWebsiteError, PermanentHostError, RefusedRestoreError } from '../contract/errors.ts';
import type { Hostname } from '../contract/install-state.ts';
import { certificateFor, eventually, siteState } from '../policy/edge.fixture.ts';
import { startHost, type TestHost, traces, vhostFile } from './embedded-host.fixture.ts';
import { createEmbeddedHost } from './embedded-host.ts';

let site: TestHost;
beforeEach(async () => {
  site = await startHost();
});
afterEach(() => site.close());

const alpha = () => siteState('alpha', ['alpha.test']);

describe('apply', () => {
  test('a new website answers with a starter page that names it', async () => {
    const install = alpha();
    expect(await site.host.apply(install)).toEqual({
      phpVersion: null,
      wordpressVersion: null,
      stableIps: null,
    });
    const answer = await site.http('alpha.test', '/');
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
    expect(answer.text).toContain('<h1>alpha</h1>');
    expect(answer.text).toMatch(/^<!doctype html>/);
    expect((await site.http('alpha.hosting.test', '/')).text).toBe(answer.text);
  });

  test('keeps the files of the customer, even without an index page', async () => {
    const install = alpha();
    await site.host.apply(install);
    await rm(site.file(install, 'index.html'));
    await site.write(install, 'mine.txt', 'mine');
    await site.host.apply({ ...install, hostnames: [] });
    await site.host.apply(install);
    expect(await readdir(site.file(install, ''))).toEqual(['mine.txt']);
  });

  test('makes no empty website in the place of one that was made before and is missing', async () => {
    const install = alpha();
    await expect(site.host.apply({ ...install, isMade: true })).rejects.toThrow(MissingWebsiteError);
    expect(await readdir(join(site.folder, 'installs'))).toEqual([]);
    expect((await site.http('alpha.test', '/')).status).toBe(404);
    // So that no checkpoint is put back.
    await expect(site.host.restore(install, randomUUID())).rejects.toThrow(RefusedRestoreError);
    await site.host.apply(install);
    await site.host.apply({ ...install, isMade: true });
    await rm(join(site.folder, 'installs', install.id), { recursive: true });
    await expect(site.host.apply({ ...install, isMade: true })).rejects.toThrow(MissingWebsiteError);
    expect((await site.host.heldInstalls(null)).installs).toMatchObject([
      { id: install.id, lost: ['The files of the website are missing.'] },
    ]);
  });

  test('puts back the files that a restore had moved when it was killed', async () => {
    const install = alpha();
    await site.host.apply(install);
    await writeFile(site.file(install, 'mine.txt'), 'mine');
    const folder = join(site.folder, 'installs', install.id);
    await rename(join(folder, 'files'), join(folder, '.files.restore-old'));
    await site.host.apply({ ...install, isMade: true });
    expect(await readFile(site.file(install, 'mine.txt'), 'utf8')).toBe('mine');
  });

  test('finishes what an interrupted run left', async () => {
    const install = alpha();
    const folder = join(site.folder, 'installs', install.id);
    await mkdir(join(folder, '.provisioning'), { recursive: true });
    await writeFile(join(folder, '.provisioning', 'index.html'), 'half');
    await site.host.apply(install);
    expect((await site.http('alpha.test', '/')).text).toContain('<h1>alpha</h1>');
    expect(await readdir(folder)).toEqual(['files']);
  });

  test('host names are added and removed', async () => {
    const install = alpha();
    await site.host.apply(install);
    await site.host.apply({ ...install, hostnames: siteState('x', ['new.test']).hostnames });
    expect((await site.http('new.test', '/')).status).toBe(200);
    expect((await site.http('alpha.test', '/')).status).toBe(404);
    expect((await site.http('alpha.hosting.test', '/')).status).toBe(200);
  });

  test('an unchanged state writes nothing, certificates included', async () => {
    const certificate = await certificateFor('alpha.test');
    const install = siteState('alpha', [{ name: 'alpha.test', certificate }]);
    await site.host.apply(install);
    const before = await stat(vhostFile(site, install.id), { bigint: true });
    await site.host.apply(structuredClone(install));
    const after = await stat(vhostFile(site, install.id), { bigint: true });
    expect([after.ino, after.ctimeNs]).toEqual([before.ino, before.ctimeNs]);
    await site.host.apply({
      ...install,
      hostnames: [{ ...(install.hostnames[0] as Hostname), forceHttps: true }],
    });
    expect((await stat(vhostFile(site, install.id), { bigint: true })).ino).not.toBe(before.ino);
  });

  test('a vhost file without certificate expiry still serves, and is rewritten', async () => {
    const certificate = await certificateFor('alpha.test');
    const install = siteState('alpha', [{ name: 'alpha.test', forceHttps: true, certificate }]);
    await site.host.apply(install);
    const present = await readFile(vhostFile(site, install.id), 'utf8');
    const former = present.replace(/,\s*"notAfter": "[^"]+"/, '');
    expect(former).not.toContain('notAfter');
    await writeFile(vhostFile(site, install.id), former);
    site.clock.advance(40 * DAY_MS);
    await eventually(async () => (await site.http('alpha.test', '/')).status === 301);
    await site.host.apply(install);
    expect(await readFile(vhostFile(site, install.id), 'utf8')).toContain(certificate.notAfter);
    expect((await site.http('alpha.test', '/')).status).toBe(200);
  });

  test('private keys are never stored in plain text', async () => {
    const certificate = await certificateFor('alpha.test');
    const install = siteState('alpha', [{ name: 'alpha.test', certificate }]);
    await site.host.apply(install);
    const text = await readFile(vhostFile(site, install.id), 'utf8');
    expect(text).toContain('BEGIN CERTIFICATE');
    expect(text).not.toContain('PRIVATE KEY');
    expect(text).not.toContain(certificate.key.split('\n')[1]);
    expect((await stat(vhostFile(site, install.id))).mode & 0o777).toBe(0o600);
    expect((await stat(join(site.folder, 'edge-certificate.pem'))).mode & 0o777).toBe(0o600);
  });

  const bad: [string, (state: ReturnType<typeof alpha>) => Promise<void> | void, RegExp][] = [
    [
      'a key of another certificate',
      async (state) => {
        const [a, b] = [await certificateFor('alpha.test'), await certificateFor('alpha.test')];
        state.hostnames = siteState('x', [
          { name: 'alpha.test', certificate: { ...a, key: b.key } },
        ]).hostnames;
      },
      /certificate of alpha\.test/,
    ],
    [
      'an invalid certificate',
      (state) => {
        const certificate = { chain: 'x', key: 'y', notAfter: '2027-01-01T00:00:00.000Z' };
        state.hostnames = siteState('x', [{ name: 'alpha.test', certificate }]).hostnames;
      },
      /certificate of alpha\.test/,
    ],
    [
      'a certificate with an invalid expiry',
      async (state) => {
        const certificate = { ...(await certificateFor('alpha.test')), notAfter: 'soon' };
        state.hostnames = siteState('x', [{ name: 'alpha.test', certificate }]).hostnames;
      },
      /its end is not a date/,
    ],
    [
      'a name that would break a header',
      (state) => {
        state.hostnames = siteState('x', [{ name: 'alpha.test', redirectTo: 'evil.test\r\nX: 1' }]).hostnames;
      },
      /cannot serve the website .* as requested/,
    ],
    [
      'a name in capitals',
      (state) => {
        state.hostnames = siteState('x', ['Alpha.test']).hostnames;
      },
      /cannot serve the website .* as requested/,
    ],
    [
      'a redirect to itself',
      (state) => {
        state.hostnames = siteState('x', [{ name: 'alpha.test', redirectTo: 'alpha.test' }]).hostnames;
      },
      /redirects to itself/,
    ],
    [
      'an id that is a path',
      (state) => {
        state.id = '../../etc';
      },
      /is not the id/,
    ],
  ];
  test.each(bad)(
    '%s is refused permanently, and the previous state stays active',
    async (_what, spoil, why) => {
      const install = alpha();
      await site.host.apply(install);
      const spoilt = structuredClone(install);
      await spoil(spoilt);
      const applying = site.host.apply(spoilt);
      await expect(applying).rejects.toBeInstanceOf(PermanentHostError);
      await expect(applying).rejects.toThrow(why);
      expect((await site.http('alpha.test', '/')).status).toBe(200);
      // Nor is a new website started.
      const fresh = { ...spoilt, id: spoilt.id === install.id ? randomUUID() : spoilt.id };
      await expect(site.host.apply(fresh)).rejects.toThrow(why);
      expect(await readdir(join(site.folder, 'installs'))).toEqual([install.id]);
    },
  );

  test('it stops on request', async () => {
    await expect(site.host.apply(alpha(), AbortSignal.abort(new Error('lease lost')))).rejects.toThrow(
      'lease lost',
    );
  });

  test('no customer file can replace the marker, and only its exact path returns it', async () => {
    const install = alpha();
    await site.host.apply(install);
    await site.write(install, '.well-known/homeport/x', 'forged');
    expect((await site.http('alpha.test', '/.well-known/homeport/x')).status).toBe(404);
    expect((await site.http('alpha.test', `/.well-known/homeport/${install.id}/guess`)).status).toBe(404);
  });
});

describe('if the edge does not answer as expected', () => {
  test('apply fails, naming the address and the response', async () => {
    const stranger = createServer((_request, response) => response.writeHead(200).end('hello')).listen(
      0,
      '127.0.0.1',
    );
    const address = await new Promise<number>((resolve) =>
      stranger.on('listening', () => {
        const bound = stranger.address();
        resolve(typeof bound === 'object' && bound !== null ? bound.port : 0);
      }),
    );
    const worker = createEmbeddedHost({
      ...site.options,
      listen: false,
      edgeHttp: { host: '127.0.0.1', port: address },
    });
    await worker.start();
    const abort = new AbortController();
    const applying = worker.apply(alpha(), abort.signal);
    setTimeout(() => abort.abort(new Error('lease lost')), 200);
    await expect(applying).rejects.toThrow(/lease lost|aborted/);
    stranger.closeAllConnections();
    stranger.close();
  });
});

describe('remove', () => {
  test('leaves nothing, and can be repeated', async () => {
    const install = alpha();
    const backup = randomUUID();
    await site.host.apply(install);
    await site.write(install, 'a/b/c.txt', 'x');
    await site.host.snapshot(install, backup);
    expect(await traces(site, install.id)).not.toEqual([]);
    await site.host.remove(install);
    expect(await traces(site, install.id)).toEqual([]);
    expect((await site.http('alpha.test', '/')).status).toBe(404);
    await site.host.remove(install);
    await site.host.remove(siteState('never'));
  });

  test('finishes an interrupted removal', async () => {
    const install = alpha();
    await mkdir(join(site.folder, 'trash', `${install.id}.${randomUUID()}`, 'files'), { recursive: true });
    await site.host.remove(install);
    expect(await traces(site, install.id)).toEqual([]);
  });

  test('removes folders that the customer made unreadable', async () => {
    const install = alpha();
    await site.host.apply(install);
    await site.write(install, 'closed/deep/x.txt', 'x');
    await chmod(site.file(install, 'closed/deep'), 0);
    await chmod(site.file(install, 'closed'), 0);
    await site.host.remove(install);
    expect(await traces(site, install.id)).toEqual([]);
  });

  test('a website recreated under the same id gets no cached content', async () => {
    const install = alpha();
    await site.host.apply(install);
    await site.write(install, 'page.html', 'old');
    await site.http('alpha.test', '/page.html');
    await site.host.remove(install);
    site.clock.advance(1);
    await site.host.apply(install);
    expect((await site.http('alpha.test', '/page.html')).status).toBe(404);
  });

  test('the neighbours stay', async () => {
    const install = alpha();
    const other = siteState('beta', ['beta.test']);
    await site.host.apply(install);
    await site.host.apply(other);
    await site.host.remove(install);
    expect((await site.http('beta.test', '/')).status).toBe(200);
  });
});

test('purging an unknown install is refused permanently', async () => {
  await expect(site.host.purge(alpha(), 'page')).rejects.toBeInstanceOf(PermanentHostError);
  await expect(site.host.purgePages(alpha(), ['/'])).rejects.toBeInstanceOf(PermanentHostError);
});

test('a restored website is served at once, despite cached pages', async () => {
  const install = alpha();
  const backup = randomUUID();
  await site.host.apply(install);
  await site.write(install, 'page.html', 'before');
  await site.write(install, 'a.css', 'before');
  const made = await site.host.snapshot(install, backup);
  await site.write(install, 'page.html', 'after');
  await site.write(install, 'a.css', 'after');
  await site.write(install, 'added.html', 'after');
  for (const path of ['/page.html', '/a.css', '/added.html']) await site.http('alpha.test', path);
  const [restoreId, other] = [randomUUID(), randomUUID()];
  expect(await site.host.restore(install, backup, { restoreId })).toEqual(made);
  for (const path of ['/page.html', '/a.css']) {
    expect(await site.http('alpha.test', path)).toMatchObject({
      text: 'before',
      headers: { 'x-cache': 'MISS' },
    });
  }
  expect((await site.http('alpha.test', '/added.html')).status).toBe(404);

  // Repeated because its answer was lost, it takes nothing away that was written since. Another restore does.
  await site.write(install, 'page.html', 'since');
  expect(await site.host.restore(install, backup, { restoreId })).toEqual(made);
  expect((await site.http('alpha.test', '/page.html')).text).toBe('since');
  await site.host.restore(install, backup, { restoreId: other });
  expect((await site.http('alpha.test', '/page.html')).text).toBe('before');
  await site.write(install, 'page.html', 'since');
  await site.host.restore(install, backup, { restoreId });
  expect((await site.http('alpha.test', '/page.html')).text).toBe('before');
  await site.host.discardSnapshot(install, backup);
  expect(await traces(site, backup)).toEqual([]);
});

test('a snapshot of another website is served under the names of the restored install', async () => {
  const [source, target] = [alpha(), { ...alpha(), id: randomUUID(), name: 'copy' }];
  const copy = {
    ...target,
    primaryHostname: 'copy.test',
    hostnames: [{ name: 'copy.test', redirectTo: null, forceHttps: false, certificate: null }],
  };
  const backup = randomUUID();
  await site.host.apply(source);
  await site.host.apply(copy);
  await site.write(source, 'page.html', 'of alpha');
  const made = await site.host.snapshot(source, backup);
  expect(await site.host.restore(copy, backup, { from: source })).toEqual(made);
  expect((await site.http('copy.test', '/page.html')).text).toBe('of alpha');
  expect((await site.http('alpha.test', '/page.html')).text).toBe('of alpha');
});

test('files uploaded by SFTP are served, and only authorized keys can upload', async () => {
  const install = alpha();
  const login = { install, userId: randomUUID() };
  await site.close();
  site = await startHost({
    questions: { sshLogin: (name) => Promise.resolve(name === 'alpha' ? login : null) },
  });
  await site.host.apply(install);
  const privateKey = newSshKey().private;
  await upload('alpha', privateKey, 'hello.html', 'by SFTP');
  expect((await site.http('alpha.test', '/hello.html')).text).toBe('by SFTP');
  await expect(upload('beta', privateKey, 'hello.html', 'x')).rejects.toThrow(/authentication/i);
});

function upload(username: string, privateKey: string, path: string, content: string): Promise<void> {
  const client = new ssh2.Client();
  return new Promise<void>((resolve, reject) => {
    client
      .on('error', reject)
      .on('ready', () => {
        client.sftp((error, sftp) => {
          if (error) reject(error);
          else sftp.writeFile(path, content, (failure) => (failure ? reject(failure) : resolve()));
        });
      })
      .connect({ host: '127.0.0.1', port: site.host.addresses?.ssh.port ?? 0, username, privateKey });
  }).finally(() => client.end());
}
