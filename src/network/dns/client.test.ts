import { afterEach, describe, expect, it } from 'vitest';
import { askServer, DnsTimeout, DnsUnreachable } from './client.ts';
import {
  type Behaviour,
  type FakeDnsServer,
  reply,
  startFakeDnsServer,
  TC,
} from './fake-dns-server.fixture.ts';
import type { RecordType } from './record.ts';
import { decodeResponse } from './wire.ts';

let server: FakeDnsServer | null = null;

afterEach(async () => {
  await server?.close();
  server = null;
});

async function ask(behaviour: Behaviour, type: RecordType = 'A', name = 'example.test') {
  server = await startFakeDnsServer(behaviour);
  const options = { signal: AbortSignal.timeout(20_000), attemptMs: 500 };
  return askServer(server, { name, type, recursive: true }, options);
}

const a = (address: string, name = 'example.test', ttl = 60) => ({
  type: 'A' as const,
  name,
  ttl,
  data: address,
});

describe('askServer', () => {
  it('reads the header of a record as on the wire, and names in lower case', async () => {
    const { rcode, authoritative, answers } = await ask(
      (query) => [
        reply(query, [
          { type: 'CNAME', name: 'Example.TEST', ttl: 7, data: 'WWW.Example.test' },
          a('192.0.2.1', 'www.example.test', 9),
        ]),
      ],
      'A',
    );
    expect([rcode, authoritative]).toEqual(['NOERROR', false]);
    expect(answers).toEqual([
      {
        type: 'CNAME',
        hdr: { name: 'example.test', rrtype: 5, class: 1, ttl: 7, rdlength: 18 },
        target: 'www.example.test',
      },
      {
        type: 'A',
        hdr: { name: 'www.example.test', rrtype: 1, class: 1, ttl: 9, rdlength: 4 },
        address: '192.0.2.1',
      },
    ]);
  });

  it('joins the strings of a TXT record and escapes unprintable bytes', async () => {
    const { answers } = await ask(
      (query) => [
        reply(query, [
          { type: 'TXT', name: 'example.test', ttl: 1, data: ['v=spf1 ', 'grüße\u001b'] },
          { type: 'TXT', name: 'example.test', ttl: 1, data: 'safe\u202etxt.\u200b\u0085' },
          { type: 'TXT', name: 'example.test', ttl: 1, data: [Buffer.from([0x61, 0xff])] },
        ]),
      ],
      'TXT',
    );
    expect(answers.map((record) => record.type === 'TXT' && record.text)).toEqual([
      'v=spf1 grüße\\027',
      'safe\\226\\128\\174txt.\\226\\128\\139\\194\\133',
      'a\\255',
    ]);
  });

  it('ignores earlier answers with another id or to another question', async () => {
    const { answers } = await ask((query) => [
      reply({ ...query, id: query.id ^ 1 }, [a('203.0.113.66')]),
      reply({ ...query, name: 'other.test' }, [a('203.0.113.66')]),
      reply({ ...query, type: 'AAAA' }, [a('203.0.113.66')]),
      reply(query, [a('192.0.2.1')]),
    ]);
    expect(answers).toMatchObject([{ address: '192.0.2.1' }]);
  });

  it('repeats the query once without an answer, then times out', async () => {
    const { answers } = await ask((query) =>
      server?.queries.length === 1 ? [] : [reply(query, [a('192.0.2.1')])],
    );
    expect(answers).toMatchObject([{ address: '192.0.2.1' }]);
    await server?.close();
    await expect(ask(() => [])).rejects.toThrow(DnsTimeout);
    expect(server?.queries).toHaveLength(2);
  });

  it('uses TCP if the answer is truncated, and keeps a hundred records of a type', async () => {
    const many = Array.from({ length: 300 }, (_, index) => a(`192.0.2.${index % 250}`));
    const { answers } = await ask((query) =>
      query.overTcp ? [reply(query, many)] : [reply(query, [], TC).subarray(0, 40)],
    );
    expect(answers).toHaveLength(100);
    expect(server?.queries.map(({ overTcp }) => overTcp)).toEqual([false, true]);
  });

  it('queries without EDNS if the server does not support it', async () => {
    const { answers } = await ask((query) =>
      query.hasEdns ? [malformed(query.id, 1)] : [reply(query, [a('192.0.2.1')])],
    );
    expect(answers).toHaveLength(1);
    expect(server?.queries.map(({ hasEdns }) => hasEdns)).toEqual([true, false]);
  });

  it('reports a malformed answer as not DNS', async () => {
    await expect(ask(() => [Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')])).rejects.toThrow(
      DnsUnreachable,
    );
    await server?.close();
    // A record whose content exceeds the message.
    const cut: Behaviour = (query) => [reply(query, [a('192.0.2.1')]).subarray(0, -2)];
    await expect(ask(cut)).rejects.toThrow(/does not speak DNS/);
    await server?.close();
    const cutOverTcp: Behaviour = (query) =>
      query.overTcp ? [reply(query, [a('192.0.2.1')]).subarray(0, -2)] : [reply(query, [], TC)];
    await expect(ask(cutOverTcp)).rejects.toThrow(/does not speak DNS/);
  });

  it('parses or refuses an answer that is cut or changed anywhere, within its bounds', () => {
    const query = { id: 1, name: 'example.test', type: 'A', overTcp: false, hasEdns: true };
    const good = reply(query, [a('192.0.2.1'), { type: 'TXT', name: 'x.test', ttl: 1, data: 'text' }]);
    let refused = 0;
    for (let at = 0; at < good.length; at++) {
      expect(() => decodeResponse(good.subarray(0, at))).toThrow();
      for (const byte of [0x00, 0x3f, 0x7f, 0xc0, 0xff]) {
        const changed = Buffer.from(good);
        changed[at] = byte;
        try {
          expect(decodeResponse(changed).answers.length).toBeLessThanOrEqual(2);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
          refused++;
        }
      }
    }
    expect(refused).toBeGreaterThan(0);
  });

  it('reports a closed port at once, and ends with the signal', async () => {
    server = await startFakeDnsServer(() => []);
    const closed = { host: server.host, port: server.port };
    await server.close();
    const question = { name: 'example.test', type: 'A' as const, recursive: true };
    await expect(askServer(closed, question, { signal: AbortSignal.timeout(20_000) })).rejects.toThrow(
      DnsUnreachable,
    );
    server = await startFakeDnsServer(() => []);
    await expect(askServer(server, question, { signal: AbortSignal.timeout(20) })).rejects.toThrow(
      DnsTimeout,
    );
    await expect(askServer(server, question, { signal: AbortSignal.abort() })).rejects.toThrow(DnsTimeout);
  });

  it('refuses to query an invalid name', async () => {
    await expect(ask(() => [], 'A', `${'a'.repeat(64)}.test`)).rejects.toThrow(RangeError);
  });
});

/** A header without a question, as from a server that cannot parse the query. */
function malformed(id: number, rcode: number): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt16BE(id, 0);
  bytes.writeUInt16BE(0x8000 | rcode, 2);
  return bytes;
}
