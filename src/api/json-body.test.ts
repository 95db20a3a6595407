import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { processorMs } from '../../test/processor-time.ts';
import { InvalidRequest } from '../lib/failures.ts';
import { LARGEST_BODY_BYTES, readJsonBody } from './json-body.ts';

function body(...chunks: (string | Buffer)[]): IncomingMessage {
  const payload = new IncomingMessage(new Socket());
  for (const chunk of chunks) payload.push(Buffer.from(chunk));
  payload.push(null);
  return payload;
}

async function codeOf(reading: Promise<unknown>): Promise<string | undefined> {
  const error: unknown = await reading.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof InvalidRequest)) throw new Error(`not refused as invalid: ${String(error)}`);
  return error.faults[0]?.code;
}

describe('readJsonBody', () => {
  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON ;charset=UTF-8',
    'application/problem+json',
  ])('takes %j', async (type) => {
    expect(await readJsonBody(type, body('{"a":', '[1,"ü"]}'))).toEqual({ a: [1, 'ü'] });
  });

  it.each([
    undefined,
    '',
    'text/plain',
    'application/jsonp',
    'application/x-www-form-urlencoded',
    'text/json',
    'json',
  ])('refuses the content type %j', async (type) => {
    expect(await codeOf(readJsonBody(type, body('{}')))).toBe('content_type');
  });

  it.each(['gzip', 'br', 'identity, gzip'])('refuses a body with Content-Encoding %s', async (encoding) => {
    const payload = body('{}');
    payload.headers['content-encoding'] = encoding;
    expect(await codeOf(readJsonBody('application/json', payload))).toBe('content_encoding');
  });

  it.each(['iso-8859-1', '"utf-16"', 'UTF-7'])('refuses a body in the charset %s', async (charset) => {
    const type = `application/json; charset=${charset}`;
    expect(await codeOf(readJsonBody(type, body('{}')))).toBe('invalid_encoding');
  });

  it('takes UTF-8 and the encoding identity by name', async () => {
    const payload = body('{}');
    payload.headers['content-encoding'] = 'identity';
    expect(await readJsonBody('application/json; charset="UTF-8"', payload)).toEqual({});
  });

  it('treats an empty body of any type as missing', async () => {
    for (const type of [undefined, 'application/json', 'text/plain']) {
      expect(await readJsonBody(type, body())).toBeUndefined();
    }
  });

  it('joins characters that are split between chunks', async () => {
    const bytes = Buffer.from('"😀"');
    const pieces = [...bytes].map((byte) => Buffer.from([byte]));
    expect(await readJsonBody('application/json', body(...pieces))).toBe('😀');
  });

  it.each(['{', '{"a":1,}', "{'a':1}", 'undefined', '{"a":NaN}', '\u0000', '[1', '"\n"', '{} {}'])(
    'refuses %j',
    async (text) => {
      expect(await codeOf(readJsonBody('application/json', body(text)))).toBe('invalid_json');
    },
  );

  it('refuses invalid UTF-8', async () => {
    for (const bytes of [
      [0x22, 0xff, 0x22],
      [0x22, 0xc0, 0xaf, 0x22],
      [0x22, 0xed, 0xa0, 0x80, 0x22],
      [0xff, 0xfe, 0x22, 0x00],
    ]) {
      expect(await codeOf(readJsonBody('application/json', body(Buffer.from(bytes))))).toBe(
        'invalid_encoding',
      );
    }
  });

  it('takes a body of 1 MiB and refuses one byte more', async () => {
    const text = 'x'.repeat(LARGEST_BODY_BYTES - 2);
    expect(await readJsonBody('application/json', body(`"${text}"`))).toBe(text);
    expect(await codeOf(readJsonBody('application/json', body(`"${text}x"`)))).toBe('too_large');
  });

  it('drops a body that is too large, and continues reading', async () => {
    const payload = new IncomingMessage(new Socket());
    const reading = codeOf(readJsonBody('application/json', payload));
    for (let sent = 0; sent < 40; sent++) {
      payload.push(Buffer.alloc(LARGEST_BODY_BYTES));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await reading).toBe('too_large');
    expect(payload.destroyed).toBe(false);
    expect(payload.readableLength).toBe(0);
  });

  it('reports a truncated body', async () => {
    const payload = new IncomingMessage(new Socket());
    const reading = codeOf(readJsonBody('application/json', payload));
    payload.push('{"a":');
    payload.destroy(new Error('aborted'));
    expect(await reading).toBe('cut_short');
  });

  it('drops members that would reach a prototype', async () => {
    const text =
      '{"a":1,"__proto__":{"x":1},"constructor":{"prototype":{"x":1}},"b":{"\\u005f_proto__":{"x":1}}}';
    const value = await readJsonBody('application/json', body(text));
    expect(JSON.stringify(value)).toBe('{"a":1,"b":{}}');
    expect(Reflect.get({}, 'x')).toBeUndefined();
  });

  it('refuses arrays and objects within each other beyond 64 levels', async () => {
    const arrays = (depth: number, within = '') => `${'['.repeat(depth)}${within}${']'.repeat(depth)}`;
    const read = (text: string) => readJsonBody('application/json', body(text));
    expect(JSON.stringify(await read(arrays(64)))).toBe(arrays(64));
    const text = `"${'['.repeat(100)}\\"${'{'.repeat(100)}"`;
    expect(JSON.stringify(await read(arrays(64, text)))).toBe(arrays(64, text));
    expect(await codeOf(read(arrays(65)))).toBe('too_deep');
    expect(await codeOf(read(`{"a":${'{"b":'.repeat(64)}1${'}'.repeat(65)}`))).toBe('too_deep');
    expect(await codeOf(read(arrays(100_000)))).toBe('too_deep');
  });

  it('reads wide JSON fast', async () => {
    const taken = await processorMs(async () => {
      await readJsonBody('application/json', body(`[${'{"__proto__" :1},'.repeat(50_000)}1]`));
      await readJsonBody('application/json', body(`["__proto__${' '.repeat(900_000)}"]`));
      await readJsonBody('application/json', body(`[${'"\\\\",'.repeat(150_000)}1]`));
    });
    expect(taken).toBeLessThan(3_000);
  });
});
