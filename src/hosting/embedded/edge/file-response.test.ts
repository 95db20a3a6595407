import { describe, expect, test } from 'vitest';
import { respondWithFile } from './file-response.ts';

const file = {
  etag: '"v2"',
  modified: new Date('2026-01-02T03:04:05Z'),
  modifiedText: new Date('2026-01-02T03:04:05Z').toUTCString(),
  size: 100,
  type: 'text/plain; charset=utf-8',
  compressed: false,
};
const MODIFIED = 'Fri, 02 Jan 2026 03:04:05 GMT';
const EARLIER = 'Fri, 02 Jan 2026 03:04:04 GMT';
const LATER = 'Fri, 02 Jan 2026 03:04:06 GMT';

const get = (headers: Record<string, string>) => respondWithFile('GET', headers, file);

test('the whole file, described', () => {
  expect(get({})).toEqual({
    status: 200,
    headers: {
      ETag: '"v2"',
      'Last-Modified': MODIFIED,
      'Cache-Control': 'no-cache',
      'Accept-Ranges': 'bytes',
      'X-Content-Type-Options': 'nosniff',
      'Content-Type': 'text/plain; charset=utf-8',
      'Content-Length': 100,
    },
    body: { start: 0, end: 99 },
  });
  expect(respondWithFile('HEAD', {}, file)).toMatchObject({
    status: 200,
    headers: { 'Content-Length': 100 },
    body: null,
  });
  expect(respondWithFile('GET', {}, { ...file, size: 0 })).toMatchObject({ status: 200, body: null });
});

describe('preconditions', () => {
  test.each([
    [{ 'if-none-match': '"v2"' }, 304],
    [{ 'if-none-match': 'W/"v2"' }, 304],
    [{ 'if-none-match': '"v1", "v2"' }, 304],
    [{ 'if-none-match': '"a,b","v2"' }, 304],
    [{ 'if-none-match': '*' }, 304],
    [{ 'if-none-match': '"v1"' }, 200],
    [{ 'if-none-match': 'v2' }, 200],
    [{ 'if-modified-since': MODIFIED }, 304],
    [{ 'if-modified-since': LATER }, 304],
    [{ 'if-modified-since': EARLIER }, 200],
    [{ 'if-modified-since': 'nonsense' }, 200],
    // The entity tag rules.
    [{ 'if-none-match': '"v1"', 'if-modified-since': LATER }, 200],
    [{ 'if-none-match': '"v2"', 'if-modified-since': EARLIER }, 304],
    [{ 'if-match': '"v2"' }, 200],
    [{ 'if-match': '*' }, 200],
    [{ 'if-match': 'W/"v2"' }, 412],
    [{ 'if-match': '"v1"' }, 412],
    [{ 'if-unmodified-since': MODIFIED }, 200],
    [{ 'if-unmodified-since': EARLIER }, 412],
    [{ 'if-unmodified-since': 'nonsense' }, 200],
    [{ 'if-match': '"v2"', 'if-unmodified-since': EARLIER }, 200],
    [{ 'if-match': '"v1"', 'if-none-match': '"v2"' }, 412],
    // They come before the range.
    [{ 'if-none-match': '"v2"', range: 'bytes=0-0' }, 304],
  ])('%j → %d', (headers, status) => {
    const response = get(headers);
    expect(response.status).toBe(status);
    if (status !== 200) {
      expect(response.body).toBeNull();
      expect(response.headers).not.toHaveProperty('Content-Type');
      expect(response.headers).not.toHaveProperty('Content-Length');
    }
    if (status === 304) expect(response.headers.ETag).toBe('"v2"');
  });
});

describe('ranges', () => {
  test.each([
    ['bytes=0-0', 0, 0],
    ['bytes=10-19', 10, 19],
    ['bytes=90-', 90, 99],
    ['bytes=90-1000', 90, 99],
    ['bytes=0-', 0, 99],
    ['bytes=-1', 99, 99],
    ['bytes=-1000', 0, 99],
    ['BYTES=1-2', 1, 2],
  ])('%s', (range, start, end) => {
    expect(get({ range })).toMatchObject({
      status: 206,
      headers: { 'Content-Range': `bytes ${start}-${end}/100`, 'Content-Length': end - start + 1 },
      body: { start, end },
    });
  });

  test.each(['bytes=100-', 'bytes=100-200', 'bytes=-0', 'bytes=99999999999999999999-'])(
    '%s cannot be satisfied',
    (range) => {
      const response = get({ range });
      expect(response).toMatchObject({
        status: 416,
        headers: { 'Content-Range': 'bytes */100' },
        body: null,
      });
      expect(response.headers).not.toHaveProperty('Content-Type');
    },
  );

  test.each(['bytes=5-4', 'bytes=-', 'bytes=a-b', 'bytes=0-1,5-6', 'lines=0-1', 'bytes', 'bytes=0-1x'])(
    '%s is answered with the whole',
    (range) => {
      expect(get({ range })).toMatchObject({ status: 200, body: { start: 0, end: 99 } });
    },
  );

  test.each([
    ['"v2"', 206],
    [MODIFIED, 206],
    ['"v1"', 200],
    ['W/"v2"', 200],
    [EARLIER, 200],
    // Only the very date that was sent: a later one may hide a change within a second.
    [LATER, 200],
  ])('If-Range: %s → %d', (ifRange, status) => {
    expect(get({ range: 'bytes=0-9', 'if-range': ifRange }).status).toBe(status);
    if (status === 200) expect(get({ range: 'bytes=500-', 'if-range': ifRange }).status).toBe(200);
  });

  test('a HEAD has none', () => {
    expect(respondWithFile('HEAD', { range: 'bytes=0-9' }, file)).toMatchObject({
      status: 200,
      headers: { 'Content-Length': 100 },
    });
  });

  test('nothing can be taken from an empty file', () => {
    expect(respondWithFile('GET', { range: 'bytes=0-' }, { ...file, size: 0 }).status).toBe(416);
    expect(respondWithFile('GET', { range: 'bytes=-5' }, { ...file, size: 0 }).status).toBe(416);
  });
});
