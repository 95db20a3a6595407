import { inject } from 'vitest';
import { isLong } from './rounds.ts';

type Register = (name: string, body: () => void | Promise<void>) => void;

/**
 * Registers a suite or a test on one of the two databases. On the other it is not registered, so a skipped
 * test always means that the machine lacks something.
 */
export function onlyOn(database: 'sqlite' | 'postgres', register: Register): Register {
  const present = inject('postgresUrl') === '' ? 'sqlite' : 'postgres';
  return database === present ? register : () => {};
}

/** Registers a suite or a test on one of the two databases, and in the long tests on both. */
export const mostlyOn = (database: 'sqlite' | 'postgres', register: Register): Register =>
  isLong ? register : onlyOn(database, register);
