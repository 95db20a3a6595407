import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import pino from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { createSealer } from '../../../secrets/sealer.ts';
import { certificateFor, siteState } from '../../policy/edge.fixture.ts';
import { nextGenerations } from '../host-folder/generations.ts';
import { layoutOf } from '../host-folder/layout.ts';
import { vhostFileFor } from '../host-folder/vhost.ts';
import { createVhostStore, type VhostStore } from '../host-folder/vhost-store.ts';
import { createLiveVhosts, type LiveVhosts } from './live-vhosts.ts';
import { createServedCertificates, type ServedCertificates } from './served-certificates.ts';

const NAMES = ['a.test', '*.b.test', 'c.test'];
const SEALER = createSealer(Buffer.alloc(32, 7));
const LOG = pino({ level: 'silent' });

let folder: string;
let vhosts: LiveVhosts;
let certificates: ServedCertificates;
let wholeReads: number;
let ownShown: number;
let store: VhostStore;
let install: ReturnType<typeof siteState>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'certificates-'));
  wholeReads = 0;
  ownShown = 0;
  store = createVhostStore(layoutOf(folder));
  await store.prepare(new Date());
  const hostnames = await Promise.all(
    NAMES.map(async (name) => ({ name, certificate: await certificateFor(name) })),
  );
  install = siteState('shop', [...hostnames, { name: 'without.test' }]);
  await write(install);
  const unwatched = {
    ...store,
    watch: () =>
      store.watch(
        () => undefined,
        () => undefined,
      ),
  };
  vhosts = createLiveVhosts({ store: unwatched, siteDomain: 'sites.test', clock: systemClock, log: LOG });
  await vhosts.start();
  certificates = createServedCertificates({
    vhosts,
    store: {
      ...store,
      read(id) {
        wholeReads += 1;
        return store.read(id);
      },
    },
    sealer: SEALER,
    own: {
      async present() {
        ownShown += 1;
        return { pem: '', context: createSecureContext() };
      },
    },
    log: LOG,
  });
});
afterEach(() => {
  vhosts.stop();
  rmSync(folder, { recursive: true });
});

const write = (state: typeof install) =>
  store.write(vhostFileFor(state, nextGenerations(null, Date.now()), SEALER));

/** The names in the certificate that a visitor of this name sees. */
async function shownTo(name: string): Promise<string | undefined> {
  const { context } = await certificates.contextFor(name);
  return new X509Certificate(context.getCertificate()).subjectAltName;
}

test('each name gets its certificate, without reading those of the others', async () => {
  expect(await shownTo('a.test')).toBe('DNS:a.test');
  expect(await shownTo('deep.b.test')).toBe('DNS:*.b.test');
  expect(await shownTo('c.test')).toBe('DNS:c.test');
  expect([wholeReads, ownShown]).toEqual([0, 0]);
  await certificates.contextFor('without.test');
  expect(ownShown).toBe(1);
});

test('a file that has changed since it was loaded is read whole', async () => {
  const first = { name: 'first.test', redirectTo: null, forceHttps: false };
  const hostnames = [{ ...first, certificate: await certificateFor('first.test') }, ...install.hostnames];
  await write({ ...install, hostnames });
  expect(await shownTo('c.test')).toBe('DNS:c.test');
  expect(wholeReads).toBe(1);
  await write({ ...install, hostnames: [] });
  await certificates.contextFor('a.test');
  expect(ownShown).toBe(1);
});
