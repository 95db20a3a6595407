/** Writes DER (X.690) for certificates that no library would make. */

/** An element with its content. */
export function der(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  const significant = length.subarray(length.findIndex((byte) => byte !== 0));
  return Buffer.concat([Buffer.from([tag, 0x80 | significant.length]), significant, body]);
}

export const TAG = {
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  utf8: 0x0c,
  printable: 0x13,
  teletex: 0x14,
  ia5: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  universal: 0x1c,
  bmp: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const;

export const sequence = (...content: readonly Uint8Array[]): Buffer => der(TAG.sequence, ...content);
export const text = (tag: number, value: string): Buffer => der(tag, Buffer.from(value, 'utf8'));
export const integer = (value: Uint8Array): Buffer => der(TAG.integer, value);
export const bits = (value: Uint8Array): Buffer => der(TAG.bits, Buffer.from([0]), value);
export const TRUE: Buffer = Buffer.from([0x01, 0x01, 0xff]);

/** An object identifier. Its arcs can have any length. */
export function oid(dotted: string): Buffer {
  const [first = 0n, second = 0n, ...rest] = dotted.split('.').map(BigInt);
  return der(TAG.oid, Buffer.from([first * 40n + second, ...rest].flatMap(arc)));
}

function arc(value: bigint): number[] {
  const digits = [Number(value & 0x7fn)];
  for (let left = value >> 7n; left > 0n; left >>= 7n) digits.unshift(Number(left & 0x7fn) | 0x80);
  return digits;
}
