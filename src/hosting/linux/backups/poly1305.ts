const PRIME = (1n << 130n) - 5n;
const TAG_BITS = 128n;
/** RFC 8439 section 2.5: the bits of r that are cleared. */
const CLAMP = 0x0ffffffc0ffffffc0ffffffc0fffffffn;

/** The authenticator of RFC 8439 section 2.5 for a short message. The key has two halves of 16 bytes. */
export function poly1305(message: Buffer, r: Buffer, s: Buffer): Buffer {
  const factor = littleEndian(r) & CLAMP;
  let sum = 0n;
  for (let at = 0; at < message.length; at += 16) {
    const block = message.subarray(at, at + 16);
    sum = ((sum + littleEndian(block) + (1n << BigInt(8 * block.length))) * factor) % PRIME;
  }
  const tag = BigInt.asUintN(Number(TAG_BITS), sum + littleEndian(s));
  return Buffer.from(tag.toString(16).padStart(32, '0'), 'hex').reverse();
}

function littleEndian(bytes: Buffer): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}
