/**
 * Counts different visitors from their hashes: exactly up to {@link MOST_EXACT}, and beyond that by HyperLogLog with a standard
 * error of 0.8 %. The registers hold no hash, and a hash cannot be traced to an address without the day's salt.
 */
export interface VisitorSketch {
  /** Adds a visitor by a hash of at least 8 bytes. Returns whether the sketch changed. */
  add(hash: Buffer): boolean;
  /** The number of different visitors, rounded. */
  count(): number;
  /** The content, for {@link openSketch}. */
  toBytes(): Buffer;
}

/** Bits of a hash that choose the register. */
const INDEX_BITS = 14;
const REGISTERS = 2 ** INDEX_BITS;
/** Bits of a hash for the rank: the length of its leading zeros, plus one. */
const RANK_BITS = 64 - INDEX_BITS;
/** Visitors whose hashes are kept. They take half of the memory of the registers. */
export const MOST_EXACT = 1_024;
const HASH_BYTES = 8;

/** Opens a sketch with the bytes of an earlier one, or an empty one. Throws for bytes of another length. */
export function openSketch(bytes: Buffer = Buffer.alloc(0)): VisitorSketch {
  let exact: Set<bigint> | null = null;
  let registers = new Uint8Array(0);
  if (bytes.length === REGISTERS) registers = Uint8Array.from(bytes);
  else if (bytes.length % HASH_BYTES === 0 && bytes.length <= MOST_EXACT * HASH_BYTES) {
    exact = new Set();
    for (let at = 0; at < bytes.length; at += HASH_BYTES) exact.add(bytes.readBigUInt64BE(at));
  } else throw new Error(`a sketch cannot have ${bytes.length} bytes`);

  function raise(hash: bigint): boolean {
    const index = Number(hash >> BigInt(RANK_BITS));
    const rank = rankOf(hash & ((1n << BigInt(RANK_BITS)) - 1n));
    if ((registers[index] ?? 0) >= rank) return false;
    registers[index] = rank;
    return true;
  }

  return {
    add(bytes) {
      const hash = bytes.readBigUInt64BE(0);
      if (exact === null) return raise(hash);
      if (exact.has(hash)) return false;
      exact.add(hash);
      if (exact.size > MOST_EXACT) {
        registers = new Uint8Array(REGISTERS);
        for (const one of exact) raise(one);
        exact = null;
      }
      return true;
    },
    count: () => (exact === null ? Math.round(estimate(registers)) : exact.size),
    toBytes() {
      if (exact === null) return Buffer.from(registers);
      const bytes = Buffer.alloc(exact.size * HASH_BYTES);
      let at = 0;
      for (const hash of exact) at = bytes.writeBigUInt64BE(hash, at);
      return bytes;
    },
  };
}

function rankOf(rest: bigint): number {
  return rest === 0n ? RANK_BITS + 1 : RANK_BITS - rest.toString(2).length + 1;
}

/** Otmar Ertl, "New cardinality estimation algorithms for HyperLogLog sketches" (arXiv:1702.01284), algorithm 6: unbiased at every size. */
function estimate(registers: Uint8Array): number {
  const counts = new Array<number>(RANK_BITS + 2).fill(0);
  for (const rank of registers) counts[rank] = (counts[rank] ?? 0) + 1;
  let z = REGISTERS * tau(1 - (counts[RANK_BITS + 1] ?? 0) / REGISTERS);
  for (let rank = RANK_BITS; rank >= 1; rank--) z = 0.5 * (z + (counts[rank] ?? 0));
  z += REGISTERS * sigma((counts[0] ?? 0) / REGISTERS);
  return REGISTERS ** 2 / (2 * Math.LN2 * z);
}

function sigma(share: number): number {
  if (share === 1) return Number.POSITIVE_INFINITY;
  let x = share;
  let y = 1;
  let z = x;
  for (;;) {
    const before = z;
    x *= x;
    z += x * y;
    y += y;
    if (z === before) return z;
  }
}

function tau(share: number): number {
  if (share === 0 || share === 1) return 0;
  let x = share;
  let y = 1;
  let z = 1 - x;
  for (;;) {
    const before = z;
    x = Math.sqrt(x);
    y *= 0.5;
    z -= (1 - x) ** 2 * y;
    if (z === before) return z / 3;
  }
}
