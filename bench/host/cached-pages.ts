import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import type { ListenAddress } from '../../src/config/settings/setting-values.ts';
import { startEdge, type TestEdge } from '../../src/hosting/linux/nginx/edge-table.fixture.ts';
import { siteState } from '../../src/hosting/linux/nginx/test-installs.fixture.ts';
import { freePort } from '../../test/servers/free-port.ts';
import { serve } from '../measure/processes.ts';
import { progress, type Run } from '../measure/report.ts';
import { median, shownRate } from '../measure/units.ts';
import { withCleanup } from './cleanup.ts';
import { processorMs } from './footprint.ts';
import { staticConfiguration } from './static-server.ts';
import { type LoadResult, wrk } from './wrk.ts';

const GOAL = 0.95;
const CONNECTIONS = 32;
const HOSTNAME = 'pages.test';

/** Headers of a browser, without `Accept-Encoding`. */
const BROWSER = {
  'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'Accept-Language': 'en-GB,en;q=0.7,de;q=0.3',
  'Upgrade-Insecure-Requests': '1',
  'Sec-Fetch-Dest': 'document',
  'Sec-Fetch-Mode': 'navigate',
  'Sec-Fetch-Site': 'none',
  Priority: 'u=0, i',
};

const VARIANTS = [
  { name: 'plain', encoding: undefined, accepted: 'identity' },
  { name: 'gzip', encoding: 'gzip', accepted: 'gzip' },
  { name: 'brotli', encoding: 'br', accepted: 'gzip, deflate, br, zstd' },
];

/** About 50 kB, as compressible as a home page. */
const PAGE_PHP = `<?php
mt_srand(1);
$words = explode(' ', 'the a shop page of new more cart our blog post read best price order about with contact ship and');
$line = fn () => implode(' ', array_map(fn () => $words[mt_rand(0, count($words) - 1)] . mt_rand(0, 99), range(1, 12)));
echo '<!doctype html><title>Bench</title>';
while (ob_get_length() < 50000) { echo '<div class="wp-block-group"><p>', $line(), "</p></div>\\n"; }
`;

interface Measured extends LoadResult {
  /** Processor time of nginx for each request, in microseconds. */
  micros: number;
}

interface Subject {
  address: ListenAddress;
  path: string;
  accepted: string;
  master: number;
}

/**
 * Cached pages in each variant, compared with files of the same bytes: from the same edge, and from an nginx that only serves files. The
 * processor time is steadier than the rate, because wrk shares the processors.
 */
export async function benchCachedPages({ report, quick }: Run): Promise<void> {
  const rounds = quick ? 1 : 5;
  const seconds = quick ? 2 : 4;
  progress('starting an edge');
  const edge = await startEdge();
  const subjects = await withCleanup(
    () => edge.close(),
    async () => {
      const variants = await prepare(edge);
      return withFileServer(edge, variants, async (files, filesMaster) => {
        const [nginx] = (await edge.daemons.list()).filter(({ name }) => name === 'nginx');
        const own = { address: edge.options.edgeHttp, master: nginx?.pid ?? 0 };
        const loads: Subject[] = variants.flatMap(({ accepted, file }) => [
          { ...own, path: '/', accepted },
          { ...own, path: `/${file}`, accepted },
          { address: files, master: filesMaster, path: `/${file}`, accepted },
        ]);
        for (const load of loads) await measure(load, 1);
        const results: Measured[][] = loads.map(() => []);
        for (let round = 1; round <= rounds; round++) {
          progress(`load, round ${round} of ${rounds}`);
          for (const [index, load] of loads.entries()) results[index]?.push(await measure(load, seconds));
        }
        return variants.map(({ name, bytes }, index) => ({
          name,
          bytes: bytes.length,
          cached: results[3 * index] ?? [],
          beside: [
            { what: 'file', results: results[3 * index + 1] ?? [], goal: { atLeast: GOAL } },
            { what: 'file of a plain nginx', results: results[3 * index + 2] ?? [] },
          ],
        }));
      });
    },
  );

  report.part(
    `Cached pages beside files of the same bytes, HTTP, ${CONNECTIONS} connections, median of ${rounds}`,
  );
  for (const { name, bytes, cached, beside } of subjects) {
    for (const { what, results, goal } of beside) {
      const more = goal === undefined ? {} : { goal };
      // A server outside of the edge's processes gets another share of a busy machine.
      if (goal !== undefined) {
        report.figure({
          what: `cached page (${name}) beside ${what}, requests a second`,
          value: ratio(cached, results, ({ perSecond }) => perSecond),
          unit: 'ratio',
          measured: shownRate(median(cached.map(({ perSecond }) => perSecond))),
          beside: `${bytes.toLocaleString('en')} bytes: ${shownRate(median(results.map(({ perSecond }) => perSecond)))}`,
          ...more,
        });
      }
      report.figure({
        what: `cached page (${name}) beside ${what}, processor time`,
        value: ratio(cached, results, ({ micros }) => 1 / micros),
        unit: 'ratio',
        measured: shownMicros(cached),
        beside: shownMicros(results),
        ...more,
      });
    }
  }
  report.note('A ratio above 1 is better than the file. wrk shares the processors with the measured server.');
  report.end();
}

/** The median of the rounds' ratios, because the machine's load may differ between rounds. */
function ratio(ones: Measured[], others: Measured[], of: (result: Measured) => number): number {
  return median(
    ones.map((one, round) => {
      const other = others[round];
      return other === undefined ? Number.NaN : of(one) / of(other);
    }),
  );
}

function shownMicros(results: Measured[]): string {
  return `${median(results.map(({ micros }) => micros)).toFixed(0)} µs`;
}

/** Serves a website whose home page is cached, and files with the bytes of each variant. */
async function prepare(edge: TestEdge) {
  const vhost = await edge.makeInstall(siteState('pages', [HOSTNAME]));
  await edge.write(vhost.state, 'index.php', `<?php ob_start(); ?>${PAGE_PHP}`);
  await edge.serve(vhost);
  const variants = [];
  for (const variant of VARIANTS.filter(({ encoding }) => encoding !== 'br' || edge.options.brotli)) {
    const headers = { ...BROWSER, 'Accept-Encoding': variant.accepted };
    await edge.http(HOSTNAME, '/', { headers });
    const { bytes, text, headers: answered } = await edge.http(HOSTNAME, '/', { headers });
    if (answered['x-cache'] !== 'HIT' || answered['content-encoding'] !== variant.encoding) {
      throw new Error(`the ${variant.name} page is not cached: ${JSON.stringify(answered)}`);
    }
    const content = variant.encoding === 'br' ? brotliDecompressSync(bytes).toString() : text;
    if (!content.includes('wp-block-group'))
      throw new Error(`the ${variant.name} page is not the one of PHP`);
    // nginx compresses no images.
    const file = `${variant.name}.png`;
    await edge.write(vhost.state, file, bytes);
    variants.push({ ...variant, file, bytes });
  }
  return variants;
}

/** An nginx that only serves these files. */
async function withFileServer<Result>(
  edge: TestEdge,
  files: { file: string; bytes: Buffer }[],
  work: (address: ListenAddress, master: number) => Promise<Result>,
): Promise<Result> {
  const folder = join(edge.layout.runFolder, 'files');
  const root = join(folder, 'root');
  await mkdir(root, { recursive: true });
  for (const one of [folder, root]) await chmod(one, 0o755);
  for (const { file, bytes } of files) await writeFile(join(root, file), bytes, { mode: 0o644 });
  const address = { host: '127.0.0.1', port: await freePort() };
  const configuration = join(folder, 'nginx.conf');
  await writeFile(configuration, staticConfiguration(folder, root, address));
  const server = await serve(['/usr/sbin/nginx', '-c', configuration, '-g', 'daemon off;'], {
    origin: `http://${address.host}:${address.port}`,
  });
  return withCleanup(
    () => server.stop(),
    async () => work(address, Number(await readFile(join(folder, 'static.pid'), 'utf8'))),
  );
}

async function measure({ address, path, accepted, master }: Subject, seconds: number): Promise<Measured> {
  const before = await processorMs(master);
  const result = await wrk({
    address,
    hostname: HOSTNAME,
    path,
    headers: { ...BROWSER, 'Accept-Encoding': accepted },
    connections: CONNECTIONS,
    seconds,
  });
  return { ...result, micros: (((await processorMs(master)) - before) * 1000) / result.requests };
}
