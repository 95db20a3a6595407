import { randomBytes, randomUUID } from 'node:crypto';

/** The source of identifiers (UUID version 4) and secrets. */
export interface Randomness {
  uuid(): string;
  bytes(count: number): Buffer;
  /** A number from 0 (inclusive) to 1 (exclusive), for jitter. */
  fraction(): number;
}

export const systemRandomness: Randomness = {
  uuid: () => randomUUID(),
  bytes: (count) => randomBytes(count),
  fraction: () => Math.random(),
};

/** Any UUID of any version, in either case. */
export const UUID_PATTERN = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$';

const uuid = new RegExp(UUID_PATTERN);

/** The canonical (lower-case) form of a UUID; undefined if `text` is not a UUID. */
export function parseUuid(text: string): string | undefined {
  return uuid.test(text) ? text.toLowerCase() : undefined;
}
