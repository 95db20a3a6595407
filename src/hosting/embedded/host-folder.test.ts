import { randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSealer } from '../../secrets/sealer.ts';
import { certificateFor, eventually, type LogLine, siteState } from '../policy/edge.fixture.ts';
import { LOCAL, listeningLog, startHost, type TestHost, traces, vhostFile } from './embedded-host.fixture.ts';
import { createEmbeddedHost } from './embedded-host.ts';

let site: TestHost;
beforeEach(async () => {
  site = await startHost();
});
afterEach(() => site.close());

const alpha = () => siteState('alpha', ['alpha.test']);

describe('another process that writes to the same folder', () => {
  let worker: ReturnType<typeof createEmbeddedHost>;
  beforeEach(async () => {
    const edgeHttp = site.host.addresses?.edgeHttp ?? LOCAL;
    worker = createEmbeddedHost({ ...site.options, listen: false, edgeHttp });
    await worker.start();
  });

  test('is followed through apply, change, purge and remove', async () => {
    const install = alpha();
    await worker.apply(install);
    expect((await site.http('alpha.test', '/')).status).toBe(200);
    await worker.apply({ ...install, hostnames: siteState('x', ['new.test']).hostnames });
    expect((await site.http('new.test', '/')).status).toBe(200);
    expect((await site.http('alpha.test', '/')).status).toBe(404);

    await site.write(install, 'page.html', 'old');
    await site.http('new.test', '/page.html');
    await site.write(install, 'page.html', 'new');
    await worker.purge(install, 'page');
    expect(await site.http('new.test', '/page.html')).toMatchObject({
      text: 'new',
      headers: { 'x-cache': 'MISS' },
    });
    await site.write(install, 'page.html', 'newer');
    await worker.purgePages(install, ['/page.html']);
    expect((await site.http('new.test', '/page.html')).text).toBe('newer');

    await worker.remove(install);
    expect((await site.http('new.test', '/')).status).toBe(404);
    expect(await traces(site, install.id)).toEqual([]);
  });

  test('serves a new certificate as soon as it is applied', async () => {
    const install = siteState('alpha', [
      { name: 'alpha.test', certificate: await certificateFor('alpha.test') },
    ]);
    await worker.apply(install);
    expect((await site.https('alpha.test', '/')).status).toBe(200);
  });

  test('is noticed by watching the folder, without a request', async () => {
    const install = alpha();
    await worker.apply(install);
    await worker.apply({
      ...install,
      id: randomUUID(),
      name: 'beta',
      hostnames: siteState('x', ['beta.test']).hostnames,
    });
    // As another writer would, without notifying the edge.
    await rm(vhostFile(site, install.id));
    await eventually(async () => (await site.http('alpha.test', '/')).status === 404);
    expect((await site.http('beta.test', '/')).status).toBe(200);
  });
});

describe('starting again', () => {
  test('keeps everything across a restart', async () => {
    const certificate = await certificateFor('alpha.test');
    const install = siteState('alpha', [
      { name: 'alpha.test', certificate },
      { name: 'old.test', redirectTo: 'alpha.test' },
      { name: 'secure.test', forceHttps: true, certificate: await certificateFor('secure.test') },
    ]);
    await site.host.apply(install);
    await site.write(install, 'index.html', 'mine');
    const edgeCertificate = await readFile(join(site.folder, 'edge-certificate.pem'), 'utf8');
    await site.host.stop();

    const again = await startHost({ ...site.options, clock: site.clock });
    expect((await again.http('alpha.test', '/')).text).toBe('mine');
    expect((await again.https('alpha.test', '/')).text).toBe('mine');
    expect((await again.http('old.test', '/x')).headers.location).toBe('http://alpha.test/x');
    expect((await again.http('secure.test', '/x')).headers.location).toBe('https://secure.test/x');
    expect(await readFile(join(site.folder, 'edge-certificate.pem'), 'utf8')).toBe(edgeCertificate);
    await again.host.stop();
  });

  test('the same host can be restarted after a stop', async () => {
    const install = alpha();
    await site.host.apply(install);
    await site.host.stop();
    await site.host.stop();
    await expect(site.host.apply(install)).rejects.toThrow('has not been started');
    await site.host.start();
    expect((await site.http('alpha.test', '/')).status).toBe(200);
  });

  test.each([
    ['is not JSON', '{'],
    ['has the wrong shape', '{"version":1}'],
    ['belongs to another install', null],
    ['has a later version', '{"version":2}'],
  ])('a vhost file that %s takes down that website only, by name in the log', async (_what, content) => {
    const [install, other] = [alpha(), siteState('beta', ['beta.test'])];
    await site.host.apply(install);
    await site.host.apply(other);
    await site.host.stop();
    await writeFile(vhostFile(site, install.id), content ?? (await readFile(vhostFile(site, other.id))));
    const lines: LogLine[] = [];
    const again = await startHost({ ...site.options, clock: site.clock, log: listeningLog(lines) });
    expect((await again.http('alpha.test', '/')).status).toBe(404);
    expect((await again.http('beta.test', '/')).status).toBe(200);
    expect(lines.filter(({ level }) => level >= 50)).toMatchObject([{ install: install.id }]);

    // Applying repairs it and keeps its files.
    await again.host.apply(install);
    expect((await again.http('alpha.test', '/')).status).toBe(200);
    await again.host.stop();
  });

  test('a vhost file damaged while serving takes down that website only', async () => {
    const [install, other] = [alpha(), siteState('beta', ['beta.test'])];
    await site.host.apply(install);
    await site.host.apply(other);
    await writeFile(vhostFile(site, install.id), 'spoilt');
    await eventually(async () => (await site.http('alpha.test', '/')).status === 404);
    expect((await site.http('beta.test', '/')).status).toBe(200);
    await expect(site.host.purge(install, 'page')).rejects.toThrow(/cannot be used/);
    await site.host.remove(install);
    expect(await traces(site, install.id)).toEqual([]);
  });

  test('a certificate whose key cannot be unsealed is replaced by the edge certificate and logged', async () => {
    const install = siteState('alpha', [
      { name: 'alpha.test', certificate: await certificateFor('alpha.test') },
    ]);
    await site.host.apply(install);
    await site.host.stop();
    const lines: LogLine[] = [];
    const sealer = createSealer(Buffer.alloc(32, 7));
    const again = await startHost({ ...site.options, clock: site.clock, sealer, log: listeningLog(lines) });
    expect((await again.https('alpha.test', '/')).status).toBe(200);
    expect(lines).toMatchObject([{ level: 50, hostname: 'alpha.test', install: install.id }]);
    // Applying seals it again.
    await again.host.apply(install);
    lines.length = 0;
    expect((await again.https('alpha.test', '/')).status).toBe(200);
    expect(lines).toEqual([]);
    await again.host.stop();
  });
});
