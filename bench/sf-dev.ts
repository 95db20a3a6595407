// keeps an edge up
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nextGenerations } from '../src/hosting/embedded/host-folder/generations.ts';
import { layoutOf } from '../src/hosting/embedded/host-folder/layout.ts';
import { vhostFileFor } from '../src/hosting/embedded/host-folder/vhost.ts';
import { createSealer } from '../src/secrets/sealer.ts';

const NAME = 'www.shop.test';
const place = '/tmp/edge-bench/place';
rmSync(place, { recursive: true, force: true });
const layout = layoutOf(place);
const sealingKey = randomBytes(32);
mkdirSync(layout.vhosts, { recursive: true });
writeFileSync(join(place, 'sealing-key'), sealingKey);
const id = crypto.randomUUID();
const state = {
  id,
  name: 'files',
  hostnames: [{ name: NAME, redirectTo: null, forceHttps: false, certificate: null }],
  offload: null,
};
writeFileSync(
  layout.vhostOf(id),
  JSON.stringify(vhostFileFor(state, nextGenerations(null, Date.now()), createSealer(sealingKey))),
);
mkdirSync(layout.filesOf(id), { recursive: true });
writeFileSync(join(layout.filesOf(id), 'a.css'), randomBytes(6_750).toString('base64'));
process.argv[2] = place;
process.argv[3] = '7201';
process.argv[4] = '7202';
await import('./servers/edge.ts');
