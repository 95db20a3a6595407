/**
 * Addresses that stand for host names inside the network of a website: of 198.18.0.0/15, which no host of the Internet has (RFC 2544). The
 * platform learns from them which name PHP means, looks it up itself and checks what it finds.
 */
export interface StandInNames {
  /** The answer to a query of DNS (RFC 1035); null if that cannot be read. */
  answer(query: Buffer): Buffer | null;
  /** The name that an address stands for. */
  nameOf(address: string): string | undefined;
}

/** Names that a website has asked for lately. PHP connects right after it has asked. */
const MOST_NAMES = 4_096;
const HEADER_BYTES = 12;
const LONGEST_NAME = 253;
const LONGEST_LABEL = 63;
const A = 1;
const IN = 1;
const IS_RESPONSE = 0x80;
const RECURSION_WANTED = 0x01;
const RECURSION_AVAILABLE = 0x80;
const LOCAL = '127.0.0.1';

export function createStandInNames(): StandInNames {
  const byAddress = new Map<string, string>();
  const byName = new Map<string, string>();
  let next = 0;

  /** The oldest name loses its address to a new one. */
  function addressOf(name: string): string {
    if (name === 'localhost') return LOCAL;
    const present = byName.get(name);
    if (present !== undefined) return present;
    // Not .0.0, which looks like the name of a network.
    const number = (next % MOST_NAMES) + 1;
    next += 1;
    const address = `198.18.${number >> 8}.${number & 0xff}`;
    const former = byAddress.get(address);
    if (former !== undefined) byName.delete(former);
    byAddress.set(address, name);
    byName.set(name, address);
    return address;
  }

  return {
    answer(query) {
      const question = questionOf(query);
      if (question === null) return null;
      const { name, type, end } = question;
      const isAnswered = type === A && name !== '';
      const head = Buffer.alloc(HEADER_BYTES);
      query.copy(head, 0, 0, 2);
      head[2] = IS_RESPONSE | ((query[2] ?? 0) & RECURSION_WANTED);
      head[3] = RECURSION_AVAILABLE;
      head.writeUInt16BE(1, 4);
      head.writeUInt16BE(isAnswered ? 1 : 0, 6);
      const repeated = query.subarray(HEADER_BYTES, end);
      if (!isAnswered) return Buffer.concat([head, repeated]);
      // The name of the question, and no time to live, because the address may stand for another name later.
      const record = Buffer.from([0xc0, HEADER_BYTES, 0, A, 0, IN, 0, 0, 0, 0, 0, 4]);
      return Buffer.concat([head, repeated, record, Buffer.from(addressOf(name).split('.').map(Number))]);
    },
    nameOf: (address) => byAddress.get(address),
  };
}

/** The only question of a query, and where it ends. */
function questionOf(query: Buffer): { name: string; type: number; end: number } | null {
  if (query.length < HEADER_BYTES || query.readUInt16BE(4) !== 1) return null;
  if (((query[2] ?? 0) & IS_RESPONSE) !== 0) return null;
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (;;) {
    const length = query[at];
    if (length === undefined || length > LONGEST_LABEL || at + 1 + length > query.length) return null;
    at += 1;
    if (length === 0) break;
    labels.push(query.toString('latin1', at, at + length));
    at += length;
  }
  const name = labels.join('.').toLowerCase();
  if (at + 4 > query.length || name.length > LONGEST_NAME) return null;
  return { name, type: query.readUInt16BE(at), end: at + 4 };
}
