import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { certificateId } from '../../policy/certificate-id.ts';
import { certificateFor } from '../../policy/edge.fixture.ts';
import { EDGE_SIZES, tablePaths } from './edge-options.ts';
import { createEdgeRoutes, type EdgeRoutes } from './edge-routes.ts';
import { startEdge, type TestEdge } from './edge-table.fixture.ts';
import { routeTo } from './forwarding.fixture.ts';
import { groupId } from './machine.ts';
import { siteState } from './nginx.fixture.ts';
import { createUntoldChanges } from './untold-changes.ts';

let edge: TestEdge;
let routes: EdgeRoutes;

beforeAll(async () => {
  edge = await startEdge({ sizes: { ...EDGE_SIZES, keys: '200k' } });
  routes = await startRoutes();
});
afterAll(() => edge.close());

async function startRoutes(): Promise<EdgeRoutes> {
  const started = createEdgeRoutes({
    paths: tablePaths(edge.layout),
    untold: createUntoldChanges(edge.control),
    certificates: edge.certificates,
    isServed: () => false,
    log: pino({ level: 'silent' }),
  });
  await started.load();
  return started;
}

async function website(name: string, chainBytes = 0) {
  const { chain, ...certificate } = await certificateFor(`${name}.test`);
  const longer = chain.repeat(Math.ceil(1 + chainBytes / chain.length));
  return siteState(name, [{ name: `${name}.test`, certificate: { ...certificate, chain: longer } }]);
}

test('a certificate that nginx has no memory for costs no other website its route', async () => {
  const hostId = randomUUID();
  const all = [
    await website('one'),
    await website('two'),
    await website('huge', 100_000),
    await website('huger', 100_000),
    await website('last'),
  ];
  const sent = all.map((state) => routeTo(state, hostId));
  await routes.set(sent);
  const digests = new Map(routes.held(null).map(({ installId, digest }) => [installId, digest]));
  const complete = sent.filter(({ installId, digest }) => digests.get(installId) === digest);
  expect(digests.size).toBe(all.length);
  expect(complete.map(({ names }) => names[0]?.name)).toEqual(
    expect.arrayContaining(['one.test', 'two.test', 'last.test']),
  );
  expect(complete.length).toBeLessThan(all.length);
  expect(await edge.control.certificates()).toEqual(
    expect.arrayContaining(
      complete.flatMap(({ names }) =>
        names.map(({ certificate }) => certificate && certificateId(certificate)),
      ),
    ),
  );
  // The next comparison sends it again, after a restart as well.
  expect((await startRoutes()).held(null)).toEqual(routes.held(null));
  await routes.set(sent.map((route) => ({ ...route, hostId: null, names: [] })));
  expect(routes.held(null)).toEqual([]);
  await edge.certificates.reconcile();
  expect(await edge.control.certificates()).toEqual([]);
});

test('what an interrupted write left is removed at the start, and no edge is read from it', async () => {
  const { edges, routes: folder, installs, certificates } = tablePaths(edge.layout);
  const left = [edges, folder, installs, certificates].map((one) => join(one, `.${randomUUID()}.tmp`));
  for (const file of left) await writeFile(file, '{"hostId":');
  await edge.table.prepare(await groupId('www-data'));
  await edge.certificates.prepare();
  expect(await (await startRoutes()).edges()).toEqual([]);
  for (const file of left) expect([file, existsSync(file)]).toEqual([file, false]);
});
