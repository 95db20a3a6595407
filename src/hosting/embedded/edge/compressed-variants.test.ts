import { randomBytes } from 'node:crypto';
import pino from 'pino';
import { beforeEach, expect, test } from 'vitest';
import { decoded } from '../../policy/edge.fixture.ts';
import { type CompressedVariantsOptions, createCompressedVariants } from './compressed-variants.ts';
import { CODINGS, type Coding } from './content-coding.ts';

const log = pino({ level: 'silent' });
const TEXT = Buffer.from('body { color: rebeccapurple }\n'.repeat(100));
const content = { website: 'one', key: 'a.css', version: '1', bytes: TEXT };

/** Compressed content, as `<first character><coding>`. */
let made: string[];
beforeEach(() => {
  made = [];
});

/** Compresses to a tenth, or to more than there was. */
const counted = (options: Partial<CompressedVariantsOptions> = {}) =>
  createCompressedVariants({
    log,
    compress: async (bytes: Buffer, coding: Coding) => {
      made.push(`${String.fromCharCode(bytes[0] ?? 0)} ${coding}`);
      await Promise.resolve();
      return Buffer.alloc(bytes.length / 10, bytes[0]);
    },
    ...options,
  });

test.each(CODINGS)('%s', async (coding) => {
  const bytes = await createCompressedVariants({ log }).of(content, coding);
  expect(bytes?.length).toBeLessThan(TEXT.length / 10);
  expect(bytes && decoded(bytes, coding)).toEqual(TEXT);
});

test('a variant is made once, also for visitors who come meanwhile, and again for other content', async () => {
  const variants = counted();
  const both = await Promise.all([variants.of(content, 'br'), variants.of(content, 'br')]);
  expect(both[0]).toBe(both[1]);
  expect(variants.of(content, 'br')).toBe(both[0]);
  await variants.of(content, 'gzip');
  await variants.of({ ...content, version: '2' }, 'br');
  // Replaced.
  await variants.of(content, 'br');
  expect(made).toEqual(['b br', 'b gzip', 'b br', 'b br']);
});

test('what compression does not make smaller is tried once', async () => {
  let tries = 0;
  const variants = counted({
    compress: async (bytes) => {
      tries += 1;
      return bytes;
    },
  });
  const random = { ...content, bytes: randomBytes(1_000) };
  expect(await variants.of(random, 'zstd')).toBeNull();
  expect(variants.of(random, 'zstd')).toBeNull();
  expect(tries).toBe(1);
});

test('a website displaces its own variants, and all displace those of the least visited', async () => {
  const variants = counted({ most: 4_000, mostOfWebsite: 2_000 });
  const bytes = Buffer.alloc(5_000, 'x');
  const ask = async (website: string, key: string) => {
    made = [];
    await variants.of({ ...content, website, key, bytes }, 'br');
    return made.length > 0;
  };
  // About 760 bytes each.
  for (const key of ['a', 'b', 'c']) await ask('one', key);
  expect([await ask('one', 'c'), await ask('one', 'b'), await ask('one', 'a')]).toEqual([false, false, true]);
  for (const key of ['a', 'b']) await ask('two', key);
  expect(await ask('one', 'a')).toBe(false);
  for (const key of ['a', 'b']) await ask('three', key);
  expect(await ask('two', 'b')).toBe(false);
});

test('content beyond what may wait is not compressed, one website does not stop the others', async () => {
  const ready = Promise.withResolvers<Buffer>();
  const variants = counted({
    compress: () => ready.promise,
    mostWaiting: 10_000,
    mostWaitingOfWebsite: 5_000,
  });
  const ask = (website: string, key: string) => variants.of({ ...content, website, key }, 'br');
  const first = ask('one', 'a');
  expect(first).toBeInstanceOf(Promise);
  expect(ask('one', 'b')).toBeNull();
  expect(ask('two', 'a')).toBeInstanceOf(Promise);
  expect(ask('three', 'a')).toBeInstanceOf(Promise);
  expect(ask('four', 'a')).toBeNull();
  ready.resolve(Buffer.from('small'));
  await first;
  await expect.poll(async () => (await ask('one', 'b'))?.toString()).toBe('small');
});

test('a failure is logged, and the visitor gets the content as it is', async () => {
  const lines: string[] = [];
  const variants = counted({
    compress: () => Promise.reject(new Error('no memory')),
    log: pino({}, { write: (line: string) => lines.push(line) }),
  });
  expect(await variants.of(content, 'br')).toBeNull();
  expect(lines.join('')).toContain('no memory');
});

test('a website that visitors ask for keeps its variants while others come', async () => {
  const variants = counted({ most: 2_000 });
  await variants.of({ ...content, website: 'hot' }, 'br');
  for (const website of ['two', 'three', 'four', 'five', 'six', 'seven', 'eight']) {
    await variants.of({ ...content, website }, 'br');
    expect(variants.of({ ...content, website: 'hot' }, 'br')).toBeInstanceOf(Buffer);
  }
});
