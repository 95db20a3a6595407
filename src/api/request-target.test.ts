import { describe, expect, it } from 'vitest';
import { processorMs } from '../../test/processor-time.ts';
import { parseTarget, routableTarget } from './request-target.ts';

describe('parseTarget', () => {
  it.each([
    ['/v1/installs', '/v1/installs', ''],
    ['/v1//installs/', '/v1/installs', ''],
    ['//v1///installs//', '/v1/installs', ''],
    ['/v1/installs?limit=1&a=//', '/v1/installs', 'limit=1&a=//'],
    ['/v1/installs/?', '/v1/installs', ''],
    ['/v1/installs?a?b', '/v1/installs', 'a?b'],
    ['/v1/installs#fragment?limit=1', '/v1/installs', ''],
    ['https://elsewhere.example/v1/installs?limit=1', '/v1/installs', 'limit=1'],
    ['HTTP://user@elsewhere.example:1/v1/installs', '/v1/installs', ''],
    ['https://elsewhere.example?limit=1', '', 'limit=1'],
    ['/%2e%2e/x', '/%2e%2e/x', ''],
    ['/', '', ''],
    ['', '', ''],
  ])('%j', (target, path, query) => {
    expect(parseTarget(target)).toEqual({ path, query });
  });

  it('parses a long target fast', async () => {
    const taken = await processorMs(() => {
      for (const part of ['/', '//x', '#', '?', 'https://', '%']) parseTarget(part.repeat(100_000));
    });
    expect(taken).toBeLessThan(500);
  });
});

describe('routableTarget', () => {
  it.each(['/v1/sites', '/v1/%73ites?a=%zz', '/%F0%9F%98%80', '/%25zz', '/a%2Fb'])(
    'leaves %j as it is',
    (target) => {
      expect(routableTarget(target)).toBe(target);
    },
  );

  it.each([
    ['/v1/sites/%zz', '/v1/sites/%25zz'],
    ['/%', '/%25'],
    ['/%ff?a=%ff', '/%25ff?a=%ff'],
    ['/%C0%AF%41', '/%25C0%25AF%2541'],
    ['/%ED%A0%80', '/%25ED%25A0%2580'],
  ])('escapes every percent sign of %j', (target, routable) => {
    expect(routableTarget(target)).toBe(routable);
  });
});
