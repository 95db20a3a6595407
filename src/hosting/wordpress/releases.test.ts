import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listReleases, missingReleases } from './releases.ts';

let answer = '';
const server = createServer((_request, response) => {
  response.statusCode = answer === '' ? 503 : 200;
  response.end(answer);
});
let url = '';

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no address');
  url = `http://127.0.0.1:${address.port}/`;
});
afterAll(() => server.close());

test('reads the releases of all branches', async () => {
  const versions = ['7.0.1', '7.0.1', '6.9.4', '6.8.3', '7.1-beta1', '../6.0'];
  answer = JSON.stringify({ offers: versions.map((version) => ({ response: 'upgrade', version })) });
  expect(await listReleases(url)).toEqual(['7.0.1', '6.9.4', '6.8.3']);
});

test.each(['', '{}', '{"offers":[{}]}', '[', 'x'.repeat(2 ** 21)])(
  'rejects an answer that begins with %.20s',
  async (wrong) => {
    answer = wrong;
    await expect(listReleases(url)).rejects.toThrow();
  },
);

test('misses the newest release of each branch in use', () => {
  const released = ['7.0.1', '6.9.4', '6.8.10', '6.8.9'];
  expect(missingReleases(['6.8.3', '6.8.4', '6.9.4'], ['6.9.4', '6.8.4', '6.8.3'], released)).toEqual([
    '6.8.10',
  ]);
  expect(missingReleases(['6.8.3'], ['6.8.11', '6.8.3'], released)).toEqual([]);
  expect(missingReleases(['5.0'], ['5.0'], released)).toEqual([]);
});
