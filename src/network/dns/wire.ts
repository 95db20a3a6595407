import { type Answer, answer, encode, name as nameCodec, RECURSION_DESIRED } from 'dns-packet';
import { canonicalName, isAskable } from './domain-name.ts';
import type { DnsRecord, RecordHeader, RecordType } from './record.ts';

// Exports of the package that its types omit.
declare module 'dns-packet' {
  export const name: { decode: { (bytes: Buffer, offset: number): string; bytes: number } };
  export const answer: { decode: (bytes: Buffer, offset: number) => Answer };
}

export interface DnsQuestion {
  name: string;
  type: RecordType;
  /** Whether to request recursion. */
  recursive: boolean;
}

export interface DnsMessage {
  id: number;
  rcode: string;
  authoritative: boolean;
  /** The answer did not fit, so its records are not read. */
  truncated: boolean;
  /** The repeated question. Some servers leave it out when they refuse a query as malformed. */
  question: { name: string; rrtype: number } | null;
  answers: DnsRecord[];
  authorities: DnsRecord[];
  additionals: DnsRecord[];
}

/** Large enough for most answers, and small enough to avoid fragmentation. */
const UDP_PAYLOAD = 1232;
/** Limit of records per type. */
const MOST_RECORDS = 100;
const MOST_TEXT = 4096;
const MOST_PARTS = 1000;
const IN = 1;

export const RRTYPES: Record<RecordType, number> = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  CAA: 257,
};
const OPT = 41;
const READ = new Set(Object.values(RRTYPES));
const RCODES = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED'];

/** Encodes a query for UDP; `edns` adds an OPT record (RFC 6891). Throws RangeError for an invalid name. */
export function encodeQuestion(id: number, question: DnsQuestion, edns: boolean): Buffer {
  if (!isAskable(question.name)) throw new RangeError(`"${question.name}" cannot be asked for in DNS`);
  return encode({
    type: 'query',
    id,
    flags: question.recursive ? RECURSION_DESIRED : 0,
    questions: [{ name: question.name, type: question.type, class: 'IN' }],
    additionals: edns
      ? [
          {
            name: '.',
            type: 'OPT',
            udpPayloadSize: UDP_PAYLOAD,
            extendedRcode: 0,
            ednsVersion: 0,
            flags: 0,
            flag_do: false,
            options: [],
          },
        ]
      : [],
  });
}

/** Parses a response. Throws if it is malformed or not a response. The input is untrusted. */
export function decodeResponse(bytes: Buffer): DnsMessage {
  const flags = bytes.readUInt16BE(2);
  const isResponse = (flags & 0x8000) !== 0;
  const opcode = (flags >> 11) & 0xf;
  if (!isResponse || opcode !== 0) throw new Error('not the response to a query');
  const counts = [4, 6, 8, 10].map((offset) => bytes.readUInt16BE(offset));
  const [questions = 0, answers = 0, authorities = 0, additionals = 0] = counts;
  if (questions > 1) throw new Error('more than one question');

  const reader = { bytes, offset: 12, extendedRcode: 0 };
  const question = questions === 1 ? readQuestion(reader) : null;
  const truncated = (flags & 0x0200) !== 0;
  const section = (count: number) => (truncated ? [] : readSection(reader, count));
  const sections = {
    answers: section(answers),
    authorities: section(authorities),
    additionals: section(additionals),
  };
  const code = (reader.extendedRcode << 4) | (flags & 0xf);
  return {
    id: bytes.readUInt16BE(0),
    rcode: RCODES[code] ?? `RCODE_${code}`,
    authoritative: (flags & 0x0400) !== 0,
    truncated,
    question,
    ...sections,
  };
}

interface Reader {
  bytes: Buffer;
  offset: number;
  /** The upper bits of the rcode, from the OPT record. */
  extendedRcode: number;
}

function readName(reader: Reader): string {
  const name = nameCodec.decode(reader.bytes, reader.offset);
  reader.offset += nameCodec.decode.bytes;
  return printable(canonicalName(name));
}

function readQuestion(reader: Reader): { name: string; rrtype: number } {
  const name = readName(reader);
  const rrtype = reader.bytes.readUInt16BE(reader.offset);
  reader.offset += 4;
  return { name, rrtype };
}

function readSection(reader: Reader, count: number): DnsRecord[] {
  if (count > MOST_PARTS) throw new Error('too many records');
  const records: DnsRecord[] = [];
  const seen = new Map<number, number>();
  for (let index = 0; index < count; index++) {
    const { bytes, offset: start } = reader;
    const name = readName(reader);
    const at = reader.offset;
    const hdr: RecordHeader = {
      name,
      rrtype: bytes.readUInt16BE(at),
      class: bytes.readUInt16BE(at + 2),
      // RFC 2181 section 8: a TTL with the highest bit set means 0.
      ttl: bytes.readInt32BE(at + 4) < 0 ? 0 : bytes.readUInt32BE(at + 4),
      rdlength: bytes.readUInt16BE(at + 8),
    };
    reader.offset = at + 10 + hdr.rdlength;
    if (reader.offset > bytes.length) throw new Error('a record exceeds the message');
    if (hdr.rrtype === OPT) reader.extendedRcode = bytes.readUInt8(at + 4);
    if (hdr.class !== IN || !READ.has(hdr.rrtype)) continue;
    const number = (seen.get(hdr.rrtype) ?? 0) + 1;
    seen.set(hdr.rrtype, number);
    if (number > MOST_RECORDS) continue;
    // Limited to the record, so that its content cannot extend into the next one.
    records.push(recordOf(hdr, answer.decode(bytes.subarray(0, reader.offset), start)));
  }
  return records;
}

function recordOf(hdr: RecordHeader, decoded: Answer): DnsRecord {
  switch (decoded.type) {
    case 'A':
    case 'AAAA':
      if (hdr.rdlength !== (decoded.type === 'A' ? 4 : 16)) throw new Error('an address of the wrong length');
      return { type: decoded.type, hdr, address: decoded.data };
    case 'CNAME':
    case 'NS':
      return { type: decoded.type, hdr, target: nameOf(decoded.data) };
    case 'MX':
      return {
        type: 'MX',
        hdr,
        exchange: nameOf(decoded.data.exchange),
        preference: decoded.data.preference ?? 0,
      };
    case 'TXT':
      return { type: 'TXT', hdr, text: textOf(decoded.data) };
    case 'SOA': {
      const { mname, rname, serial = 0, refresh = 0, retry = 0, expire = 0, minimum = 0 } = decoded.data;
      const times = { serial, refresh, retry, expire, minttl: minimum };
      return { type: 'SOA', hdr, ns: nameOf(mname), mbox: nameOf(rname), ...times };
    }
    case 'CAA': {
      const { flags = 0, tag, value } = decoded.data;
      return {
        type: 'CAA',
        hdr,
        flag: flags,
        tag: printable(tag),
        value: printable(value).slice(0, MOST_TEXT),
      };
    }
    default:
      throw new Error(`a record of type ${decoded.type}`);
  }
}

function nameOf(decoded: string): string {
  return printable(canonicalName(decoded));
}

/** RFC 7208 section 3.3: the strings are joined without a separator. */
function textOf(strings: string | Buffer | (string | Buffer)[]): string {
  const parts = [strings].flat().map((part) => Buffer.from(part));
  return printableBytes(Buffer.concat(parts).subarray(0, MOST_TEXT));
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The bytes as UTF-8 if valid, else as ASCII with escapes. */
function printableBytes(bytes: Buffer): string {
  try {
    return printable(utf8.decode(bytes));
  } catch {
    return bytes.toString('latin1').replace(/[^ -~]/g, (octet) => escapedOctet(octet.charCodeAt(0)));
  }
}

/**
 * Escapes control characters, direction characters and other invisible ones as `\ddd` per octet, like zone files (RFC 1035
 * section 5.1), because the text is untrusted.
 */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu, (character) =>
    [...Buffer.from(character)].map(escapedOctet).join(''),
  );
}

function escapedOctet(octet: number): string {
  return `\\${octet.toString().padStart(3, '0')}`;
}
