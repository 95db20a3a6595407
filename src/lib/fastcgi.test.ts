import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askFastcgi, encodeRequest, parseAnswer } from './fastcgi.ts';

function record(type: number, content: string | Buffer, padding = 0): Buffer {
  const bytes = Buffer.from(content);
  const header = Buffer.from([1, type, 0, 1, bytes.length >> 8, bytes.length & 0xff, padding, 0]);
  return Buffer.concat([header, bytes, Buffer.alloc(padding)]);
}
const end = record(3, Buffer.alloc(8));

describe('a FastCGI answer', () => {
  it('is assembled from its records without padding', () => {
    const bytes = Buffer.concat([
      record(6, 'Status: 404 Not Found\r\nX: y\r\n', 3),
      record(7, 'a warning'),
      record(6, '\r\nno\r\n\r\nsuch page'),
      end,
    ]);
    expect(parseAnswer(bytes)).toEqual({ status: 404, body: 'no\r\n\r\nsuch page', errors: 'a warning' });
  });

  it('has status 200 by default', () => {
    expect(parseAnswer(Buffer.concat([record(6, 'X: y\n\nbody'), end]))).toEqual({
      status: 200,
      body: 'body',
      errors: '',
    });
  });

  it('is null if incomplete or another protocol', () => {
    expect(parseAnswer(record(6, 'X: y\r\n\r\nbody'))).toBeNull();
    expect(parseAnswer(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'))).toBeNull();
    expect(parseAnswer(Buffer.alloc(0))).toBeNull();
  });
});

describe('a FastCGI request', () => {
  it('has lengths of one or four bytes, and terminated streams', () => {
    const bytes = encodeRequest({ A: 'x'.repeat(200) }, Buffer.alloc(70_000));
    expect(bytes.subarray(0, 16).toString('hex')).toBe(`01010001000800000001${'00'.repeat(6)}`);
    expect(bytes.subarray(24, 30).toString('hex')).toBe('01800000c841');
    // Two records of input, because one holds 65,535 bytes, and an empty one.
    expect(
      bytes
        .subarray(-8 - 8 - (70_000 - 65_535))
        .subarray(0, 8)
        .toString('hex'),
    ).toBe('0105000111710000');
    expect(bytes.subarray(-8).toString('hex')).toBe('0105000100000000');
  });
});

describe('a FastCGI client', () => {
  let folder: string;
  let server: Server | undefined;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fastcgi-'));
  });
  afterEach(async () => {
    server?.close();
    server = undefined;
    await rm(folder, { recursive: true, force: true });
  });

  async function serving(
    answer: (write: (bytes: Buffer) => void, connection: Socket) => void,
  ): Promise<string> {
    const path = join(folder, 'socket');
    server = createServer((connection) => {
      connection.on('error', () => {});
      connection.once('data', () => answer((bytes) => connection.end(bytes), connection));
    });
    await new Promise<void>((resolve) => server?.listen(path, resolve));
    return path;
  }

  it('returns the answer', async () => {
    const path = await serving((write) => write(Buffer.concat([record(6, '\r\n\r\npong'), end])));
    expect((await askFastcgi(path, {})).body).toBe('pong');
  });

  it('fails if nothing listens, nothing comes, or the answer is incomplete', async () => {
    await expect(askFastcgi(join(folder, 'absent'), {})).rejects.toThrow('ENOENT');
    const silent = await serving(() => {});
    await expect(askFastcgi(silent, {}, { timeoutMs: 30 })).rejects.toThrow('no answer within 30 ms');
    server?.close();
    await rm(silent, { force: true });
    const short = await serving((write) => write(record(6, 'X: y')));
    await expect(askFastcgi(short, {})).rejects.toThrow('sent an incomplete answer');
  });

  it('limits the size and the duration of an answer', async () => {
    const endless = (pauseMs: number) => (_write: unknown, connection: Socket) => {
      const timer = setInterval(() => connection.write(record(6, 'x'.repeat(1000))), pauseMs);
      connection.once('close', () => clearInterval(timer));
    };
    const much = await serving(endless(1));
    await expect(askFastcgi(much, {}, { mostBytes: 10_000 })).rejects.toThrow('more than 10000 bytes');
    server?.close();
    await rm(much, { force: true });
    const dripping = await serving(endless(20));
    await expect(askFastcgi(dripping, {}, { timeoutMs: 200 })).rejects.toThrow('no answer within 200 ms');
  });
});
